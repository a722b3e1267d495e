//! Definitions that older writers put in blocks at the end of a cell, given to their cells (MF-10).
//!
//! Where such a block begins is found by `cells`.

use super::cells::{attributes, duplicates};
use super::grammar::{self, Lexed};
use super::line::lines;
use super::raw::RawCell;
use crate::diag::Findings;
use crate::span::Span;
use std::collections::HashMap;

/// Gives the definitions of footnote blocks to the cells up to them that have none (MF-10). Each cell
/// is looked at once, however many blocks there are.
pub(super) fn bind(
    source: &[u8],
    cells: &mut [RawCell],
    blocks: &[(usize, Span)],
    found: &mut Findings,
) {
    // Cells that have an id but no definition so far, and how many cells were looked at.
    let (mut waiting, mut seen) = (HashMap::new(), 0);
    for &(last, block) in blocks {
        for (cell, i) in cells[seen..=last].iter().zip(seen..) {
            let id = cell.at.id.get().filter(|_| cell.defined_id().is_none());
            waiting.extend(id.map(|it| (it.of(source), i)));
        }
        seen = last + 1;
        for line in lines(source, block.start, block.end).skip(1) {
            let text = line.text(source);
            let Some(def) = grammar::definition(text) else { continue };
            let Some(i) = waiting.remove(def.id.of(text)) else { continue };
            found.add(line.start, "msgfile::definition-in-footnote-block");
            let mut lexed = Lexed::default();
            attributes(source, line, def.attrs, &mut lexed, found);
            duplicates(source, line.start, &lexed, found);
            let shift = |s: Span| Span::new(s.start + line.start, s.end + line.start);
            cells[i].at.defined_id = shift(def.id).into();
            cells[i].at.ty = def.ty.map(shift).into();
            cells[i].attrs = lexed.attrs.into();
        }
    }
}
