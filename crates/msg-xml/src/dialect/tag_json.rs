//! JSON as the arguments of a tag dialect's call (XT-33). Elements, and what surrounds calls, are `tags`.
//!
//! ```text
//! <function=ls>{"path": "."}</function>
//!              |            the close tag makes it the arguments
//!              read once a tag that may follow has come, and again where that stood in a text
//! ```

use super::Cx;
use super::tags::{State, TagReader};
use crate::block::{BEHIND, Done, Mark, Marks, read_arguments};
use crate::code::Code;
use crate::input::{Incomplete, Input, MORE};
use crate::json::{self, Read, Stop};
use crate::shape::{TagShape, close_any, open_any};

/// What may follow JSON: the close tag of the call, or the next call.
struct CallTags<'g>(&'g [TagShape]);

impl Marks for CallTags<'_> {
    fn mark(&self, w: &Input<'_>, p: usize) -> Option<Mark> {
        Some(match close_any(self.0, w, p).ok()? {
            Some(end) => Mark::Close(end),
            None => {
                open_any(self.0, w, p).ok()?.map_or(Mark::Other, |opened| Mark::Close(opened.end))
            }
        })
    }
}

impl TagReader {
    /// A JSON value right after a call's open tag: it counts if the close tag follows.
    pub(super) fn json(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Incomplete> {
        let State::Json(start, extent) = &mut self.state else { return Ok(None) };
        let (start, w) = (*start, cx.w);
        if w.end() - start > cx.opts.limits.max_tool_bytes.saturating_add(BEHIND) {
            self.calls.refuse(Code::ToolTooLarge);
            self.state = State::Skip(start);
            return Ok(None);
        }
        let tags = CallTags(&self.grammar.call);
        let due = std::iter::from_fn(|| extent.next(w, &tags)).count();
        if due == 0 && !w.eof {
            return Err(MORE);
        }
        match json::read(w.str(start, w.end()), cx.opts.limits.json_depth()) {
            Err(Stop::More(_)) if !w.eof => {
                extent.too_early(w.end(), 1);
                return Err(MORE);
            }
            // A quote that is never closed is text.
            Err(Stop::More(_)) if w.at(start) != Some(b'"') => {
                return Ok(Some(self.incomplete(cx, w.end())));
            }
            Err(Stop::More(_) | Stop::Error(_)) => self.state = State::Call,
            Err(Stop::Depth(at)) => {
                self.calls.refuse(Code::DepthLimit);
                self.state = State::Skip(start + at);
            }
            Ok(read) => return self.json_value(cx, start, read),
        }
        Ok(None)
    }

    fn json_value(
        &mut self,
        cx: &mut Cx<'_, '_>,
        from: usize,
        read: Read,
    ) -> Result<Option<Done>, Incomplete> {
        let to = from + read.end;
        let (q, next) = cx.w.after_blanks(to)?;
        let is_tag = next == Some(b'<');
        if next.is_none() || is_tag && self.grammar.call.iter().any(|it| it.cut(cx.w, q)) {
            return Ok(Some(self.incomplete(cx, cx.w.end())));
        }
        let closed = is_tag && close_any(&self.grammar.call, cx.w, q)?.is_some();
        self.state = State::Call;
        if !closed {
            return Ok(None);
        }
        if read.repaired {
            self.calls.note(Code::JsonRepaired, from, to);
        }
        self.calls.cur.typed = true;
        let (args, mut notes) = read_arguments(read.value, cx.opts.limits.json_depth());
        self.calls.cur.args = Some(args);
        if notes.first() != Some(&Code::JsonArguments) {
            notes.insert(0, Code::JsonArguments);
        }
        notes.into_iter().for_each(|code| self.calls.note(code, from, to));
        self.at = q;
        Ok(None)
    }
}
