//! The parts of a cell, which tile it (MF-58): put together when asked for, never stored.
//!
//! What a part says is not looked at.

use super::raw::RawCell;
use crate::span::Span;

/// What a part of a cell is (MF-58).
///
/// ```
/// assert_eq!(msg_file::PartKind::Gap.as_str(), "gap");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartKind {
    /// The heading line.
    Heading,
    /// The definition with its continuation lines.
    Definition,
    /// Empty lines that are not content.
    Gap,
    /// Lines of the body.
    Body,
    /// A block of definitions at the end, as older writers made (MF-10).
    Footnotes,
}

impl PartKind {
    /// The word of the JSON form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Heading => "heading",
            Self::Definition => "definition",
            Self::Gap => "gap",
            Self::Body => "body",
            Self::Footnotes => "footnotes",
        }
    }
}

impl RawCell {
    /// The parts, tiling the cell.
    pub(crate) fn parts(&self) -> Vec<(PartKind, Span)> {
        let span = self.span();
        let heading = (PartKind::Heading, self.heading_line());
        let bodies = self.bodies().map(|it| (PartKind::Body, it));
        let definition = self.definition().map(|it| (PartKind::Definition, it));
        let footnotes = (PartKind::Footnotes, Span::new(self.at.end as usize, span.end));
        let mut known: Vec<(PartKind, Span)> =
            [heading, footnotes].into_iter().chain(bodies).chain(definition).collect();
        known.retain(|it| !it.1.is_empty());
        known.sort_by_key(|it| it.1.start);
        let mut all = Vec::with_capacity(2 * known.len());
        let mut at = span.start;
        for (kind, part) in known {
            if part.start > at {
                all.push((PartKind::Gap, Span::new(at, part.start)));
            }
            all.push((kind, part));
            at = part.end;
        }
        if at < span.end {
            all.push((PartKind::Gap, Span::new(at, span.end)));
        }
        all
    }
}
