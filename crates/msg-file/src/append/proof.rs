//! Renders new cells one after the other and verifies that the file with them reads back as intended (MF-36).
//!
//! ```text
//! bytes   the old file   | joint | cell | joint | cell | joint | cell …
//! proof   `-- the first with the text before it ------'  `-- the others by themselves
//! ```
//!
//! What a message becomes is decided in `to_cells`, how a cell is written in `render`, and whether the bytes
//! stay in memory or go to a disk is the caller's business.

use super::{AppendedCell, Force, joint, resolve};
use crate::document::Mode;
use crate::document::Span;
use crate::error::Error;
use crate::index::Index;
use crate::render::{NewCell, render_to};
use crate::stamp::Nonce;
use crate::syntax;
use crate::syntax::attributes::RawCell;
use crate::syntax::cells::PartKind;
use crate::syntax::line::{BOM, Eol};
use crate::syntax::piece;

/// A file or its end, and the cells that are added to it.
pub(crate) struct Writer {
    /// All of it.
    pub(crate) bytes: Vec<u8>,
    /// How much of it was there.
    pub(crate) old: usize,
    /// Where the first cell is read from for its proof, and how.
    tail: usize,
    mode: Mode,
}

impl Writer {
    /// After these bytes, in which the last complete heading is at `tail`.
    pub(crate) fn after(bytes: Vec<u8>, tail: Option<usize>, mode: Mode) -> Self {
        // From a complete heading on, every file is read like a message file.
        let mode = tail.map_or(mode, |_| Mode::MessageFile);
        Self { old: bytes.len(), tail: tail.unwrap_or(0), mode, bytes }
    }

    /// Adds a cell under an id that is free.
    pub(crate) fn add(
        &mut self,
        cell: NewCell,
        index: &mut Index,
        nonce: &mut dyn FnMut() -> Nonce,
        force: Force,
    ) -> Result<AppendedCell, Error> {
        let (cell, id, level) = resolve(cell, index, nonce, force)?;
        let eol = Eol::of(&self.bytes);
        let span = self.write(|out| render_to(&cell, &id, level, eol, out))?;
        index.learn_new(&cell, &id);
        Ok(AppendedCell { id, span })
    }

    /// Adds a cell as `write` writes it, and proves that it reads back.
    pub(crate) fn write(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>,
    ) -> Result<Span, Error> {
        let end = self.bytes.len();
        let joint = joint(&self.bytes);
        self.bytes.extend_from_slice(&joint);
        let from = self.bytes.len();
        write(&mut self.bytes)?;
        if end == self.old {
            verify(&self.bytes, self.tail, end, from, self.mode)?;
        } else {
            stands_alone(&self.bytes[from..])?;
        }
        // A byte order mark belongs to the line that it is before.
        let start = if self.bytes[..from] == *BOM { 0 } else { from };
        Ok(Span::new(start, self.bytes.len()))
    }
}

// Verification before a write: reading old and new together must give the old cells and the new one
// (MF-36). Only the tail from the last strong heading is read, since nothing before it can change.

/// Reads `bytes[tail..]` with and without the cell that begins at `from` (the joint begins at
/// `joint`), and compares.
pub(crate) fn verify(
    bytes: &[u8],
    tail: usize,
    joint: usize,
    from: usize,
    mode: Mode,
) -> Result<(), Error> {
    // A last line without its end is read with the LF that ends it from now on.
    let ended = bytes[..joint].ends_with(b"\n") || bytes.get(joint) != Some(&b'\n');
    let old = piece(&bytes[tail..if ended { joint } else { joint + 1 }], mode);
    let mut all = piece(&bytes[tail..], mode);
    // A byte order mark belongs to the line that it is before.
    let start = if bytes[tail..from] == *BOM { 0 } else { from - tail };
    let is_new = |it: RawCell| it.at.strong && it.span().start == start;
    let proved = all.cells.pop().is_some_and(is_new)
        && all.cells.len() == old.cells.len()
        && old.section == all.section
        && old.frontmatter == all.frontmatter
        && old.cells.iter().zip(&all.cells).all(|(a, b)| stays(a, b));
    if proved { Ok(()) } else { Err(misread()) }
}

/// The proof of a cell after one of ours: a complete heading ends what was before it, whatever that was
/// (MF-8), so that nothing else has to be read again.
pub(crate) fn stands_alone(text: &[u8]) -> Result<(), Error> {
    // Markers in the fences of a body are not cells, which only the whole layout knows.
    let proved = matches!(syntax::headings(text).as_slice(), [it] if it.strong && it.start == 0)
        || matches!(piece(text, Mode::MessageFile).cells.as_slice(),
            [it] if it.at.strong && it.span().start == 0);
    if proved { Ok(()) } else { Err(misread()) }
}

fn misread() -> Error {
    Error::refused(
        "msgfile::bad-cell",
        "the cell would not read back unchanged, or would change the cells above it",
    )
}

/// Whether a cell says what it said, in the same places. A last line without its end gets one, and the gap
/// may grow; nothing else may move.
fn stays(a: &RawCell, b: &RawCell) -> bool {
    let places = |cell: &RawCell| {
        let parts = cell.parts().into_iter().filter(|it| it.0 != PartKind::Gap);
        parts.map(|(kind, span)| (kind, span.start)).collect::<Vec<_>>()
    };
    a.at.strong == b.at.strong && a.says_the_same(b) && places(a) == places(b)
}
