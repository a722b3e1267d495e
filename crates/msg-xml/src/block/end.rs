//! How a block ends, and what that makes of its calls (XT-16, XT-17, XT-28).

use super::text::tail;
use super::{Arguments, Block, Cx, Done, Note, Outcome, State};
use crate::code::Code;
use crate::lex::{self, Tag};
use crate::window::{MORE, Wait};

impl Block {
    /// `</tool>`.
    pub(super) fn end_closed(&mut self, cx: &mut Cx<'_, '_>, end: usize) -> Done {
        self.finish(cx, end, true)
    }

    /// A real opener stands where this block goes on: the block ends before it.
    pub(super) fn end_before(&mut self, cx: &mut Cx<'_, '_>, pos: usize) -> Done {
        let whole = self.cur.name.is_some() && self.cur.args_closed;
        if whole {
            self.note(Code::MissingCloseTag, pos, pos);
        }
        self.finish(cx, pos, whole)
    }

    /// Text after the arguments: the block ended after its last element.
    pub(super) fn end_at_last(&mut self, cx: &mut Cx<'_, '_>) -> Done {
        let end = self.last_end;
        self.note(Code::MissingCloseTag, end, end);
        self.finish(cx, end, true)
    }

    /// The end of input, or a tag that it cut at `pos`.
    pub(super) fn end_of_input(&mut self, cx: &mut Cx<'_, '_>, pos: usize) -> Done {
        let _ = pos;
        let end = cx.w.end();
        if let Some(args) = self.args.take() {
            self.cur.add_args(Arguments::Object(args.into_params()));
            self.cur.args_closed = false;
        }
        let whole = self.cur.name.is_some() && self.cur.args_closed && !cx.cut;
        if whole {
            self.note(Code::MissingCloseTag, end, end);
        }
        self.finish(cx, end, whole)
    }

    /// The block is over; `whole` says whether its last call may be complete.
    pub(super) fn finish(&mut self, cx: &mut Cx<'_, '_>, end: usize, whole: bool) -> Done {
        if let Some((server, _)) = self.pending_server.take() {
            self.join_server(server);
        }
        self.cur.end = end;
        self.cur.complete = whole;
        if self.bare_end.is_some() {
            // What stops at the bare end of this block need not in another.
            cx.look.index = super::Index::default();
        }
        let last = self.done.len();
        let cur = std::mem::replace(&mut self.cur, super::Draft::new(end));
        let mut calls = std::mem::take(&mut self.done);
        calls.push(cur);
        let mut notes = std::mem::take(&mut self.notes);
        for call in calls.iter().filter(|c| c.complete) {
            if call.name.is_none() {
                self.refuse(Code::MissingToolName);
            } else if call.stray_after_name && !call.has_params() {
                self.refuse(Code::InvalidToolBody);
            }
        }
        if !whole {
            notes.retain(|n| n.call != last);
            notes.push(Note { code: Code::TruncatedToolCall, start: self.start, end, call: last });
        }
        let outcome = if end - self.start > cx.opts.limits.max_tool_bytes {
            Outcome::Dropped(Code::ToolTooLarge)
        } else {
            match self.reject {
                Some(code @ Code::DepthLimit) => Outcome::Dropped(code),
                Some(code) => Outcome::Rejected(code),
                None => Outcome::Calls(calls),
            }
        };
        if let Outcome::Rejected(code) | Outcome::Dropped(code) = outcome {
            notes = vec![Note { code, start: self.start, end, call: 0 }];
        }
        let format = self.is_json.then(|| "json".into());
        Done {
            start: self.start,
            end,
            outcome,
            notes,
            at_eof: self.at_eof,
            format,
            begun: last as u32 + 1,
        }
    }

    /// A rejected body: on to the next `</tool>`.
    pub(super) fn skip_rejected(
        &mut self,
        cx: &mut Cx<'_, '_>,
        from: usize,
    ) -> Result<Option<Done>, Wait> {
        let mut at = from;
        while let Some(p) = cx.w.find(b'<', at) {
            match lex::tag(cx.w, p) {
                Ok(Tag::Close(c)) if c.is_tool() => return Ok(Some(self.finish(cx, c.end, true))),
                Ok(_) => at = p + 1,
                Err(wait) => {
                    self.state = State::SkipRejected(p);
                    return Err(wait);
                }
            }
        }
        self.state = State::SkipRejected(cx.w.end());
        if cx.w.eof { Ok(Some(self.finish(cx, cx.w.end(), true))) } else { Err(MORE) }
    }

    /// After too much depth: past the first tail, else past the first `</tool>`, else to the end.
    pub(super) fn skip_depth(
        &mut self,
        cx: &mut Cx<'_, '_>,
        from: usize,
        close: Option<usize>,
    ) -> Result<Option<Done>, Wait> {
        let (mut at, mut close) = (from, close);
        while let Some(p) = cx.w.find(b'<', at) {
            let res = match lex::tag(cx.w, p) {
                Ok(Tag::Close(c)) if c.is_tool() => {
                    close.get_or_insert(c.end);
                    Ok(None)
                }
                Ok(Tag::Close(c)) => tail(cx.w, c.name, c.end),
                Ok(_) => Ok(None),
                Err(wait) => Err(wait),
            };
            match res {
                Ok(Some(end)) => return Ok(Some(self.finish(cx, end, true))),
                Ok(None) => at = p + 1,
                Err(wait) => {
                    self.state = State::SkipDepth { at: p, close };
                    return Err(wait);
                }
            }
        }
        self.state = State::SkipDepth { at: cx.w.end(), close };
        if !cx.w.eof {
            return Err(MORE);
        }
        self.at_eof = true;
        let end = close.unwrap_or(cx.w.end());
        Ok(Some(self.finish(cx, end, true)))
    }
}
