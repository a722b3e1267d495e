//! One write, with the journal around it: cells that were proven in memory go to the disk (MF-42, MF-43).

use super::{Appender, Draft};
use crate::append::Placed;
use crate::error::Error;
use crate::store::disk::{Seen, at, hash};
use crate::store::keep::Kept;
use crate::store::lock::Lock;
use crate::store::sidecar::Journal;
use crate::store::{Durability, absolute};
use msg_core::{Code, Diagnostic};
use std::io::Write;

impl Appender {
    /// Journal, one write, sync, journal cleared (MF-42).
    pub(super) fn commit(&mut self, lock: &mut Lock, draft: &Draft) -> Result<(), Error> {
        let offset = draft.offset();
        self.note_journal(lock, draft)?;
        if !draft.over.is_empty() {
            lock.file.set_len(offset).map_err(at("write", &self.real))?;
        }
        if let Err(failed) = lock.append(draft.record(), offset) {
            // What stood there is put back, and the journal is of no use.
            let _ = lock.file.write_all(&draft.over);
            self.clear_journal(lock);
            return Err(failed);
        }
        if self.options.durability == Durability::Sync {
            lock.sync()?;
        }
        self.remember(lock, draft)
    }

    /// Writes into the sidecar what is about to happen.
    fn note_journal(&mut self, lock: &mut Lock, draft: &Draft) -> Result<(), Error> {
        if self.options.durability == Durability::None {
            return Ok(());
        }
        let offset = draft.offset();
        let (before, record) = (before(lock, offset)?, draft.record().to_vec());
        let content = self.content(Some(Journal { offset, before, record }));
        let Some(sidecar) = lock.sidecar()? else {
            let what = "no lock file can be made beside the file, so there is no journal";
            self.warnings.push(Diagnostic::warning(Code::new("msgfile::no-sidecar"), what));
            return Ok(());
        };
        let noted = sidecar.write(&content, false);
        // What is written over is gone for a moment: the journal has to be on the disk by then.
        let synced = match draft.over.is_empty() || self.options.durability != Durability::Sync {
            true => Ok(()),
            false => sidecar.file.sync_data(),
        };
        noted.and(synced).map_err(at("write the journal of", &self.real))
    }

    /// Takes in what was written.
    fn remember(&mut self, lock: &mut Lock, draft: &Draft) -> Result<(), Error> {
        self.fresh = None;
        let bytes = &draft.writer.bytes;
        for Placed { id, span } in &draft.placed {
            let (id, text) = (id.clone(), span.of(bytes).to_vec());
            let kept = Kept { id, span: absolute(*span, draft.base), text };
            self.keep.push(kept, self.options.keep_bytes);
        }
        self.clear_journal(lock);
        let meta = lock.meta()?;
        if let (Some(state), Some(last)) = (self.state.as_mut(), draft.placed.last()) {
            state.known = Seen::of(&meta);
            state.tail = Some(draft.base + last.span.start as u64);
            state.tail_cells = 1;
            state.tail_hash = hash(last.span.of(bytes));
        }
        Ok(())
    }
}

/// Checksum of what stands before an offset, 4 KiB of it at most.
pub(super) fn before(lock: &mut Lock, offset: u64) -> Result<u64, Error> {
    Ok(hash(&lock.read(offset.saturating_sub(4096), offset)?))
}
