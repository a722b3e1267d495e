//! Writes an answer to disk while it arrives (MF-42): its cells are overwritten as more arrives.
//!
//! ```text
//! … question │ joint │ ## %%% [^4] … finish_reason="interrupted" … The cap     ◀─ after the first words
//! … question │ joint │ ## %%% [^4] … finish_reason="stop" … The capital is Paris.   ◀─ at the end
//!            ▲ offset: all before it is never touched
//! ```
//!
//! Whatever kills the process leaves the last state as a cell that says it was interrupted. Whoever
//! writes to the file in between is respected: what is after the cells stays after them, and
//! cells that a person changed are left alone.

use msg_core::Message;

use super::{Appender, Draft, State};
use crate::error::Error;
use crate::index::Index;
use crate::render::{NewCell, NewId};
use crate::stamp::Nonce;
use crate::store::Appended;
use crate::store::disk::replace_locked;
use crate::store::lock::Lock;
use crate::to_cells::{ToCells, cells_for};

/// A message that is being written; see [`Appender::grow_message`].
#[derive(Debug, Default)]
pub struct GrowingMessage {
    written: Option<Box<Written>>,
}

/// The cells as they were written last.
#[derive(Debug)]
struct Written {
    /// What the file held before them.
    before: State,
    offset: u64,
    /// With the empty line that joins them to what is before.
    record: Vec<u8>,
    ids: Vec<String>,
}

impl Written {
    fn end(&self) -> u64 {
        self.offset + self.record.len() as u64
    }
}

impl Appender {
    /// Writes a message so far as it is known, in the place of what `growing` wrote of it before.
    ///
    /// The first call appends. A later one writes over the cells; if another program has written after
    /// them, the file is replaced as a whole, and if somebody changed or removed them, what they did
    /// is, and the message is appended again, as a new one.
    ///
    /// Cost: the size of the message, and a copy of the ids of the file; where others have written after it, the
    /// size of the file.
    ///
    /// # Errors
    /// As [`Self::append`]; what was written before is in the file then.
    pub fn grow_message(
        &mut self,
        growing: &mut GrowingMessage,
        message: &Message,
        options: &ToCells,
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<Vec<Appended>, Error> {
        let mut lock = Lock::take(&self.real, self.options.lock_timeout)?;
        let cells = |index: &Index| cells_for(message, index, options);
        let grown = self.grow_locked(&mut lock, growing, cells, nonce);
        if grown.is_err() {
            self.state = None;
            lock.take_back(self.fresh);
        }
        grown
    }

    fn grow_locked(
        &mut self,
        lock: &mut Lock,
        growing: &mut GrowingMessage,
        cells: impl Fn(&Index) -> Vec<NewCell>,
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<Vec<Appended>, Error> {
        self.finish_journal(lock)?;
        let mut over = None;
        if let Some(old) = &growing.written {
            let is_there =
                lock.len()? >= old.end() && lock.read(old.offset, old.end())? == old.record;
            over = is_there.then_some(&**old);
            self.state = None;
            old.ids.iter().for_each(|id| self.keep.forget(id));
        }
        let (done, written) = match over {
            Some(old) => self.write_over(lock, old, cells, nonce)?,
            None => self.write_first(lock, cells, nonce)?,
        };
        growing.written = Some(Box::new(written));
        Ok(done)
    }

    /// Appends the cells for the first time.
    fn write_first(
        &mut self,
        lock: &mut Lock,
        cells: impl Fn(&Index) -> Vec<NewCell>,
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<(Vec<Appended>, Written), Error> {
        let gone = self.catch_up(lock)?;
        let mut draft = self.draft(lock)?;
        if !gone.is_empty() {
            self.restore(&gone, &mut draft)?;
            self.commit(lock, &draft)?;
            draft = self.draft(lock)?;
        }
        let before = self.state.clone().expect("because it was brought up to the file");
        self.fill(&mut draft, cells(&before.index), nonce)?;
        self.commit(lock, &draft)?;
        Ok(self.written(&draft, before))
    }

    /// Writes the cells over their earlier state: at the end of the file, or before what others have
    /// written after them.
    fn write_over(
        &mut self,
        lock: &mut Lock,
        old: &Written,
        cells: impl Fn(&Index) -> Vec<NewCell>,
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<(Vec<Appended>, Written), Error> {
        let is_last = lock.len()? == old.end();
        if !is_last {
            // Ids that others have taken are not given again.
            self.largest = self.largest.max(Index::of(&self.read_all(lock)?).largest());
        }
        self.state = Some(old.before.clone());
        let mut draft = self.draft_up_to(lock, old.offset)?;
        let mut cells = cells(&old.before.index);
        // Cells keep the ids under which others may have seen them.
        for (cell, id) in cells.iter_mut().zip(&old.ids) {
            cell.place = NewId::Id(id.clone());
        }
        self.fill(&mut draft, cells, nonce)?;
        if is_last {
            draft.over.clone_from(&old.record);
            self.commit(lock, &draft)?;
        } else {
            let (before, len) = (lock.read(0, old.offset)?, lock.len()?);
            let after = lock.read(old.end(), len)?;
            replace_locked(lock, &[&before, draft.record(), &after].concat(), self.options.force)?;
            self.state = None;
        }
        Ok(self.written(&draft, old.before.clone()))
    }

    fn written(&mut self, draft: &Draft, before: State) -> (Vec<Appended>, Written) {
        let ids = draft.placed.iter().map(|it| it.id.clone()).collect();
        let (offset, record) = (draft.offset(), draft.record().to_vec());
        (self.answers(draft, 0, Vec::new()), Written { before, offset, record, ids })
    }
}
