//! The native `<tool>` block (XT-12 to XT-29). Its bytes are stored until the block may be complete, then lexed into a
//! flat list of tokens and read once. It does not know the text around the block.
//!
//! ```text
//! <tool>                                    opener: is this a block at all (XT-9)
//!   <tool_name>write_file</tool_name>       grammar: names, ARGS, what is next to them (XT-12 to XT-15, XT-18)
//!   <arguments>
//!     <path>a.go</path>                     element: object or text (XT-19, XT-20)
//!     <content><![CDATA[if a < b]]></content>   close: where a text ends (XT-21, XT-22, XT-24)
//!   </arguments>
//! </tool>                                   here: when to read it; draft: the calls
//! ```
//!
//! `preview` sends pieces of the open value meanwhile (XT-42); it decides nothing.

mod close;
mod draft;
mod element;
mod form;
mod grammar;
mod json;
mod preview;
pub(crate) mod tokens;

use crate::block::element::TEXT_MAX;
use crate::code::Code;
use crate::event::Queue;
use crate::input::{Incomplete, Input, MORE, is_blank};
use crate::options::ParseOptions;
use crate::stream::{FastPath, Kind};
use tokens::OPENER_REACH;

pub(crate) use draft::{Arguments, CallEnd, Calls, Counts, Done, Draft, Note, Sent};
pub(crate) use form::{Form, JsonTags};
pub(crate) use grammar::{Head, REACH_MAX};
pub(crate) use json::read_arguments;
pub(crate) use preview::Preview;

/// The members that may have the name of a call in a dialect; the first is the expected one.
pub(crate) const NAMES: [&str; 3] = ["name", "tool_name", "tool"];

// Stores the bytes of a block until the block may be complete, then has it read; sends its preview meanwhile. It is
// the only part that scans the bytes as they arrive. A reading that came too early is repeated. The stored size is
// bounded (XT-28).
//
// ```text
// <tool>…<x><![CDATA[ </tool> ]]></x></arguments></tool>
// |                          a reading up to here
// in a section: none
// ```

/// How many bytes after the size limit are stored. The text after a block may decide where it ends.
pub(crate) const AFTER: usize = 8 << 10;

/// The maximum number of readings of everything stored, and the minimum number of bytes for them. Smaller in unit
/// tests, which count steps, so growth shows early.
const READINGS: usize = 8;
const BYTES: usize = if cfg!(test) { 1 << 10 } else { 64 << 10 };

/// A block that is open.
#[derive(Debug)]
pub(crate) struct Block {
    form: Form,
    head: Head,
    /// The number of its first call.
    call: u32,
    extent: Extent,
    preview: Option<Preview>,
    /// Set if the block is too large. From this offset on, only its end is searched for, and
    /// nothing is stored.
    skip: Option<usize>,
}

impl Block {
    /// The block whose opener is `head`.
    pub(crate) fn new(form: Form, head: Head, call: u32, preview: Option<Preview>) -> Self {
        let extent = Extent::new(head.start, head.body);
        Block { form, head, call, extent, preview, skip: None }
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
        opts: &ParseOptions,
        cut: bool,
    ) -> Result<Done, Incomplete> {
        if self.skip.is_none() {
            let size = self.head.start.saturating_add(opts.limits.max_tool_bytes);
            let last = size.saturating_add(AFTER);
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

    /// The block, if the stored bytes contain its end. `last` means that no more bytes will be
    /// stored.
    fn read(&mut self, w: &Input<'_>, opts: &ParseOptions, cut: bool, last: bool) -> Option<Done> {
        while let Some(end) = self.extent.next(w, &self.form) {
            if let Some(done) = self.read_upto(w, end, Some(end), opts, cut) {
                return Some(done);
            }
        }
        if !w.eof && (!last || self.form.is_exact()) {
            return None;
        }
        loop {
            let end = self.extent.next_at_eof(w, &self.form);
            let done = self.read_upto(w, end, None, opts, cut);
            if done.is_some() || end == w.end() {
                debug_assert!(done.is_some() || last, "nothing waits at the end of input");
                return done.or_else(|| w.eof.then(|| self.failed(end, Code::InvalidToolBody)));
            }
        }
    }

    /// The block, if the bytes before `end` contain its end. A close tag that may be its own ends at
    /// `close`.
    fn read_upto(
        &mut self,
        w: &Input<'_>,
        end: usize,
        close: Option<usize>,
        opts: &ParseOptions,
        cut: bool,
    ) -> Option<Done> {
        let (res, readings) = self.form.read(w.upto(end), self.head, close, opts, cut);
        if res.is_err() {
            self.extent.too_early(end, readings);
        }
        res.ok()
    }

    /// It is not a call, and why.
    fn failed(&self, end: usize, code: Code) -> Done {
        let outcome = match code {
            Code::ToolTooLarge => CallEnd::Dropped(code),
            code => CallEnd::Rejected(code),
        };
        Done::new(self.head.start, end, outcome, Vec::new())
    }

    /// Announces what has not been.
    fn announced(&mut self, mut done: Done, queue: &mut Queue) -> Done {
        let (has_name, mut sent) =
            self.preview.take().map(|it| (it.has_name, it.sent)).unwrap_or_default();
        if let CallEnd::Calls(calls) = &mut done.outcome {
            calls.iter_mut().take(1).for_each(|first| first.sent = std::mem::take(&mut sent));
            for (n, call) in (self.call..).zip(calls.iter()) {
                if n > self.call {
                    queue.begin(n);
                }
                let known = n == self.call && has_name;
                if let Some(name) = call.name.as_ref().filter(|_| !known) {
                    queue.name(n, name);
                }
            }
            done.begun = calls.len() as u32;
        }
        done
    }

    /// Past the first close tag beyond the size limit.
    fn skip(&mut self, w: &Input<'_>) -> Result<Done, Incomplete> {
        let mut at = self.skip.unwrap_or(w.end());
        while let Some(p) = w.find(b'<', at) {
            self.skip = Some(p);
            if let Some(end) = self.form.close_tag(w, p)? {
                return Ok(self.failed(end, Code::ToolTooLarge));
            }
            at = p + 1;
        }
        self.skip = Some(w.end().max(at));
        if w.eof { Ok(self.failed(w.end(), Code::ToolTooLarge)) } else { Err(MORE) }
    }

    /// The fast path for the bytes from `end` on.
    pub(crate) fn fast_path(&self, end: usize, opts: &ParseOptions) -> FastPath {
        let until = self.head.start.saturating_add(opts.limits.max_tool_bytes);
        match &self.preview {
            Some(preview) if self.extent.is_quiet() => preview.fast_path(end, until),
            _ => FastPath::new(Kind::Closed),
        }
    }

    /// Moves to `end`, past a value that was sent up to `to`.
    pub(crate) fn pass_on(&mut self, to: usize, end: usize) {
        if let Some(preview) = &mut self.preview {
            preview.pass_on(to, end);
            self.extent.pass_on(end);
        }
    }
}

/// The search for the end of one block.
#[derive(Debug, Default)]
pub(crate) struct Extent {
    start: usize,
    /// Bytes before have been looked through.
    at: usize,
    /// Whether a section seems to be open. Marks in it most likely end nothing.
    in_section: bool,
    /// The number of sample calls that seem to be open in a value.
    samples: usize,
    /// After a close tag of ARGS: text there may end the block.
    after_args: Option<usize>,
    /// The range in which text after ARGS shows whether it continues.
    text: Option<(usize, usize)>,
    /// The size of the last reading, and the cost of all of them.
    last: usize,
    work: usize,
}

/// The token at a `<`.
pub(crate) enum Mark {
    /// A tag that may end the block: the offset after it.
    Close(usize),
    /// A tag that may begin a block inside it: the offset at which this is certain.
    Opener(usize),
    /// A close tag of ARGS, or an empty element: one past its name.
    Args(usize),
    Section,
    Other,
}

/// The marks that may end the blocks of a form.
pub(crate) trait Marks {
    /// The mark at the `<` at `p`; `None` while the bytes do not decide.
    fn mark(&self, w: &Input<'_>, p: usize) -> Option<Mark>;

    /// Whether a mark that balances the earlier ones certainly ends the block.
    fn is_exact(&self) -> bool {
        false
    }
}

impl Extent {
    pub(crate) fn new(start: usize, body: usize) -> Self {
        Extent { start, at: body, ..Extent::default() }
    }

    /// Up to where the block is to be read next.
    pub(crate) fn next(&mut self, w: &Input<'_>, marks: &impl Marks) -> Option<usize> {
        loop {
            let (end, is_likely) = self.end(w, marks)?;
            let len = end - self.start;
            let due = match is_likely {
                true => self.work <= READINGS * len + BYTES,
                false => !marks.is_exact() && len >= 2 * self.last,
            };
            if due {
                return Some(end);
            }
        }
    }

    /// The same at the end of input, where marks may have been passed: ever more, up to all.
    fn next_at_eof(&self, w: &Input<'_>, marks: &impl Marks) -> usize {
        match marks.is_exact() {
            true => w.end(),
            false => w.end().min(self.start + (4 * self.last).max(BYTES)),
        }
    }

    /// A reading up to `end` was too early. `readings` is its cost.
    pub(crate) fn too_early(&mut self, end: usize, readings: usize) {
        self.last = end - self.start;
        self.work += readings * self.last;
    }

    /// The possible end of the block, including marks in sections, and whether that end is likely.
    fn end(&mut self, w: &Input<'_>, marks: &impl Marks) -> Option<(usize, bool)> {
        loop {
            if let Some((end, last)) = self.text.take_if(|(end, _)| *end <= w.end()) {
                self.text = (end < last).then_some((last, last));
                return Some((end, true));
            }
            let found = w.find(b'<', self.at);
            self.pass(w, found.unwrap_or(w.end()));
            let mark = marks.mark(w, found?)?;
            self.at += 1;
            match mark {
                Mark::Section => self.in_section = true,
                Mark::Args(end) => self.after_args = Some(end),
                Mark::Other => {}
                Mark::Close(end) | Mark::Opener(end) if self.in_section => {
                    return Some((end, false));
                }
                Mark::Opener(end) => {
                    self.samples += 1;
                    return Some((end, false));
                }
                Mark::Close(end) => {
                    let is_likely = self.samples == 0;
                    self.samples = self.samples.saturating_sub(1);
                    return Some((end, is_likely));
                }
            }
        }
    }

    /// Advances to `to`, past bytes without marks.
    fn pass(&mut self, w: &Input<'_>, to: usize) {
        if self.in_section {
            let from = self.at.saturating_sub(2);
            let fresh = w.from(from).get(..to - from).unwrap_or_default();
            self.in_section = memchr::memmem::find(fresh, b"]]>").is_none();
        }
        self.at = to;
        let Some(end) = self.after_args else { return };
        let between = w.str(end, to).as_bytes();
        let text = between.iter().position(|&b| !is_blank(b) && !matches!(b, b'>' | b'/'));
        if let Some(i) = text {
            let end = end + i + TEXT_MAX + 1;
            self.text.get_or_insert((end, end + OPENER_REACH));
        }
        if text.is_some() || to < w.end() {
            self.after_args = None;
        }
    }

    /// Whether only marks can end the block.
    fn is_quiet(&self) -> bool {
        self.text.is_none() && self.after_args.is_none()
    }

    /// Moves to `end` over bytes without marks.
    fn pass_on(&mut self, end: usize) {
        self.at = end;
    }
}
