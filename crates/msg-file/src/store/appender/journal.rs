//! The journal of an appender: what is noted before a write, and how an append that died is finished
//! from it (MF-42, MF-44).

use super::Appender;
use super::commit::before;
use crate::append::joint;
use crate::document::{Document, Mode};
use crate::error::Error;
use crate::index::Index;
use crate::limits::Limits;
use crate::model::cell::Cell;
use crate::store::disk::{at, hash};
use crate::store::keep::recovered;
use crate::store::lock::Lock;
use crate::store::sidecar::{Content, Journal, Last, Sidecar};
use crate::store::{Durability, Mended};
use crate::syntax;

impl Appender {
    /// What the sidecar is to say.
    pub(super) fn content(&self, journal: Option<Journal>) -> Content {
        let largest = self.state.as_ref().map_or(0, |s| s.index.largest());
        Content { largest, last: self.keep.last(), journal }
    }

    pub(super) fn clear_journal(&mut self, lock: &mut Lock) {
        let journalled = self.options.durability != Durability::None;
        if let Some(sidecar) = lock.found.as_mut().filter(|_| journalled) {
            // A journal that stays is found done or redone by the next append.
            let _ = sidecar.write(&self.content(None), true);
        }
    }

    /// Finishes an append that died (MF-44).
    pub(super) fn finish_journal(&mut self, lock: &mut Lock) -> Result<(), Error> {
        let Some(content) = lock.found.as_mut().map(Sidecar::read) else { return Ok(()) };
        self.largest = self.largest.max(content.largest);
        let Content { largest, journal: Some(journal), last } = content else { return Ok(()) };
        let len = lock.len()?;
        let end = journal.offset + journal.record.len() as u64;
        let there = if (journal.offset..=end).contains(&len) {
            let same = before(lock, journal.offset)? == journal.before;
            let part = lock.read(journal.offset, len)?;
            (same && journal.record.starts_with(&part)).then_some(part.len())
        } else {
            None
        };
        match there {
            Some(part) if part == journal.record.len() => {}
            Some(part) => {
                self.append_raw(lock, &journal.record[part..], len)?;
                self.mended = Some(Mended::Redone);
            }
            None => self.recover(lock, &journal)?,
        }
        if let Some(sidecar) = lock.found.as_mut() {
            let last = last_of(&journal).or(last);
            sidecar
                .write(&Content { largest, last, journal: None }, true)
                .map_err(at("write the journal of", &self.real))?;
        }
        Ok(())
    }

    fn append_raw(&self, lock: &mut Lock, bytes: &[u8], len: u64) -> Result<(), Error> {
        lock.append(bytes, len)?;
        if self.options.durability == Durability::Sync { lock.sync() } else { Ok(()) }
    }

    /// The file is not what the journal expects: cells that are in no place are appended again.
    pub(super) fn recover(&mut self, lock: &mut Lock, journal: &Journal) -> Result<(), Error> {
        let doc = self.read_all(lock)?;
        let index = Index::of(&doc);
        let record =
            Document::read(journal.record.as_slice(), Mode::MessageFile, &Limits::default())?;
        let lost: Vec<&Cell> =
            record.cells().iter().filter(|c| c.id().is_some_and(|id| !index.has_id(&id))).collect();
        if lost.is_empty() || self.writable(&doc)?.is_some() {
            return Ok(());
        }
        let mut out = doc.bytes().to_vec();
        let old = out.len();
        for cell in lost {
            out.extend_from_slice(&joint(&out));
            out.extend_from_slice(&recovered(cell.span().of(record.bytes())));
        }
        self.append_raw(lock, &out[old..], old as u64)?;
        self.mended = Some(Mended::Recovered);
        Ok(())
    }
}

/// The last cell of a record, for the sidecar.
fn last_of(journal: &Journal) -> Option<Last> {
    let it = syntax::piece(&journal.record, Mode::MessageFile);
    let cell = it.cells.last()?;
    let text = cell.span().of(&journal.record);
    let offset = journal.offset + cell.span().start as u64;
    Some(Last { id: cell.id()?.into_owned(), offset, len: text.len() as u64, hash: hash(text) })
}
