//! Before anything is written: reading old and new together must give the old cells and the new one
//! (MF-36). Only the tail from the last strong heading is read, since nothing before it can change.

use crate::cell::{Cell, PartKind};
use crate::diag::Findings;
use crate::document::{Document, Mode};
use crate::error::Error;
use crate::layout::{Layout, layout};
use crate::limits::Limits;
use crate::line::BOM;
use std::sync::Arc;

/// Offset of the last strong heading of a document.
pub(crate) fn last_strong(doc: &Document) -> Option<usize> {
    doc.cells().iter().rev().find(|c| c.head.strong).map(|c| c.span().start)
}

/// Reads `bytes[tail..]` with and without the cell that begins at `from` (the joint begins at
/// `joint`), compares, and gives the new cell as it reads.
pub(crate) fn verify(
    bytes: &[u8],
    tail: usize,
    joint: usize,
    from: usize,
    mode: Mode,
) -> Result<Cell, Error> {
    let read = |end: usize| -> Layout {
        let source: Arc<[u8]> = bytes[tail..end].into();
        layout(&source, mode, &Limits::default(), &mut Findings::default())
    };
    // A last line without its end is read with the LF that ends it from now on.
    let ended = bytes[..joint].ends_with(b"\n") || bytes.get(joint) != Some(&b'\n');
    let old = read(if ended { joint } else { joint + 1 });
    let mut new = read(bytes.len());
    let last = new.cells.pop();
    let same = old.cells.len() == new.cells.len()
        && old.section == new.section
        && old.frontmatter == new.frontmatter
        && old.cells.iter().zip(&new.cells).all(|(a, b)| same_cell(a, b));
    // A byte order mark belongs to the line that it stands before.
    let start = if bytes[tail..from] == *BOM { tail } else { from };
    last.filter(|c| same && c.head.strong && c.span.start == start - tail).ok_or_else(|| {
        Error::refused(
            "msgfile::bad-cell",
            "the cell would not read back as it was meant, or change what stands above it",
        )
    })
}

fn same_cell(a: &Cell, b: &Cell) -> bool {
    let parts =
        |c: &Cell| c.parts.iter().filter(|p| p.0 != PartKind::Gap).copied().collect::<Vec<_>>();
    // A last line without its end gets one, and the gap may grow; nothing else may move.
    let ended = |c: &Cell| parts(c).iter().map(|(k, s)| (*k, s.start)).collect::<Vec<_>>();
    a.head.strong == b.head.strong
        && a.id() == b.id()
        && a.head.title == b.head.title
        && a.ty == b.ty
        && a.attrs == b.attrs
        && ended(a) == ended(b)
        && a.body() == b.body()
}
