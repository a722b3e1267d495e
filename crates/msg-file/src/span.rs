//! Byte ranges of a file, and a compact form of them for cells.
//!
//! A span never leaves its document: it is two numbers, and says nothing about the text between them.

use std::ops::Range;

use crate::syntax::grammar::Kind;

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
    /// Offset after the last byte.
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

    /// Whether it is empty.
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

// Spans and ordinals as cells store them: half as large, because a hostile file may consist of cells only.
//
// Outside cells everything is a [`Span`] and a `usize`. Offsets are below 4 GiB, as those of every file
// that is read.

/// Where a cell is in its file and among the others.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(crate) ordinal: u32,
    pub(crate) line: u32,
    pub(crate) whole: Place,
    /// Where its footnote block begins, or its end.
    pub(crate) end: u32,
    /// Where its heading line ends; it begins with the cell.
    pub(crate) heading_end: u32,
    pub(crate) title: Place,
    /// In the heading; a cell may also get its id from its definition.
    pub(crate) id: Place,
    pub(crate) level: u8,
    pub(crate) kind: Kind,
    pub(crate) strong: bool,
    pub(crate) definition: Place,
    /// The id in the definition line, where there is one.
    pub(crate) defined_id: Place,
    pub(crate) ty: Place,
    /// The lines of the body: two spans where a definition is between them.
    pub(crate) body: (Place, Place),
}

/// A span, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    start: u32,
    end: u32,
}

impl Place {
    const NONE: Self = Self { start: u32::MAX, end: 0 };

    pub(crate) fn get(self) -> Option<Span> {
        (self != Self::NONE).then(|| self.span())
    }

    /// Of a place that is always there.
    pub(crate) fn span(self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }
}

impl From<Span> for Place {
    fn from(it: Span) -> Self {
        Self { start: it.start as u32, end: it.end as u32 }
    }
}

impl From<Option<Span>> for Place {
    fn from(it: Option<Span>) -> Self {
        it.map_or(Self::NONE, Self::from)
    }
}

/// The ordinal of another cell, or none: ordinals begin at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ordinal(u32);

impl Ordinal {
    pub(crate) fn get(self) -> Option<usize> {
        (self.0 > 0).then_some(self.0 as usize)
    }
}

impl From<Option<usize>> for Ordinal {
    fn from(it: Option<usize>) -> Self {
        Self(it.unwrap_or(0) as u32)
    }
}
