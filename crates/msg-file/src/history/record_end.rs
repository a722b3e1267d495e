//! Where the record of a Markdown file ends: text behind it is never sent to a model (MF-5, MF-29).
//!
//! ```text
//! # Discussion                      the section, of level 1
//! ## %% [^1]                        a cell
//! hi
//! # Appendix                        ends the section for every reader of Markdown
//! notes that are nobody's message   in the cell's bytes, but not sent
//! ```
//!
//! An answer may hold such headings itself. What writes it says how many, in `headings`; one more than
//! that is not the answer's.

use crate::document::Document;
use crate::model::cell::Cell;
use crate::span::Span;
use crate::syntax::fences::{closed_fences, within};
use crate::syntax::grammar;
use crate::syntax::line::{Line, lines, trim_empty_end};
use crate::syntax::raw::RawCell;
use std::sync::Arc;

/// The attribute that says how many headings belong to a body.
pub(crate) const HEADINGS: &str = "headings";

/// The heading in a cell with which the record's section ends.
pub(crate) fn end_in(doc: &Document, cell: &Cell) -> Option<usize> {
    let section = doc.section()?;
    let own = cell.attr(HEADINGS).and_then(|it| it.trim().parse().ok()).unwrap_or(0);
    let all = headings(doc.bytes(), cell.raw.bodies(), section.level, &doc.syntax.fences);
    // Under a heading of its own name the section goes on.
    let name = section.title.trim().to_lowercase();
    let other = |title: &[u8]| String::from_utf8_lossy(title).to_lowercase() != name;
    all.skip(own).find(|it| other(it.1)).map(|it| it.0)
}

/// How many headings in a body would end a section of this level.
pub(crate) fn count(body: &[u8], level: u8) -> usize {
    if memchr::memchr(b'#', body).is_none() {
        return 0;
    }
    let spans = [Span::new(0, body.len()), Span::default()];
    headings(body, spans, level, &closed_fences(body)).count()
}

/// Place and text of the headings of this level or above, outside fences.
pub(crate) fn headings<'a>(
    source: &'a [u8],
    spans: [Span; 2],
    level: u8,
    fences: &'a [Span],
) -> impl Iterator<Item = (usize, &'a [u8])> {
    let heading = move |line: Line| {
        let (found, title) = grammar::section_heading(line.text(source))?;
        (found <= level && !within(fences, line.start)).then_some((line.start, title))
    };
    let all = spans.into_iter().flat_map(|it| lines(source, it.start, it.end));
    all.filter_map(heading)
}

/// The document as a model may see it.
pub(super) fn up_to_it(doc: &Document) -> Document {
    let mut doc = doc.clone();
    let ends: Vec<(usize, usize)> =
        doc.cells().iter().filter_map(|it| Some((it.ordinal() - 1, end_in(&doc, it)?))).collect();
    if !ends.is_empty() {
        let model = Arc::make_mut(&mut doc.model);
        for (i, end) in ends {
            cut(&mut model.cells[i].raw, end);
        }
    }
    doc
}

fn cut(cell: &mut RawCell, end: usize) {
    let source = Arc::clone(&cell.source);
    let shorter = |it: Span| {
        let to = it.end.min(end).max(it.start);
        Span::new(it.start, trim_empty_end(&source, it.start, to))
    };
    let [first, second] = cell.bodies().map(shorter);
    cell.at.body = (first.into(), second.into());
}
