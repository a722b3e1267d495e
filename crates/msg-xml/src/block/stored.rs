//! A block whose bytes are being stored: it is read when its end may have come, and meanwhile it is previewed. Its
//! size is bounded (XT-28).

use super::draft::{Done, Outcome};
use super::extent::Extent;
use super::grammar::{Head, failed, read};
use super::preview::Preview;
use crate::code::Code;
use crate::event::Queue;
use crate::input::{Incomplete, Input, MORE};
use crate::lex::{self, Tag};
use crate::options::Options;
use crate::passthrough::{FastPath, Kind};

/// How many bytes behind the size limit are stored: what follows a block may decide where it ends.
const BEHIND: usize = 8 << 10;

/// A block that is open.
#[derive(Debug)]
pub(crate) struct Block {
    head: Head,
    /// The number of its first call.
    call: u32,
    extent: Extent,
    preview: Option<Preview>,
    /// It is too large: from here on its end is looked for, and nothing is stored.
    skip: Option<usize>,
}

impl Block {
    /// The block whose opener is `head`.
    pub(crate) fn new(w: &Input<'_>, head: Head, call: u32, queue: &mut Queue) -> Self {
        queue.begin(call);
        let preview = queue.on().then(|| Preview::new(w, head.start, head.body, call));
        Block { head, call, extent: Extent::new(head.start, head.body), preview, skip: None }
    }

    pub(crate) fn start(&self) -> usize {
        self.head.start
    }

    /// The first byte that may still be needed.
    pub(crate) fn keep(&self) -> usize {
        self.skip.unwrap_or(self.head.start)
    }

    /// The block, if it ends in the window.
    pub(crate) fn run(
        &mut self,
        w: &Input<'_>,
        queue: &mut Queue,
        opts: &Options,
        cut: bool,
    ) -> Result<Done, Incomplete> {
        if self.skip.is_none() {
            let size = self.head.start.saturating_add(opts.limits.max_tool_bytes);
            let last = size.saturating_add(BEHIND);
            let is_long = w.end() > last;
            let stored = Input { eof: w.eof && !is_long, ..w.upto(last) };
            if let Some(done) = self.read(&stored, opts, cut, is_long) {
                return Ok(self.announced(done, queue));
            }
            if !is_long {
                if let Some(preview) = &mut self.preview {
                    preview.run(w, queue, opts);
                }
                return Err(MORE);
            }
            self.skip = Some(size);
        }
        self.skip(w)
    }

    /// The block, if what is stored shows its end; `last` if nothing more will be.
    fn read(&mut self, w: &Input<'_>, opts: &Options, cut: bool, last: bool) -> Option<Done> {
        while let Some(end) = self.extent.next(w) {
            if let Some(done) = self.read_upto(w, end, opts, cut) {
                return Some(done);
            }
        }
        if !w.eof && !last {
            return None;
        }
        loop {
            let end = self.extent.next_at_eof(w);
            let done = self.read_upto(w, end, opts, cut);
            if done.is_some() || end == w.end() {
                debug_assert!(done.is_some() || last, "nothing waits at the end of input");
                return done.or_else(|| w.eof.then(|| self.failed(end, Code::InvalidToolBody)));
            }
        }
    }

    fn read_upto(&mut self, w: &Input<'_>, end: usize, opts: &Options, cut: bool) -> Option<Done> {
        let (res, readings) = read(w.upto(end), self.head, opts, cut);
        if res.is_err() {
            self.extent.too_early(end, readings);
        }
        res.ok()
    }

    fn failed(&self, end: usize, code: Code) -> Done {
        failed(self.head.start, end, code)
    }

    /// Announces what has not been.
    fn announced(&mut self, mut done: Done, queue: &mut Queue) -> Done {
        let sent = self.preview.take().map(|preview| preview.sent).unwrap_or_default();
        if let Outcome::Calls(calls) = &done.outcome {
            for (n, call) in (self.call..).zip(calls) {
                if n > self.call {
                    queue.begin(n);
                }
                let known = n == self.call && sent.name;
                if let Some(name) = call.name.as_ref().filter(|_| !known) {
                    queue.name(n, name);
                }
            }
            done.begun = calls.len() as u32;
        }
        done.sent = sent;
        done
    }

    /// Past the first `</tool>` beyond the size limit.
    fn skip(&mut self, w: &Input<'_>) -> Result<Done, Incomplete> {
        let mut at = self.skip.unwrap_or(w.end());
        while let Some(p) = w.find(b'<', at) {
            self.skip = Some(p);
            if let Tag::Close(c) = lex::tag(w, p)?
                && c.is_tool()
            {
                return Ok(self.failed(c.end, Code::ToolTooLarge));
            }
            at = p + 1;
        }
        self.skip = Some(w.end().max(at));
        if w.eof { Ok(self.failed(w.end(), Code::ToolTooLarge)) } else { Err(MORE) }
    }

    /// The fast path for the bytes from `end` on.
    pub(crate) fn fast_path(&self, end: usize, opts: &Options) -> FastPath {
        let until = self.head.start.saturating_add(opts.limits.max_tool_bytes);
        match &self.preview {
            Some(preview) if self.extent.is_quiet() => preview.fast_path(end, until),
            _ => FastPath::new(Kind::Closed),
        }
    }

    /// Moves to `end` over a value of which everything up to `to` has been sent.
    pub(crate) fn pass_on(&mut self, to: usize, end: usize) {
        if let Some(preview) = &mut self.preview {
            preview.pass_on(to, end);
            self.extent.pass_on(end);
        }
    }
}
