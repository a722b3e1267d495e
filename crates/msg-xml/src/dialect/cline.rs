//! Tools called by a tag of their own name (XT-38). The balanced element is found first; its content is then
//! read as that of `<arguments>`, by the native reader over the equivalent block.

use std::sync::Arc;

use super::gather::Cx;
use crate::block::{Done, Head, Note, Outcome, opener, read};
use crate::code::Code;
use crate::input::{Incomplete, Input, MORE};
use crate::lex::{self, Tag};
use crate::options::Options;

const HEAD: (&str, &str) = ("<tool><tool_name>", "</tool_name><arguments>");
const TAIL: &str = "</arguments></tool>";

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
        while let Some(p) = cx.w.find(b'<', self.at) {
            self.at = p;
            if lex::marker(cx.w, p)? {
                let from = p + lex::CDATA.len();
                let Some(i) = memchr::memmem::find(cx.w.from(from), b"]]>") else { break };
                self.at = from + i + 3;
                continue;
            }
            match lex::tag(cx.w, p)? {
                Tag::Open(t) if t.name == self.name && !t.self_closing => self.open += 1,
                Tag::Close(c) if c.name == self.name => {
                    self.open -= 1;
                    if self.open == 0 {
                        return Ok(self.read(cx, Some((p, c.end))));
                    }
                }
                _ => {}
            }
            self.at = p + 1;
        }
        if !cx.w.eof {
            self.at = cx.w.find(b'<', self.at).unwrap_or(cx.w.end());
            return Err(MORE);
        }
        Ok(self.read(cx, None))
    }

    /// Reads the content as that of `<arguments>`; `close` is the close tag, none at the end of input.
    fn read(&self, cx: &mut Cx<'_, '_>, close: Option<(usize, usize)>) -> Done {
        let (to, mut end) = close.unwrap_or((cx.w.end(), cx.w.end()));
        let done = |end, outcome, notes, begun, at_eof| {
            let mut done = Done::new(self.start, end, outcome, notes);
            (done.begun, done.at_eof, done.format) = (begun, at_eof, Some(Arc::from("cline")));
            done
        };
        let whole = end;
        let failed = |code| Note { code, start: self.start, end: whole, call: 0 };
        if end - self.start > cx.opts.limits.max_tool_bytes {
            let outcome = Outcome::Dropped(Code::ToolTooLarge);
            return done(end, outcome, vec![failed(Code::ToolTooLarge)], 1, false);
        }
        let head = format!("{}{}{}", HEAD.0, self.name, HEAD.1);
        let tail = if close.is_some() { TAIL } else { "" };
        let text = format!("{head}{}{tail}", cx.w.str(self.content, to));
        let inner = self.native(cx, &text, close.is_none());
        // A real opener or `</tool>` ended the block: what follows is read as what it is.
        let early = close.is_some() && inner.end < head.len() + (to - self.content);
        if early {
            end = inner.end.saturating_sub(head.len()) + self.content;
        }
        let place =
            |pos: usize| (pos.saturating_sub(head.len()) + self.content).clamp(self.start, end);
        let mut begun = 1;
        let mut notes: Vec<Note> = inner
            .notes
            .iter()
            .map(|n| Note { start: place(n.start), end: place(n.end), ..*n })
            .collect();
        let outcome = match inner.outcome {
            Outcome::Calls(mut calls) => {
                if close.is_none() {
                    calls.truncate(1);
                    calls.iter_mut().for_each(|call| call.complete = false);
                    notes = vec![failed(Code::TruncatedToolCall)];
                }
                for call in &mut calls {
                    (call.start, call.end) = (place(call.start), place(call.end));
                    for (_, from, to) in &mut call.raws {
                        (*from, *to) = (place(*from), place(*to));
                    }
                }
                if let Some(first) = calls.first_mut() {
                    first.start = self.start;
                    first.name = Some(self.name.clone());
                }
                if let Some(last) = calls.last_mut() {
                    last.end = end;
                }
                for call in calls.iter().skip(1) {
                    let number = self.first_call + begun;
                    cx.queue.begin(number);
                    if let Some(name) = &call.name {
                        cx.queue.name(number, name);
                    }
                    begun += 1;
                }
                Outcome::Calls(calls)
            }
            Outcome::Rejected(code) => {
                notes = vec![failed(code)];
                Outcome::Rejected(code)
            }
            Outcome::Dropped(code) => {
                notes = vec![failed(code)];
                Outcome::Dropped(code)
            }
        };
        // The element was looked through beyond the end of its block (XT-29).
        done(end, outcome, notes, begun, early)
    }

    /// The content as that of a native block.
    fn native(&self, cx: &Cx<'_, '_>, text: &str, cut: bool) -> Done {
        let w = Input { text, base: 0, eof: true };
        let (res, _) = read(w, Head { start: 0, body: "<tool>".len() }, cx.opts, cut);
        let rejected = Outcome::Rejected(Code::InvalidToolBody);
        res.unwrap_or_else(|_| Done::new(0, text.len(), rejected, Vec::new()))
    }
}
