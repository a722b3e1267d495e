//! Byte ranges of a file.
//!
//! A span never leaves its document: it is two numbers, and says nothing about the text between them.

use std::ops::Range;

/// A half-open range `[start, end)` of byte offsets into the file.
///
/// ```
/// use msg_file::Span;
/// let span = Span::new(2, 5);
/// assert_eq!(&b"a bcd e"[span.range()], b"bcd");
/// assert_eq!(span.len(), 3);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte.
    pub end: usize,
}

impl Span {
    /// The span from `start` up to, without, `end`.
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Number of bytes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether there is no byte in it.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// The same as a standard range, for indexing.
    #[must_use]
    pub const fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The bytes of `source` that the span names.
    pub(crate) fn of<'a>(&self, source: &'a [u8]) -> &'a [u8] {
        &source[self.start..self.end]
    }
}
