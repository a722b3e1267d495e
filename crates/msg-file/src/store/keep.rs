//! The cells that an appender wrote and remembers, to notice when a save has removed them (MF-45).

use super::disk::hash;
use super::lock::Lock;
use crate::error::Error;
use crate::syntax;
use crate::{document::Mode, render};
use std::collections::VecDeque;
use std::ops::Range;

/// Cells kept at most.
const MAX_CELLS: usize = 64;

/// A cell that was written.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) id: String,
    pub(super) span: Range<u64>,
    pub(super) text: Vec<u8>,
}

#[derive(Debug, Default)]
pub(super) struct Keep {
    pub(super) cells: VecDeque<Kept>,
    bytes: usize,
    /// Ids of cells that were written and are no longer kept.
    pub(super) dropped: Vec<String>,
}

impl Keep {
    pub(super) fn push(&mut self, kept: Kept, max_bytes: usize) {
        self.bytes += kept.text.len();
        self.cells.push_back(kept);
        while self.cells.len() > MAX_CELLS || (self.bytes > max_bytes && !self.cells.is_empty()) {
            let Some(old) = self.cells.pop_front() else { return };
            self.bytes -= old.text.len();
            self.dropped.push(old.id);
        }
    }

    /// Forgets a cell that is somebody else's now.
    pub(super) fn forget(&mut self, id: &str) {
        let bytes = &mut self.bytes;
        self.cells.retain(|k| {
            let keep = k.id != id;
            if !keep {
                *bytes -= k.text.len();
            }
            keep
        });
    }

    /// Whether the last cell, or all of them, stand where they were written.
    pub(super) fn stand(&self, lock: &mut Lock, len: u64, all: bool) -> Result<bool, Error> {
        let count = if all { self.cells.len() } else { 1 };
        for kept in self.cells.iter().rev().take(count) {
            if kept.span.end > len || lock.read(kept.span.start, kept.span.end)? != kept.text {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Checksum of the last one, for the sidecar.
    pub(super) fn last(&self) -> Option<super::sidecar::Last> {
        let it = self.cells.back()?;
        let (offset, len) = (it.span.start, it.span.end - it.span.start);
        Some(super::sidecar::Last { id: it.id.clone(), offset, len, hash: hash(&it.text) })
    }
}

/// The text of a cell with `recovered="1"` at the end of its definition.
pub(super) fn recovered(text: &[u8]) -> Vec<u8> {
    let it = syntax::piece(text, Mode::MessageFile);
    let end = it.cells.first().and_then(|c| c.definition()).map_or(0, |d| d.end);
    let at = text[..end].iter().rposition(|b| !matches!(b, b'\n' | b'\r')).map_or(0, |n| n + 1);
    let mut out = text[..at].to_vec();
    let marked = it.cells.first().is_some_and(|c| c.has_attr("recovered"));
    if at > 0 && !marked {
        render::attribute("recovered", Some("1"), &mut out)
            .expect("because key and value are ours");
    }
    out.extend_from_slice(&text[at..]);
    out
}
