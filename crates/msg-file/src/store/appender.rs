//! An appender: one of several writers of a file. It appends whole cells exactly once and durably (MF-42 to MF-45).
//!
//! ```text
//! lock ─▶ read the tail ─▶ render ─▶ verify ─▶ journal ─▶ write ─▶ sync ─▶ acknowledge
//!                     └ another program wrote or saved: reconcile
//! ```

mod reconcile;

use std::io::Write;
use std::path::{Path, PathBuf};

use msg_core::{Code, Diagnostic, Message};

use super::lock::{Journal, Lock};
use super::{Appended, AppenderOptions, CrashRepair, Durability, absolute};
use crate::append::{AppendedCell, Force, Writer, refuse_other_kinds, writable};
use crate::document::{MessageFile, Mode};
use crate::error::{Error, FileLimits};
use crate::index::Index;
use crate::render::NewCell;
use crate::stamp::Nonce;
use crate::store;
use crate::store::{Seen, at, create, hash, replace_locked};
use crate::syntax;
use crate::syntax::attributes::RawCell;
use crate::to_cells::{ToCells, cells_for};
use reconcile::{Keep, Kept, recovered};

pub use crate::store::appender::reconcile::GrowingMessage;

/// Appends cells to one file. Several appenders, in threads or processes, may work on the same
/// file.
#[derive(Debug)]
pub struct Appender {
    real: PathBuf,
    /// The path as given by the caller. The name of a link decides the kind of file.
    name: PathBuf,
    mode: Mode,
    /// The length of a file that was created only for an append.
    fresh: Option<u64>,
    options: AppenderOptions,
    /// The content of the file as of `known`. After a failure it is `None` and is read again.
    state: Option<State>,
    keep: Keep,
    /// The largest number ever used as an id, by any program with a sidecar.
    largest: u128,
    mended: Option<CrashRepair>,
    warnings: Vec<Diagnostic>,
}

#[derive(Debug, Clone)]
struct State {
    index: Index,
    known: Seen,
    /// Offset of the last strong heading.
    tail: Option<u64>,
    /// Number of cells from there on.
    tail_cells: usize,
    /// Checksum of the bytes from there to the end.
    tail_hash: u64,
}

/// The record to be written.
struct Draft {
    /// The file from the last strong heading on, followed by the record.
    writer: Writer,
    /// The offset of that part in the file.
    base: u64,
    placed: Vec<AppendedCell>,
    /// The bytes that the record replaces: an earlier state of a growing answer at the end of the
    /// file.
    over: Vec<u8>,
}

impl Appender {
    /// Opens a file, which need not exist. Completes an interrupted append that a journal describes
    /// (MF-44); with `force`, switches a Markdown file on (MF-36).
    ///
    /// Cost: reads the file once.
    ///
    /// # Errors
    /// [`Error::Refused`] if the file must not be appended to, [`Error::Locked`], [`Error::Io`].
    pub fn open(path: &Path, options: AppenderOptions) -> Result<Self, Error> {
        let real = store::resolved(path)?;
        let mode = Mode::of(path);
        let missing = !real.exists();
        let mut it = Self::at(real, path, mode, options);
        if missing && mode == Mode::MessageFile {
            return Ok(it);
        }
        if missing {
            it.make_markdown()?;
        }
        let mut lock = Lock::take(&it.real, it.options.lock_timeout)?;
        it.finish_journal(&mut lock)?;
        let mut doc = it.read_all(&mut lock)?;
        if let Some(new) = it.writable(&doc)? {
            replace_locked(&lock, &new, Force::Yes)?;
            doc = MessageFile::read(new, mode, &FileLimits::default())?;
        } else {
            it.compare_last(&doc, &mut lock);
        }
        let meta = std::fs::metadata(&it.real).map_err(at("examine", &it.real))?;
        it.state = Some(State::of(&doc, Seen::of(&meta)));
        it.editors();
        Ok(it)
    }

    fn at(real: PathBuf, name: &Path, mode: Mode, options: AppenderOptions) -> Self {
        Self {
            real,
            name: name.to_owned(),
            mode,
            fresh: None,
            options,
            state: None,
            keep: Keep::default(),
            largest: 0,
            mended: None,
            warnings: Vec::new(),
        }
    }

    /// Creates an activated Markdown file.
    fn make_markdown(&mut self) -> Result<(), Error> {
        let empty = MessageFile::read(&b""[..], self.mode, &FileLimits::default())?;
        let bytes = writable(&empty, self.options.force)?.unwrap_or_default();
        create(&self.real, &bytes)?;
        self.fresh = Some(bytes.len() as u64);
        Ok(())
    }

    /// Whether the file may be appended to. Returns new bytes if it must be activated first.
    fn writable(&self, doc: &MessageFile) -> Result<Option<Vec<u8>>, Error> {
        if self.options.force == Force::No {
            refuse_other_kinds(&self.name, doc)?;
        }
        writable(doc, self.options.force)
    }

    /// Appends a cell. When this returns, the cell is as durable as the options require.
    ///
    /// # Errors
    /// [`Error::Refused`], [`Error::Locked`], [`Error::WriteFailed`], [`Error::Io`]. Nothing is
    /// appended then.
    pub fn append(
        &mut self,
        cell: &NewCell,
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<Appended, Error> {
        let mut all = self.write(|_| vec![cell.clone()], nonce)?;
        Ok(all.pop().expect("because one cell was appended"))
    }

    /// Appends the cells of a message in one write: all of them, or none.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn append_message(
        &mut self,
        message: &Message,
        options: &ToCells,
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<Vec<Appended>, Error> {
        self.write(|index| cells_for(message, index, options), nonce)
    }

    /// Appends several cells in one write: all of them, or none.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn append_all(
        &mut self,
        cells: &[NewCell],
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<Vec<Appended>, Error> {
        self.write(|_| cells.to_vec(), nonce)
    }

    /// Checks whether the cells that were written are still in the file, and appends those again
    /// that a save removed (MF-45). Returns what it found.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn reconcile(&mut self) -> Result<Vec<Diagnostic>, Error> {
        let mut lock = Lock::take(&self.real, self.options.lock_timeout)?;
        self.finish_journal(&mut lock)?;
        let gone = self.catch_up(&mut lock)?;
        if !gone.is_empty() {
            let mut draft = self.draft(&mut lock)?;
            self.restore(&gone, &mut draft)?;
            self.commit(&mut lock, &draft)?;
        }
        Ok(std::mem::take(&mut self.warnings))
    }

    fn write(
        &mut self,
        make: impl FnOnce(&Index) -> Vec<NewCell>,
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<Vec<Appended>, Error> {
        let mut lock = Lock::take(&self.real, self.options.lock_timeout)?;
        let written = self.write_locked(&mut lock, make, nonce);
        if written.is_err() {
            self.state = None;
            lock.take_back(self.fresh);
        }
        written
    }

    fn write_locked(
        &mut self,
        lock: &mut Lock,
        make: impl FnOnce(&Index) -> Vec<NewCell>,
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<Vec<Appended>, Error> {
        self.finish_journal(lock)?;
        let gone = self.catch_up(lock)?;
        let mut draft = self.draft(lock)?;
        if draft.writer.old > 0 && !draft.writer.bytes.ends_with(b"\n") {
            self.mended.get_or_insert(CrashRepair::Newline);
        }
        self.restore(&gone, &mut draft)?;
        let restored = draft.placed.len();
        if let Some(state) = &self.state {
            let cells = make(&state.index);
            self.fill(&mut draft, cells, nonce)?;
        }
        self.commit(lock, &draft)?;
        tracing::debug!(
            path = %self.name.display(),
            cells = draft.placed.len(),
            restored,
            "cells appended"
        );
        let recovered = gone.into_iter().map(|k| k.id).collect();
        Ok(self.answers(&draft, restored, recovered))
    }

    /// Adds cells to the record to be written.
    fn fill(
        &mut self,
        draft: &mut Draft,
        cells: Vec<NewCell>,
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<(), Error> {
        let Some(state) = self.state.as_mut() else { return Ok(()) };
        state.index.reserve(self.largest);
        for cell in cells {
            let placed = draft.writer.add(cell, &mut state.index, nonce, self.options.force)?;
            draft.placed.push(placed);
        }
        Ok(())
    }

    /// The answers about the written cells. The first one contains the reports.
    fn answers(&mut self, draft: &Draft, from: usize, recovered: Vec<String>) -> Vec<Appended> {
        let warnings = std::mem::take(&mut self.warnings);
        let mut notes = Some((self.mended.take(), recovered, warnings));
        let answer = |it: &AppendedCell| {
            let (mended, recovered, warnings) = notes.take().unwrap_or_default();
            let span = absolute(it.span, draft.base);
            Appended { id: it.id.clone(), span, mended, recovered, warnings }
        };
        draft.placed[from..].iter().map(answer).collect()
    }

    /// The part of the file from the last strong heading on.
    fn draft(&mut self, lock: &mut Lock) -> Result<Draft, Error> {
        let len = lock.len()?;
        self.draft_up_to(lock, len)
    }

    fn draft_up_to(&mut self, lock: &mut Lock, end: u64) -> Result<Draft, Error> {
        let tail = self.state.as_ref().and_then(|s| s.tail);
        let base = tail.unwrap_or(0);
        let writer = Writer::after(lock.read(base, end)?, tail.map(|_| 0), self.mode);
        Ok(Draft { writer, base, placed: Vec::new(), over: Vec::new() })
    }

    /// Adds removed cells to the record, marked as recovered.
    fn restore(&mut self, gone: &[Kept], draft: &mut Draft) -> Result<(), Error> {
        for kept in gone {
            let text = recovered(&kept.text);
            let write = |out: &mut Vec<u8>| -> Result<(), Error> {
                out.extend_from_slice(&text);
                Ok(())
            };
            let span = draft.writer.write(write)?;
            if let Some(state) = self.state.as_mut() {
                let read = syntax::piece(&text, Mode::MessageFile);
                read.cells.iter().for_each(|it| state.index.learn_raw(it));
            }
            self.keep.forget(&kept.id);
            draft.placed.push(AppendedCell { id: kept.id.clone(), span });
        }
        Ok(())
    }

    fn read_all(&self, lock: &mut Lock) -> Result<MessageFile, Error> {
        let (found, limit) = (lock.len()?, self.options.max_bytes as u64);
        if found > limit {
            return Err(Error::Limit { found, limit });
        }
        MessageFile::read(lock.read(0, found)?, self.mode, &FileLimits::default())
    }
}

impl State {
    fn of(doc: &MessageFile, known: Seen) -> Self {
        let mut it = Self { index: Index::of(doc), known, tail: None, tail_cells: 0, tail_hash: 0 };
        it.set_tail(doc.cells().iter().map(|it| &it.raw), doc.bytes(), 0);
        it
    }

    /// Sets the tail after reading `bytes`, which begin at `base`.
    fn set_tail<'a>(
        &mut self,
        cells: impl DoubleEndedIterator<Item = &'a RawCell>,
        bytes: &[u8],
        base: u64,
    ) {
        let Some((i, last)) = cells.rev().enumerate().find(|(_, c)| c.at.strong) else { return };
        let start = last.span().start;
        self.tail = Some(base + start as u64);
        self.tail_cells = i + 1;
        self.tail_hash = hash(&bytes[start..]);
    }
}

impl Draft {
    /// The bytes that the file does not contain yet.
    fn record(&self) -> &[u8] {
        &self.writer.bytes[self.writer.old..]
    }

    /// The offset of these bytes in the file.
    fn offset(&self) -> u64 {
        self.base + self.writer.old as u64
    }
}

// One write with its journal: verified cells go to the disk (MF-42, MF-43).

impl Appender {
    /// Journal, one write, sync, journal cleared (MF-42).
    fn commit(&mut self, lock: &mut Lock, draft: &Draft) -> Result<(), Error> {
        let offset = draft.offset();
        self.note_journal(lock, draft)?;
        if !draft.over.is_empty() {
            lock.file.set_len(offset).map_err(at("write", &self.real))?;
        }
        if let Err(failed) = lock.append(draft.record(), offset) {
            // The old bytes are restored, so the journal is not needed.
            let _ = lock.file.write_all(&draft.over);
            self.clear_journal(lock);
            return Err(failed);
        }
        if self.options.durability == Durability::Sync {
            lock.sync()?;
        }
        self.remember(lock, draft)
    }

    /// Records the planned write in the sidecar.
    fn note_journal(&mut self, lock: &mut Lock, draft: &Draft) -> Result<(), Error> {
        if self.options.durability == Durability::None {
            return Ok(());
        }
        let offset = draft.offset();
        let (before, record) = (before(lock, offset)?, draft.record().to_vec());
        let content = self.content(Some(Journal { offset, before, record }));
        let Some(sidecar) = lock.sidecar()? else {
            let what = "cannot create a lock file next to the file: appends have no journal";
            self.warnings.push(Diagnostic::warning(Code::new("msgfile::no-sidecar"), what));
            return Ok(());
        };
        let noted = sidecar.write(&content, false);
        // The overwritten bytes are missing for a moment: the journal must be on disk before that.
        let synced = match draft.over.is_empty() || self.options.durability != Durability::Sync {
            true => Ok(()),
            false => sidecar.file.sync_data(),
        };
        noted.and(synced).map_err(at("write the journal of", &self.real))
    }

    /// Updates the state after a write.
    fn remember(&mut self, lock: &mut Lock, draft: &Draft) -> Result<(), Error> {
        self.fresh = None;
        let bytes = &draft.writer.bytes;
        for AppendedCell { id, span } in &draft.placed {
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

/// The checksum of up to 4 KiB before an offset.
pub(crate) fn before(lock: &mut Lock, offset: u64) -> Result<u64, Error> {
    Ok(hash(&lock.read(offset.saturating_sub(4096), offset)?))
}
