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
    doc.cells().iter().rev().find(|c| c.head().strong).map(|c| c.span().start)
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
    let mut new = verify_all(bytes, tail, joint, &[from], mode)?;
    Ok(new.pop().expect("because one cell was looked for"))
}

/// The same of several cells, which begin at these offsets: one reading for all of them.
pub(crate) fn verify_all(
    bytes: &[u8],
    tail: usize,
    joint: usize,
    from: &[usize],
    mode: Mode,
) -> Result<Vec<Cell>, Error> {
    let read = |end: usize| -> Layout {
        let source: Arc<[u8]> = bytes[tail..end].into();
        layout(&source, mode, &Limits::of_piece(), &mut Findings::nobodys())
    };
    // A last line without its end is read with the LF that ends it from now on.
    let ended = bytes[..joint].ends_with(b"\n") || bytes.get(joint) != Some(&b'\n');
    let old = read(if ended { joint } else { joint + 1 });
    let mut all = read(bytes.len());
    let same = all.cells.len() == old.cells.len() + from.len()
        && old.section == all.section
        && old.frontmatter == all.frontmatter
        && old.cells.iter().zip(&all.cells).all(|(a, b)| same_cell(a, b));
    let new = if same { all.cells.split_off(old.cells.len()) } else { Vec::new() };
    // A byte order mark belongs to the line that it stands before.
    let start = |from: usize| if bytes[tail..from] == *BOM { 0 } else { from - tail };
    let there =
        |(cell, &from): (&Cell, &usize)| cell.head().strong && cell.span().start == start(from);
    if same && new.iter().zip(from).all(there) {
        return Ok(new);
    }
    Err(Error::refused(
        "msgfile::bad-cell",
        "the cell would not read back as it was meant, or change what stands above it",
    ))
}

fn same_cell(a: &Cell, b: &Cell) -> bool {
    let parts =
        |c: &Cell| c.parts().into_iter().filter(|p| p.0 != PartKind::Gap).collect::<Vec<_>>();
    // A last line without its end gets one, and the gap may grow; nothing else may move.
    let ended = |c: &Cell| parts(c).iter().map(|(k, s)| (*k, s.start)).collect::<Vec<_>>();
    a.head().strong == b.head().strong
        && a.id() == b.id()
        && a.head().title == b.head().title
        && a.ty() == b.ty()
        && a.attrs == b.attrs
        && ended(a) == ended(b)
        && a.body() == b.body()
}
