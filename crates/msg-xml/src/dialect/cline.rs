//! Tools called by a tag of their own name (XT-38). The balanced element is found first; its content is then read as
//! that of `<arguments>`, with another close tag.

use std::sync::Arc;

use super::gather::Cx;
use crate::block::{Done, Head, Note, Outcome, Preview, opener, read_arguments_of};
use crate::code::Code;
use crate::input::{Incomplete, Input, MORE};
use crate::lex::{self, Tag};
use crate::options::Options;
use crate::passthrough::{FastPath, Kind};

/// A block of this dialect.
#[derive(Debug)]
pub(crate) struct Cline {
    pub(super) start: usize,
    content: usize,
    pub(super) at: usize,
    name: String,
    open: usize,
    /// A section is open, of which the bytes before `at` have been looked through.
    in_section: bool,
    first_call: u32,
    preview: Preview,
}

/// The bare tag of a registered tool, followed by what can be its content.
pub(super) fn begin(
    w: &Input<'_>,
    p: usize,
    opts: &Options,
    first_call: u32,
) -> Result<Option<Cline>, Incomplete> {
    let rest = w.str(p + 1, w.end());
    let name = &rest[..lex::name_len(rest)];
    let is_cut = !w.eof && name.len() == rest.len();
    if is_cut && opts.tool_names().any(|tool| tool.starts_with(name)) {
        return Err(MORE);
    } else if is_cut || !opts.has_tool(name) {
        return Ok(None);
    }
    let Tag::Open(t) = lex::tag(w, p)? else { return Ok(None) };
    if t.prefixed || t.self_closing || !t.bare() {
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
        in_section: false,
        first_call,
        preview: Preview::of_arguments(t.end, t.name, first_call),
    }))
}

impl Cline {
    /// The first byte that may still be needed.
    pub(super) fn keep(&self, opts: &Options) -> usize {
        if self.at - self.start > opts.limits.max_tool_bytes { self.at } else { self.start }
    }

    pub(super) fn run(&mut self, cx: &mut Cx<'_, '_>) -> Result<Done, Incomplete> {
        self.preview.announce(cx.queue);
        let close = self.close_tag(cx.w)?;
        if close.is_none() && !cx.w.eof {
            self.preview.run(cx.w, cx.queue, cx.opts);
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
        loop {
            if self.in_section {
                let Some(end) = w.find_text("]]>", self.at) else {
                    self.at = self.at.max(w.upto(w.end().saturating_sub(2)).end());
                    return Ok(None);
                };
                (self.at, self.in_section) = (end + 3, false);
            }
            let Some(p) = w.find(b'<', self.at) else { break };
            self.at = p;
            if lex::marker(w, p)? {
                (self.at, self.in_section) = (p + lex::CDATA.len(), true);
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
        self.at = w.end();
        Ok(None)
    }

    /// The fast path for the bytes from `end` on.
    pub(super) fn fast_path(&self, end: usize, opts: &Options) -> FastPath {
        let until = self.start.saturating_add(opts.limits.max_tool_bytes);
        match self.preview.fast_path(end, until) {
            // A section ends at its first terminator here, which only its own path stops at.
            path if self.in_section && path.kind != Kind::Cdata => FastPath::new(Kind::Closed),
            path => path,
        }
    }

    /// Moves to `end` over a value of which everything up to `to` has been sent.
    pub(super) fn pass_on(&mut self, to: usize, end: usize) {
        self.preview.pass_on(to, end);
        self.at = end;
    }

    /// The element, which goes up to `end`, read; without a close tag its call is incomplete.
    fn read(&mut self, cx: &mut Cx<'_, '_>, end: usize, close: Option<(usize, usize)>) -> Done {
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
        calls.iter_mut().take(1).for_each(|it| it.sent = std::mem::take(&mut self.preview.sent));
        for (n, call) in (self.first_call..).zip(calls).skip(1) {
            cx.queue.begin(n);
            call.name.iter().for_each(|name| cx.queue.name(n, name));
            done.begun += 1;
        }
        done
    }
}
