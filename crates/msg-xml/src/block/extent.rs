//! Where a block that is being stored may have come to its end: it is worth while to read it there. It is the only part
//! that goes through the bytes as they arrive, and it decides nothing: a reading that was too early is made again.
//!
//! ```text
//! <tool>…<x><![CDATA[ </tool> ]]></x></arguments></tool>
//!                     |                          a reading up to here
//!                     in a section: none
//! ```

use super::grammar::TEXT_MAX;
use super::opener::{OPENER_REACH, opener};
use crate::input::{Input, is_blank};
use crate::lex::{self, ARGS, Tag};

/// So many readings of all that is stored are made, and this many bytes of them in any case; fewer in unit tests, which
/// count steps, so that growth shows early.
const READINGS: usize = 8;
const BYTES: usize = if cfg!(test) { 1 << 10 } else { 64 << 10 };

/// The search for the end of one block.
#[derive(Debug)]
pub(super) struct Extent {
    start: usize,
    /// Bytes before have been looked through.
    at: usize,
    /// A section seems to be open: what stands there most likely ends nothing.
    in_section: bool,
    /// So many sample calls seem to be open in a value.
    samples: usize,
    /// Behind a close tag of ARGS: text there may end the block.
    after_args: Option<usize>,
    /// Where text behind ARGS shows whether it does, and the last place at which it must.
    text: Option<(usize, usize)>,
    /// How much the last reading took, and what all of them have cost.
    last: usize,
    work: usize,
}

/// What stands at a `<`.
enum Mark {
    /// `</tool>`.
    Close(usize),
    /// A real opener: up to where it shows.
    Opener(usize),
    /// A close tag of ARGS, or an empty element: one past its name.
    Args(usize),
    Section,
    Other,
    Cut,
}

impl Extent {
    pub(super) fn new(start: usize, body: usize) -> Self {
        Extent {
            start,
            at: body,
            in_section: false,
            samples: 0,
            after_args: None,
            text: None,
            last: 0,
            work: 0,
        }
    }

    /// Up to where the block is to be read next.
    pub(super) fn next(&mut self, w: &Input<'_>) -> Option<usize> {
        loop {
            let (end, is_likely) = self.end(w)?;
            let len = end - self.start;
            let due = match is_likely {
                true => self.work <= READINGS * len + BYTES,
                false => len >= 2 * self.last,
            };
            if due {
                return Some(end);
            }
        }
    }

    /// The same at the end of input, where marks may have been passed: ever more, up to all.
    pub(super) fn next_at_eof(&self, w: &Input<'_>) -> usize {
        w.end().min(self.start + (4 * self.last).max(BYTES))
    }

    /// A reading up to `end` was too early, and cost so many readings of that.
    pub(super) fn too_early(&mut self, end: usize, readings: usize) {
        self.last = end - self.start;
        self.work += readings * self.last;
    }

    /// Where the block may have ended, marks in sections included, and whether that is likely.
    fn end(&mut self, w: &Input<'_>) -> Option<(usize, bool)> {
        loop {
            if let Some((end, last)) = self.text.take_if(|(end, _)| *end <= w.end()) {
                self.text = (end < last).then_some((last, last));
                return Some((end, true));
            }
            let found = w.find(b'<', self.at);
            self.pass(w, found.unwrap_or(w.end()));
            let mark = mark(w, found?);
            self.at += usize::from(!matches!(mark, Mark::Cut));
            match mark {
                Mark::Cut => return None,
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

    /// Goes on to `to` over what has no marks.
    fn pass(&mut self, w: &Input<'_>, to: usize) {
        let from = self.at.saturating_sub(2);
        self.in_section &= memchr::memmem::find(w.str(from, to).as_bytes(), b"]]>").is_none();
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
    pub(super) fn is_quiet(&self) -> bool {
        self.text.is_none() && self.after_args.is_none()
    }

    /// Moves to `end` over bytes without marks.
    pub(super) fn pass_on(&mut self, end: usize) {
        self.at = end;
    }
}

/// `</tool`, or `<tool`, at `p`.
fn tool_mark(w: &Input<'_>, p: usize) -> Mark {
    let mark = match lex::tag(w, p) {
        Ok(Tag::Close(c)) if c.is_tool() => Ok(Mark::Close(c.end)),
        Ok(Tag::Open(t)) if t.is_tool() => opener(w, p).map(|body| match body {
            Some(_) => Mark::Opener(w.end().min(p + OPENER_REACH)),
            None => Mark::Other,
        }),
        tag => tag.map(|_| Mark::Other),
    };
    mark.unwrap_or(Mark::Cut)
}

fn mark(w: &Input<'_>, p: usize) -> Mark {
    let close = usize::from(w.at(p + 1) == Some(b'/'));
    let rest = w.str(p + 1 + close, w.end());
    match lex::marker(w, p) {
        Ok(true) => return Mark::Section,
        Ok(false) => {}
        Err(_) => return Mark::Cut,
    }
    let len = lex::name_len(rest);
    if len == rest.len() {
        return Mark::Cut;
    }
    let name = &rest[..len];
    let end = p + 1 + close + len;
    if lex::same(name, "tool") {
        return tool_mark(w, p);
    }
    match lex::is_word(name, &ARGS) {
        true if close == 1 || rest.as_bytes()[len] == b'/' => Mark::Args(end),
        _ => Mark::Other,
    }
}
