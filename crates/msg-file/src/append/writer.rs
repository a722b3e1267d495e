//! Cells on their way to the end of a file: numbered, rendered, proved, one behind the other.
//!
//! ```text
//! bytes   what was there | joint | cell | joint | cell | joint | cell …
//! proof   `-- the first with what stands before it ---'  `-- the others by themselves
//! ```
//!
//! What a message becomes is decided in `to_cells`, how a cell is written in `render`, and whether the bytes
//! stay in memory or go to a disk is the caller's business.

use super::verify::{stands_alone, verify};
use super::{Force, Placed, joint, resolve};
use crate::document::Mode;
use crate::error::Error;
use crate::index::Index;
use crate::nonce::Nonce;
use crate::render::{NewCell, render_to};
use crate::span::Span;
use crate::syntax::line::{BOM, Eol};

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
    /// Behind these bytes, in which the last complete heading stands at `tail`.
    pub(crate) fn behind(bytes: Vec<u8>, tail: Option<usize>, mode: Mode) -> Self {
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
    ) -> Result<Placed, Error> {
        let (cell, id, level) = resolve(cell, index, nonce, force)?;
        let eol = Eol::of(&self.bytes);
        let span = self.write(|out| render_to(&cell, &id, level, eol, out))?;
        index.learn_new(&cell, &id);
        Ok(Placed { id, span })
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
        // A byte order mark belongs to the line that it stands before.
        let start = if self.bytes[..from] == *BOM { 0 } else { from };
        Ok(Span::new(start, self.bytes.len()))
    }
}
