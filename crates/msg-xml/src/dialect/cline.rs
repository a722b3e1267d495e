//! Tools called by a tag of their own name (XT-38). The balanced element is found first; its content is then read as
//! that of `<arguments>`, with another close tag.

use std::sync::Arc;

use super::gather::Cx;
use crate::block::{Done, Head, Note, Outcome, opener, read_arguments_of};
use crate::code::Code;
use crate::input::{Incomplete, Input, MORE};
use crate::lex::{self, Tag};
use crate::options::Options;

/// A block of this dialect.
#[derive(Debug)]
pub(crate) struct Cline {
    pub(super) start: usize,
    content: usize,
    pub(super) at: usize,
    name: String,
    open: usize,
    first_call: u32,
    announced: bool,
}

/// The bare tag of a registered tool, followed by what can be its content.
pub(super) fn begin(
    w: &Input<'_>,
    p: usize,
    opts: &Options,
    first_call: u32,
) -> Result<Option<Cline>, Incomplete> {
    let Tag::Open(t) = lex::tag(w, p)? else { return Ok(None) };
    if t.prefixed || t.self_closing || !t.bare() || !opts.has_tool(t.name) {
        return Ok(None);
    }
    let Some(q) = opener::misc_near(w, t.end)? else { return Ok(None) };
    let fits = match lex::need(w, q)? {
        None | Some(b'{') => true,
        Some(b'<') => match lex::tag(w, q)? {
            Tag::Open(_) | Tag::Cut => true,
            Tag::Close(c) => c.name == t.name,
            Tag::None => false,
        },
        Some(_) => false,
    };
    Ok(fits.then(|| Cline {
        start: p,
        content: t.end,
        at: t.end,
        name: t.name.to_owned(),
        open: 1,
        first_call,
        announced: false,
    }))
}

impl Cline {
    /// The first byte that may still be needed.
    pub(super) fn keep(&self, opts: &Options) -> usize {
        if self.at - self.start > opts.limits.max_tool_bytes { self.at } else { self.start }
    }

    pub(super) fn run(&mut self, cx: &mut Cx<'_, '_>) -> Result<Done, Incomplete> {
        if !self.announced {
            cx.queue.name(self.first_call, &self.name);
            self.announced = true;
        }
        let close = self.close_tag(cx.w)?;
        if close.is_none() && !cx.w.eof {
            self.at = cx.w.find(b'<', self.at).unwrap_or(cx.w.end());
            return Err(MORE);
        }
        let end = close.map_or(cx.w.end(), |(_, end)| end);
        let mut done = match end - self.start > cx.opts.limits.max_tool_bytes {
            true => Done::new(self.start, end, Outcome::Dropped(Code::ToolTooLarge), Vec::new()),
            false => self.read(cx, end, close),
        };
        done.format = Some(Arc::from("cline"));
        Ok(done)
    }

    /// The close tag that balances the open one, CDATA skipped.
    fn close_tag(&mut self, w: &Input<'_>) -> Result<Option<(usize, usize)>, Incomplete> {
        while let Some(p) = w.find(b'<', self.at) {
            self.at = p;
            if lex::marker(w, p)? {
                let from = p + lex::CDATA.len();
                let Some(i) = memchr::memmem::find(w.from(from), b"]]>") else { break };
                self.at = from + i + 3;
                continue;
            }
            match lex::tag(w, p)? {
                Tag::Open(t) if t.name == self.name && !t.self_closing => self.open += 1,
                Tag::Close(c) if c.name == self.name && self.open == 1 => {
                    return Ok(Some((p, c.end)));
                }
                Tag::Close(c) if c.name == self.name => self.open -= 1,
                _ => {}
            }
            self.at = p + 1;
        }
        Ok(None)
    }

    /// The element, which goes up to `end`, read; without a close tag its call is incomplete.
    fn read(&self, cx: &mut Cx<'_, '_>, end: usize, close: Option<(usize, usize)>) -> Done {
        let head = Head { start: self.start, body: self.content };
        let failed = |code| Done::new(self.start, end, Outcome::Rejected(code), Vec::new());
        let res = read_arguments_of(&self.name, *cx.w, head, close, cx.opts);
        let mut done = res.unwrap_or_else(|_| failed(Code::InvalidToolBody));
        // A real opener or `</tool>` ended the block: what follows is read as what it is (XT-29).
        done.at_eof = close.is_some_and(|(to, _)| done.end < to);
        done.end = if done.at_eof { done.end } else { end };
        let Outcome::Calls(calls) = &mut done.outcome else {
            return Done {
                at_eof: done.at_eof,
                ..Done::new(self.start, done.end, done.outcome, Vec::new())
            };
        };
        if close.is_none() {
            calls.truncate(1);
            calls.iter_mut().for_each(|call| call.complete = false);
            let code = Code::TruncatedToolCall;
            done.notes = vec![Note { code, start: self.start, end, call: 0 }];
        }
        calls.iter_mut().next_back().into_iter().for_each(|last| last.end = done.end);
        for (n, call) in (self.first_call..).zip(calls).skip(1) {
            cx.queue.begin(n);
            call.name.iter().for_each(|name| cx.queue.name(n, name));
            done.begun += 1;
        }
        done
    }
}
