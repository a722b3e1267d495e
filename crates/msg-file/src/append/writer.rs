//! Cells on their way to the end of a file in memory: numbered, rendered, and proved some at a time.
//!
//! ```text
//! bytes   what was there | joint | cell | joint | cell | joint | cell …
//! proof   `------------ the first with what stands before it ---'   the others by themselves
//! ```
//!
//! What a message becomes is decided in `to_cells`, how a cell is written in `render`.

use super::verify::Proof;
use super::{AppendOptions, Entry, Placed, joint, resolve, writable};
use crate::document::{Document, Mode};
use crate::error::Error;
use crate::index::Index;
use crate::limits::Limits;
use crate::nonce::Nonce;
use crate::render::{NewCell, render_to};
use crate::span::Span;
use crate::syntax::line::BOM;
use crate::syntax::line::Eol;
use crate::to_cells::cells_for;

pub(crate) struct Writer<'a> {
    bytes: Vec<u8>,
    index: Index,
    proof: Proof,
    options: &'a AppendOptions,
    nonce: &'a mut dyn FnMut() -> Nonce,
}

impl<'a> Writer<'a> {
    /// Behind what a file holds, which is changed first where the options insist on it.
    pub(crate) fn behind(
        old: &[u8],
        mode: Mode,
        options: &'a AppendOptions,
        nonce: &'a mut dyn FnMut() -> Nonce,
    ) -> Result<Self, Error> {
        let doc = Document::read(old, mode, &Limits::default())?;
        let (bytes, doc) = match writable(&doc, options.force)? {
            None => (old.to_vec(), doc),
            Some(bytes) => {
                let doc = Document::read(bytes.as_slice(), mode, &Limits::default())?;
                (bytes, doc)
            }
        };
        Ok(Self { index: Index::of(&doc), proof: Proof::behind(&doc), bytes, options, nonce })
    }

    /// Writes what an entry becomes, given what the file holds by then.
    pub(crate) fn entry(
        &mut self,
        entry: Entry,
        mut placed: impl FnMut(Placed),
    ) -> Result<(), Error> {
        let cells = match entry {
            Entry::Cell(cell) => vec![cell],
            Entry::Message(it) => cells_for(&it, &self.index, &self.options.messages),
        };
        cells.into_iter().try_for_each(|cell| self.cell(cell).map(&mut placed))
    }

    fn cell(&mut self, cell: NewCell) -> Result<Placed, Error> {
        let (cell, id, level) = resolve(cell, &self.index, self.nonce, self.options.force)?;
        let eol = Eol::of(&self.bytes);
        let before = self.bytes.len();
        let joint = joint(&self.bytes);
        self.bytes.extend_from_slice(&joint);
        let from = self.bytes.len();
        render_to(&cell, &id, level, eol, &mut self.bytes)?;
        self.index.learn_new(&cell, &id);
        self.proof.wrote(&self.bytes, before, from)?;
        // A byte order mark belongs to the line that it stands before.
        let start = if self.bytes[..from] == *BOM { 0 } else { from };
        Ok(Placed { id, span: Span::new(start, self.bytes.len()) })
    }

    /// The file, once the last cells are proved.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>, Error> {
        self.proof.prove(&self.bytes)?;
        Ok(self.bytes)
    }
}
