//! Before anything is written: reading old and new together must give the old cells and the new one
//! (MF-36). Only the tail from the last strong heading is read, since nothing before it can change.

use crate::document::Mode;
use crate::error::Error;
use crate::syntax::line::BOM;
use crate::syntax::parts::PartKind;
use crate::syntax::piece;
use crate::syntax::raw::RawCell;
use crate::syntax::scan;

/// Reads `bytes[tail..]` with and without the cell that begins at `from` (the joint begins at
/// `joint`), and compares.
pub(super) fn verify(
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
    // A byte order mark belongs to the line that it stands before.
    let start = if bytes[tail..from] == *BOM { 0 } else { from - tail };
    let is_new = |it: RawCell| it.at.strong && it.span().start == start;
    let proved = all.cells.pop().is_some_and(is_new)
        && all.cells.len() == old.cells.len()
        && old.section == all.section
        && old.frontmatter == all.frontmatter
        && old.cells.iter().zip(&all.cells).all(|(a, b)| stays(a, b));
    if proved { Ok(()) } else { Err(misread()) }
}

/// The proof of a cell behind one of ours: a complete heading ends what was before it, whatever that was
/// (MF-8), so that nothing else has to be read again.
pub(super) fn stands_alone(text: &[u8]) -> Result<(), Error> {
    // Markers in the fences of a body are no cells, which only the whole layout knows.
    let proved = matches!(scan::headings(text).as_slice(), [it] if it.strong && it.start == 0)
        || matches!(piece(text, Mode::MessageFile).cells.as_slice(),
            [it] if it.at.strong && it.span().start == 0);
    if proved { Ok(()) } else { Err(misread()) }
}

fn misread() -> Error {
    Error::refused(
        "msgfile::bad-cell",
        "the cell would not read back as it was meant, or change what stands above it",
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
