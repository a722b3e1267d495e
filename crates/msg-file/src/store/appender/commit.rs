//! One write, with the journal around it: cells that were proven in memory go to the disk (MF-42, MF-43).

use super::{Appender, Draft};
use crate::error::Error;
use crate::store::disk::{self, Seen, at, hash, read_range};
use crate::store::keep::Kept;
use crate::store::lock::Lock;
use crate::store::sidecar::Journal;
use crate::store::{Durability, absolute};
use msg_core::{Code, Diagnostic};
use std::fs::File;
use std::io::{self, Write};

impl Appender {
    /// Journal, one write, sync, journal cleared (MF-42).
    pub(super) fn commit(&mut self, lock: &mut Lock, draft: &Draft) -> Result<(), Error> {
        let record = &draft.bytes[draft.old..];
        let offset = draft.base + draft.old as u64;
        self.note_journal(lock, draft, offset)?;
        if !draft.over.is_empty() {
            lock.file.set_len(offset).map_err(at("write", &self.real))?;
        }
        if let Err(source) = write_record(&mut lock.file, record) {
            // What was written of it is taken back, and the journal with it.
            let _ = lock.file.set_len(offset);
            let _ = write_record(&mut lock.file, &draft.over);
            self.clear_journal(lock);
            return Err(Error::WriteFailed { at: offset, source });
        }
        if self.options.durability == Durability::Sync {
            lock.file.sync_data().map_err(at("sync", &self.real))?;
            if lock.created {
                disk::sync_folder(&self.real);
            }
        }
        self.remember(lock, draft)
    }

    /// Writes into the sidecar what is about to happen.
    fn note_journal(&mut self, lock: &mut Lock, draft: &Draft, offset: u64) -> Result<(), Error> {
        if self.options.durability == Durability::None {
            return Ok(());
        }
        let before = before(&mut lock.file, offset).map_err(at("read", &self.real))?;
        let record = draft.bytes[draft.old..].to_vec();
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
        for (id, span) in &draft.placed {
            let text = span.of(&draft.bytes).to_vec();
            let kept = Kept { id: id.clone(), span: absolute(*span, draft.base), text };
            self.keep.push(kept, self.options.keep_bytes);
        }
        self.clear_journal(lock);
        let meta = lock.file.metadata().map_err(at("examine", &self.real))?;
        if let (Some(state), Some((_, span))) = (self.state.as_mut(), draft.placed.last()) {
            state.known = Seen::of(&meta);
            state.tail = Some(draft.base + span.start as u64);
            state.tail_cells = 1;
            state.tail_hash = hash(span.of(&draft.bytes));
        }
        Ok(())
    }
}

/// One write, and more only where the system takes less than all of it.
pub(super) fn write_record(file: &mut impl Write, record: &[u8]) -> io::Result<()> {
    file.write_all(record)
}

/// Checksum of what stands before an offset, 4 KiB of it at most.
pub(super) fn before(file: &mut File, offset: u64) -> io::Result<u64> {
    Ok(hash(&read_range(file, offset.saturating_sub(4096), offset)?))
}
