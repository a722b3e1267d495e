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
    let mut waiting = Waiting::default();
    for &(last, block) in blocks {
        waiting.add(source, cells, last + 1);
        for line in lines(source, block.start, block.end).skip(1) {
            let text = line.text(source);
            let Some(def) = grammar::definition(text) else { continue };
            let Some(i) = waiting.by_id.remove(def.id.of(text)) else { continue };
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

/// Cells that have an id but no definition so far.
#[derive(Default)]
struct Waiting<'a> {
    by_id: HashMap<&'a [u8], usize>,
    /// How many cells were looked at.
    seen: usize,
}

impl<'a> Waiting<'a> {
    /// Looks at the cells before `end` that it has not seen; gives how many these were.
    fn add(&mut self, source: &'a [u8], cells: &[RawCell], end: usize) -> usize {
        let new = cells.get(self.seen..end).unwrap_or_default();
        for (i, cell) in new.iter().enumerate() {
            if let (None, None, Some(id)) = (cell.definition(), cell.defined_id(), cell.at.id.get())
            {
                self.by_id.insert(id.of(source), self.seen + i);
            }
        }
        self.seen += new.len();
        new.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Document, Mode};
    use crate::limits::Limits;

    /// A block in each of `n` cells, and the definitions of all of them in one more.
    fn blocks(n: usize) -> Document {
        let cell = |i| format!("# %% [^{i}]\n\nhi\n\n<!-- Footnotes -->\n[^z{i}]: k=0\n\n");
        let mut text: String = (0..n).map(cell).collect();
        text.push_str("# %%\n\n<!-- Footnotes -->\n");
        text.extend((0..n).map(|i| format!("[^{i}]: k={i}\n")));
        Document::read(text.into_bytes(), Mode::MessageFile, &Limits::default())
            .expect("because it is small")
    }

    #[test]
    fn each_cell_waits_once_however_many_blocks_there_are() {
        let doc = blocks(50);
        let mut cells: Vec<_> = doc.cells().iter().map(|it| it.raw.clone()).collect();
        cells.iter_mut().for_each(|c| c.at.defined_id = None.into());
        let mut waiting = Waiting::default();
        let looks: Vec<_> = [10, 10, 11, 50, 51, 51]
            .iter()
            .map(|&end| waiting.add(doc.bytes(), &cells, end))
            .collect();
        assert_eq!(looks, [10, 0, 1, 39, 1, 0]);
        assert_eq!(waiting.by_id.len(), 50);
    }
}
