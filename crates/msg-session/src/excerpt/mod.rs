//! The excerpt of a session of JSON lines: what the rules look at, and nothing else, so that a session of
//! many gigabytes is diagnosed within little memory (SE-2). Long values are marks, and members that no
//! rule names are left out; an edit of the excerpt is an edit of the session.
//!
//! ```text
//! session   {"cwd":"/srv","uuid":"u1","message":{"content":[{"type":"text","text":"a long story …"}]}}
//! excerpt   {"uuid":"u1","message":{"content":[{"type":"text","text":"▯70+5012▯"}]}}
//!            ^ left out                                               ^ a mark
//! ```
//!
//! Three texts: the *source* is the file as it is; the *clean* text is the file after the frame rules,
//! never held; the *excerpt* is held. [`Lines`] of an excerpt are like those of a whole text, so that no
//! rule knows the difference.

mod mark;
mod read;
mod shorten;
#[cfg(test)]
#[path = "../../tests/unit/excerpt.rs"]
#[allow(clippy::unwrap_used)]
mod tests;

use std::{cell::RefCell, io::Write, ops::Range};

use crate::excerpt::mark::Offsets;

use crate::edit::Edit;
use crate::edit::Effect;
use crate::excerpt::read::Clean;
use crate::source::{ReadAt, fill};
use crate::{Error, edit};

pub(crate) use mark::{Mark, places as marks, span, spelled};
pub(crate) use read::{read, read_whole};

/// What an excerpt was made of.
pub(crate) struct Elided<'s> {
    clean: Clean<'s>,
    offsets: Offsets,
    /// What the frame rules change.
    effect: Effect,
    /// Why the source could not be read again, if it could not.
    failure: RefCell<Option<Error>>,
}

impl Elided<'_> {
    /// The clean text of a span of the excerpt; none if it cannot be read, see [`Elided::failure`].
    pub(crate) fn whole(&self, span: Range<usize>) -> Option<Vec<u8>> {
        let found = self.clean.bytes(self.clean_span(span));
        found.map_err(|it| *self.failure.borrow_mut() = Some(it)).ok()
    }

    /// How long that is.
    pub(crate) fn len_of(&self, span: Range<usize>) -> u64 {
        let span = self.clean_span(span);
        span.end - span.start
    }

    /// Why the source could not be read again, if it could not.
    pub(crate) fn failure(&self) -> Result<(), Error> {
        self.failure.borrow_mut().take().map_or(Ok(()), Err)
    }

    fn clean_span(&self, span: Range<usize>) -> Range<u64> {
        let start = self.offsets.clean(span.start);
        // What is left out after a span is not of it.
        start..if span.is_empty() { start } else { self.offsets.clean_end(span.end) }
    }

    /// Writes the session with these edits of the excerpt. Those inside removed bytes fall away.
    pub(crate) fn write(&self, mut edits: Vec<Edit>, out: &mut dyn Write) -> Result<(), Error> {
        msg_core::sort_by_rank(&mut edits, |it| it.span.start);
        let (mut at, mut clean_at) = (0, 0);
        for edit in edits {
            if edit.span.start < at {
                continue;
            }
            let span = self.clean_span(edit.span.clone());
            self.clean.copy(clean_at..span.start, out)?;
            let text = self.expanded(&edit.text)?;
            out.write_all(&text).map_err(|it| Error::written(&it))?;
            (at, clean_at) = (edit.span.end, span.end);
        }
        self.clean.copy(clean_at..self.clean.len(), out)
    }

    /// How much these edits of the excerpt `text` change, the frame rules included.
    pub(crate) fn effect(&self, text: &str, edits: &[Edit]) -> Effect {
        let mut sorted: Vec<&Edit> = edits.iter().collect();
        msg_core::sort_by_rank(&mut sorted, |it| it.span.start);
        let mut res = self.effect;
        res.bytes = self.clean.len() as i64 - self.clean.source_len() as i64;
        let (mut at, mut last_line) = (0, None);
        for edit in sorted.into_iter().filter(|it| !it.is_nothing()) {
            if edit.span.start < at {
                continue;
            }
            at = edit.span.end;
            res.bytes +=
                self.expanded_len(&edit.text) as i64 - self.len_of(edit.span.clone()) as i64;
            match whole_lines(text, edit) {
                Some((written, removed)) => {
                    res.written += written;
                    res.removed += removed;
                }
                None => {
                    let line = text[..edit.span.start].rfind('\n');
                    if last_line.replace(line) != Some(line) {
                        res.written += 1;
                        res.removed += 1;
                    }
                }
            }
        }
        res
    }

    /// A text of the excerpt with the values that its marks represent.
    fn expanded(&self, text: &str) -> Result<Vec<u8>, Error> {
        let mut res = Vec::with_capacity(text.len());
        for piece in mark::pieces(text) {
            match piece {
                mark::Piece::Text(it) => res.extend_from_slice(it.as_bytes()),
                mark::Piece::Mark(it) => {
                    let value = self.clean.bytes(it.at..it.at + it.bytes)?;
                    let value = if it.is_mended { edit::mended(value) } else { value };
                    res.extend_from_slice(&value);
                }
                mark::Piece::Span(it) => res.extend(self.clean.bytes(self.clean_span(it))?),
            }
        }
        Ok(res)
    }

    fn expanded_len(&self, text: &str) -> u64 {
        let len = |it| match it {
            mark::Piece::Text(it) => it.len() as u64,
            mark::Piece::Mark(it) => it.bytes,
            mark::Piece::Span(it) => self.len_of(it),
        };
        mark::pieces(text).map(len).sum()
    }
}

/// How many whole lines an edit puts and takes; none if it changes a line.
fn whole_lines(text: &str, edit: &Edit) -> Option<(u64, u64)> {
    let begins = |at: usize| at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n');
    let count = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
    let gone = &text[edit.span.clone()];
    let is_at_end = edit.span.end == text.len();
    let comes = edit.text.is_empty() || edit.text.ends_with('\n');
    if begins(edit.span.start) && (begins(edit.span.end) || is_at_end) && comes {
        let torn = u64::from(!gone.is_empty() && !gone.ends_with('\n'));
        return Some((count(&edit.text), count(gone) + torn));
    }
    (gone.is_empty() && is_at_end && edit.text.starts_with('\n')).then(|| (count(&edit.text), 0))
}

// The lines of a source, one at a time, in a buffer that holds no more than one line and a chunk.

/// How much is read at once.
const CHUNK: usize = 1 << 20;

/// The lines of a source.
pub(crate) struct Feed<'s> {
    source: &'s dyn ReadAt,
    /// Room that is used again, of which the bytes before `end` were read.
    buffer: Vec<u8>,
    end: usize,
    /// Where the next line begins in the buffer.
    at: usize,
    /// Offset after the buffer, in the source.
    offset: u64,
    is_at_end: bool,
    max: u64,
}

/// A line of the source.
pub(crate) struct FeedLine {
    /// Where it is in the buffer, without its line end; empty if it is too large.
    pub(crate) span: Range<usize>,
    /// How long it is, without its line end.
    pub(crate) len: u64,
    pub(crate) line_end: &'static str,
    /// Whether it is longer than is looked into.
    pub(crate) is_too_large: bool,
}

impl<'s> Feed<'s> {
    /// The lines from `offset` on; those with more than `max` bytes are passed over.
    pub(crate) fn new(source: &'s dyn ReadAt, offset: u64, max: u64) -> Self {
        Self { source, buffer: Vec::new(), end: 0, at: 0, offset, is_at_end: false, max }
    }

    /// The bytes of the line that came last.
    pub(crate) fn bytes(&self, span: Range<usize>) -> &[u8] {
        &self.buffer[span]
    }

    /// What was read and is held.
    fn held(&self) -> &[u8] {
        &self.buffer[..self.end]
    }

    /// The next line; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<FeedLine>, Error> {
        let mut looked = self.at;
        loop {
            if let Some(len) = memchr::memchr(b'\n', &self.held()[looked..]) {
                return Ok(Some(self.line(looked + len, true)));
            }
            looked = self.end;
            if self.is_at_end {
                let is_there = self.at < self.end;
                return Ok(is_there.then(|| self.line(self.end, false)));
            }
            if (self.end - self.at) as u64 > self.max {
                return self.pass_over().map(Some);
            }
            looked -= self.at;
            self.more()?;
        }
    }

    /// The line that ends at `end` in the buffer.
    fn line(&mut self, end: usize, has_end: bool) -> FeedLine {
        let start = self.at;
        self.at = end + usize::from(has_end);
        let is_crlf = has_end && end > start && self.buffer[end - 1] == b'\r';
        let end = end - usize::from(is_crlf);
        let line_end = match (has_end, is_crlf) {
            (true, true) => "\r\n",
            (true, false) => "\n",
            (false, _) => "",
        };
        let len = (end - start) as u64;
        let is_too_large = len > self.max;
        let span = if is_too_large { start..start } else { start..end };
        FeedLine { span, len, line_end, is_too_large }
    }

    /// Reads on, and forgets what was read.
    fn more(&mut self) -> Result<(), Error> {
        self.buffer.copy_within(self.at..self.end, 0);
        self.end -= self.at;
        self.at = 0;
        let left = usize::try_from(self.source.size().saturating_sub(self.offset));
        let wanted = left.map_or(CHUNK, |it| it.saturating_add(1).min(CHUNK));
        let room = self.end + wanted;
        if self.buffer.len() < room {
            // The allocator has zeros, which need not be written.
            let mut buffer = vec![0; room.max(2 * self.buffer.len())];
            buffer[..self.end].copy_from_slice(self.held());
            self.buffer = buffer;
        }
        let read = fill(self.source, self.offset, &mut self.buffer[self.end..room])?;
        self.end += read;
        self.offset += read as u64;
        self.is_at_end = read < wanted;
        Ok(())
    }

    /// Passes over a line that is too large, holding a chunk of it at a time.
    fn pass_over(&mut self) -> Result<FeedLine, Error> {
        let mut len = (self.end - self.at) as u64;
        let mut last = self.held().last().copied();
        loop {
            self.at = self.end;
            self.more()?;
            let end = memchr::memchr(b'\n', self.held());
            if end.is_none() && !self.is_at_end {
                len += self.end as u64;
                last = self.held().last().copied().or(last);
                continue;
            }
            let rest = end.unwrap_or(self.end);
            last = self.held()[..rest].last().copied().or(last);
            self.at = rest + usize::from(end.is_some());
            let is_crlf = end.is_some() && last == Some(b'\r');
            len += rest as u64 - u64::from(is_crlf);
            let line_end = match (end, is_crlf) {
                (Some(_), true) => "\r\n",
                (Some(_), false) => "\n",
                (None, _) => "",
            };
            return Ok(FeedLine { span: 0..0, len, line_end, is_too_large: true });
        }
    }
}
