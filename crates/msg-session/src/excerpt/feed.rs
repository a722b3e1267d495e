//! The lines of a source, one at a time, in a buffer that holds no more than one line and a chunk.

use std::ops::Range;

use crate::Error;
use crate::source::{ReadAt, fill};

/// How much is read at once.
const CHUNK: usize = 1 << 20;

/// The lines of a source.
pub(crate) struct Feed<'s> {
    source: &'s dyn ReadAt,
    buffer: Vec<u8>,
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
        Self { source, buffer: Vec::new(), at: 0, offset, is_at_end: false, max }
    }

    /// The bytes of the line that came last.
    pub(crate) fn bytes(&self, span: Range<usize>) -> &[u8] {
        &self.buffer[span]
    }

    /// The next line; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<FeedLine>, Error> {
        let mut looked = self.at;
        loop {
            if let Some(len) = memchr::memchr(b'\n', &self.buffer[looked..]) {
                return Ok(Some(self.line(looked + len, true)));
            }
            looked = self.buffer.len();
            if self.is_at_end {
                let is_there = self.at < self.buffer.len();
                return Ok(is_there.then(|| self.line(self.buffer.len(), false)));
            }
            if (self.buffer.len() - self.at) as u64 > self.max {
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
        self.buffer.drain(..self.at);
        self.at = 0;
        let len = self.buffer.len();
        let left = usize::try_from(self.source.size().saturating_sub(self.offset));
        let wanted = left.map_or(CHUNK, |it| it.saturating_add(1).min(CHUNK));
        self.buffer.resize(len + wanted, 0);
        let read = fill(self.source, self.offset, &mut self.buffer[len..])?;
        self.buffer.truncate(len + read);
        self.offset += read as u64;
        self.is_at_end = read < wanted;
        Ok(())
    }

    /// Passes over a line that is too large, holding a chunk of it at a time.
    fn pass_over(&mut self) -> Result<FeedLine, Error> {
        let mut len = (self.buffer.len() - self.at) as u64;
        let mut last = self.buffer.last().copied();
        loop {
            self.at = self.buffer.len();
            self.more()?;
            let end = memchr::memchr(b'\n', &self.buffer);
            if end.is_none() && !self.is_at_end {
                len += self.buffer.len() as u64;
                last = self.buffer.last().copied().or(last);
                continue;
            }
            let rest = end.unwrap_or(self.buffer.len());
            last = self.buffer[..rest].last().copied().or(last);
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
