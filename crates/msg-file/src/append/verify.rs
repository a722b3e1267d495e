//! Before anything is written: reading old and new together must give the old cells and the new one
//! (MF-36). Only the tail from the last strong heading is read, since nothing before it can change.

use crate::document::{Document, Mode};
use crate::error::Error;
use crate::syntax::line::BOM;
use crate::syntax::parts::PartKind;
use crate::syntax::piece as read;
use crate::syntax::raw::RawCell;
use crate::syntax::scan;

/// Offset of the last strong heading of a document.
pub(crate) fn last_strong(doc: &Document) -> Option<usize> {
    doc.cells().iter().rev().find(|c| c.raw.at.strong).map(|c| c.span().start)
}

/// Reads `bytes[tail..]` with and without the cell that begins at `from` (the joint begins at
/// `joint`), compares, and gives the new cell as it reads.
pub(crate) fn verify(
    bytes: &[u8],
    tail: usize,
    joint: usize,
    from: usize,
    mode: Mode,
) -> Result<RawCell, Error> {
    // A last line without its end is read with the LF that ends it from now on.
    let ended = bytes[..joint].ends_with(b"\n") || bytes.get(joint) != Some(&b'\n');
    let old = read(&bytes[tail..if ended { joint } else { joint + 1 }], mode);
    let mut all = read(&bytes[tail..], mode);
    let same = all.cells.len() == old.cells.len() + 1
        && old.section == all.section
        && old.frontmatter == all.frontmatter
        && old.cells.iter().zip(&all.cells).all(|(a, b)| same_cell(a, b));
    // A byte order mark belongs to the line that it stands before.
    let start = if bytes[tail..from] == *BOM { 0 } else { from - tail };
    let new = all.cells.pop().filter(|it| same && it.at.strong && it.span().start == start);
    new.ok_or_else(misread)
}

fn misread() -> Error {
    Error::refused(
        "msgfile::bad-cell",
        "the cell would not read back as it was meant, or change what stands above it",
    )
}

/// The proof of cells that are written one behind the other: of the first with what stands before it, of
/// the others by themselves and many at a time. A complete heading ends what was before it, whatever that
/// was (MF-8), so nothing else has to be read again.
pub(crate) struct Proof {
    /// Where the first cell is read from, and how.
    tail: usize,
    mode: Mode,
    first: bool,
    /// Where the cells begin that are not proved yet.
    starts: Vec<usize>,
}

/// How many bytes of cells are proved at once: so few that they are still in the processor's cache.
const PROVED_AT_ONCE: usize = 1 << 16;

impl Proof {
    pub(crate) fn behind(doc: &Document) -> Self {
        let tail = last_strong(doc);
        let mode = tail.map_or(doc.mode(), |_| Mode::MessageFile);
        Self { tail: tail.unwrap_or(0), mode, first: true, starts: Vec::new() }
    }

    /// A cell was written from `from` on; before it, the file ended at `joint`.
    pub(crate) fn wrote(&mut self, bytes: &[u8], joint: usize, from: usize) -> Result<(), Error> {
        if std::mem::take(&mut self.first) {
            return verify(bytes, self.tail, joint, from, self.mode).map(drop);
        }
        self.starts.push(from);
        if bytes.len() - self.starts[0] < PROVED_AT_ONCE {
            return Ok(());
        }
        self.prove(bytes)
    }

    /// Reads what is not proved yet.
    pub(crate) fn prove(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let Some(&from) = self.starts.first() else { return Ok(()) };
        let piece = &bytes[from..];
        let begins = |at: &mut std::slice::Iter<'_, usize>, strong: bool, start: usize| {
            strong && at.next().is_some_and(|it| *it == from + start)
        };
        let mut at = self.starts.iter();
        // Markers in the fences of a body are no cells, which only the whole layout knows.
        let plain = scan::headings(piece).iter().all(|it| begins(&mut at, it.strong, it.start));
        let proved = plain && at.next().is_none() || {
            let mut at = self.starts.iter();
            let cells = read(piece, Mode::MessageFile).cells;
            cells.iter().all(|it| begins(&mut at, it.at.strong, it.span().start))
                && at.next().is_none()
        };
        self.starts.clear();
        if proved { Ok(()) } else { Err(misread()) }
    }
}

fn same_cell(a: &RawCell, b: &RawCell) -> bool {
    let parts =
        |c: &RawCell| c.parts().into_iter().filter(|p| p.0 != PartKind::Gap).collect::<Vec<_>>();
    // A last line without its end gets one, and the gap may grow; nothing else may move.
    let ended = |c: &RawCell| parts(c).iter().map(|(k, s)| (*k, s.start)).collect::<Vec<_>>();
    a.at.strong == b.at.strong
        && a.id() == b.id()
        && a.title() == b.title()
        && a.ty() == b.ty()
        && a.attrs == b.attrs
        && ended(a) == ended(b)
        && a.body() == b.body()
}
