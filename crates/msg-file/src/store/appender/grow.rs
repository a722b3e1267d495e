//! An answer that is on disk while it comes (MF-42): its cells are written as far as they are known, and
//! written over as more comes.
//!
//! ```text
//! … question │ joint │ ## %%% [^4] … finish_reason="interrupted" … The cap     ◀─ after the first words
//! … question │ joint │ ## %%% [^4] … finish_reason="stop" … The capital is Paris.   ◀─ at the end
//!            ▲ offset: all before it is never touched
//! ```
//!
//! Whatever kills the process leaves the last state as a cell that says it was interrupted. Whoever
//! writes to the file in between is respected: what stands behind the cells stays behind them, and
//! cells that a person changed are left alone.

use super::{Appender, Draft, State};
use crate::document::Document;
use crate::error::Error;
use crate::index::Index;
use crate::limits::Limits;
use crate::nonce::Nonce;
use crate::render::{NewCell, Place};
use crate::span::Span;
use crate::store::Appended;
use crate::store::disk::{at, read_range};
use crate::store::lock::Lock;
use crate::to_cells::{ToCells, cells_for};
use msg_core::Message;

/// A message that is being written; see [`Appender::grow_message`].
#[derive(Debug, Default)]
pub struct Growing {
    written: Option<Box<Written>>,
}

/// The cells as they were written last.
#[derive(Debug)]
struct Written {
    /// What the file held before them.
    before: State,
    offset: u64,
    /// With the empty line that joins them to what stands before.
    record: Vec<u8>,
    ids: Vec<String>,
}

impl Written {
    fn end(&self) -> u64 {
        self.offset + self.record.len() as u64
    }
}

/// How often replacing the file is tried again while others write to it.
const REPLACE_TRIES: usize = 8;

impl Appender {
    /// Writes a message so far as it is known, in the place of what `growing` wrote of it before.
    ///
    /// The first call appends. A later one writes over the cells; if somebody else has written behind
    /// them, the file is replaced as a whole, and if somebody changed or removed them, what they did
    /// stands, and the message is appended again, as a new one.
    ///
    /// Cost: the size of the message; where others have written behind it, that of the file.
    ///
    /// # Errors
    /// As [`Self::append`]; what was written before is in the file then.
    pub fn grow_message(
        &mut self,
        growing: &mut Growing,
        message: &Message,
        options: &ToCells,
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<Vec<Appended>, Error> {
        for _ in 0..REPLACE_TRIES {
            match self.grow_once(growing, (message, options), nonce) {
                // Somebody wrote between the reading and the replacing.
                Err(Error::ChangedOnDisk) => {}
                done => return done,
            }
        }
        Err(Error::ChangedOnDisk)
    }

    fn grow_once(
        &mut self,
        growing: &mut Growing,
        what: (&Message, &ToCells),
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<Vec<Appended>, Error> {
        let mut lock = Lock::take(&self.real, self.options.lock_timeout)?;
        match self.grow_locked(&mut lock, growing.written.as_deref(), what, nonce) {
            Ok(Grown::Done { done, written }) => {
                growing.written = Some(written);
                Ok(done)
            }
            Ok(Grown::Replace { seen, new, done }) => {
                drop(lock);
                super::super::replace(&self.real, &seen, &new, self.options.force)?;
                growing.written = Some(Box::new(self.found_again(&new, &done)?));
                Ok(done)
            }
            Err(error) => {
                self.state = None;
                lock.take_back(self.fresh);
                Err(error)
            }
        }
    }

    fn grow_locked(
        &mut self,
        lock: &mut Lock,
        old: Option<&Written>,
        what: (&Message, &ToCells),
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<Grown, Error> {
        self.finish_journal(lock)?;
        let Some(old) = old else { return self.begin(lock, what, nonce) };
        let len = lock.file.metadata().map_err(at("examine", &self.real))?.len();
        let there = len >= old.end() && self.stands(lock, old)?;
        self.state = None;
        old.ids.iter().for_each(|id| self.keep.forget(id));
        match there {
            true if len == old.end() => self.write_over(lock, old, what, nonce),
            true => self.in_the_middle(lock, old, what, nonce),
            false => self.begin(lock, what, nonce),
        }
    }

    /// Appends the cells for the first time.
    fn begin(
        &mut self,
        lock: &mut Lock,
        (message, options): (&Message, &ToCells),
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<Grown, Error> {
        let gone = self.catch_up(lock)?;
        let mut draft = self.draft(lock)?;
        if !gone.is_empty() {
            self.restore(&gone, &mut draft)?;
            self.commit(lock, &draft)?;
            draft = self.draft(lock)?;
        }
        let before = self.state.clone().expect("because it was brought up to the file");
        let cells = cells_for(message, &before.index, options);
        self.write_cells(lock, draft, cells, before, nonce)
    }

    /// Writes the cells over their earlier state, at the end of the file.
    fn write_over(
        &mut self,
        lock: &mut Lock,
        old: &Written,
        (message, options): (&Message, &ToCells),
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<Grown, Error> {
        self.state = Some(old.before.clone());
        let mut draft = self.draft_up_to(lock, old.offset)?;
        draft.over = old.record.clone();
        let cells = with_ids(cells_for(message, &old.before.index, options), &old.ids);
        self.write_cells(lock, draft, cells, old.before.clone(), nonce)
    }

    fn write_cells(
        &mut self,
        lock: &mut Lock,
        mut draft: Draft,
        cells: Vec<NewCell>,
        before: State,
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<Grown, Error> {
        self.fill(&mut draft, cells, nonce)?;
        self.commit(lock, &draft)?;
        let written = Box::new(Written {
            before,
            offset: draft.base + draft.old as u64,
            record: draft.bytes[draft.old..].to_vec(),
            ids: draft.placed.iter().map(|it| it.0.clone()).collect(),
        });
        Ok(Grown::Done { done: self.answers(&draft, 0, Vec::new()), written })
    }

    /// Whether the cells are still there as they were written.
    fn stands(&self, lock: &mut Lock, old: &Written) -> Result<bool, Error> {
        let now = read_range(&mut lock.file, old.offset, old.end());
        Ok(now.map_err(at("read", &self.real))? == old.record)
    }

    /// The file with the cells written over while others stand behind them.
    fn in_the_middle(
        &mut self,
        lock: &mut Lock,
        old: &Written,
        (message, options): (&Message, &ToCells),
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<Grown, Error> {
        let seen = self.read_all(lock)?;
        let whole = Document::read(seen.as_slice(), self.mode, &Limits::default())?;
        let largest = Index::of(&whole).largest();
        self.state = Some(old.before.clone());
        self.largest = self.largest.max(largest);
        let cells = with_ids(cells_for(message, &old.before.index, options), &old.ids);
        let mut draft = self.draft_up_to(lock, old.offset)?;
        self.fill(&mut draft, cells, nonce)?;
        let mut new = seen[..old.offset as usize].to_vec();
        new.extend_from_slice(&draft.bytes[draft.old..]);
        new.extend_from_slice(&seen[old.end() as usize..]);
        self.state = None;
        Ok(Grown::Replace { seen, new, done: self.answers(&draft, 0, Vec::new()) })
    }

    /// Where the cells stand after the file was replaced.
    fn found_again(&self, new: &[u8], done: &[Appended]) -> Result<Written, Error> {
        let (start, end) =
            (done.first().map_or(0, |it| it.span.start), done.last().map_or(0, |it| it.span.end));
        let before = Document::read(&new[..start as usize], self.mode, &Limits::default())?;
        let state = State::of(&before, self.seen()?);
        let record = Span::new(start as usize, end as usize).of(new).to_vec();
        Ok(Written {
            before: state,
            offset: start,
            record,
            ids: done.iter().map(|it| it.id.clone()).collect(),
        })
    }

    fn seen(&self) -> Result<super::Seen, Error> {
        let meta = std::fs::metadata(&self.real).map_err(at("examine", &self.real))?;
        Ok(super::Seen::of(&meta))
    }
}

/// What came of growing.
enum Grown {
    Done {
        done: Vec<Appended>,
        written: Box<Written>,
    },
    /// The file has to be replaced, once the lock is free.
    Replace {
        seen: Vec<u8>,
        new: Vec<u8>,
        done: Vec<Appended>,
    },
}

/// Cells keep the ids under which others may have seen them.
fn with_ids(mut cells: Vec<NewCell>, ids: &[String]) -> Vec<NewCell> {
    for (cell, id) in cells.iter_mut().zip(ids) {
        cell.place = Place::Id(id.clone());
    }
    cells
}
