//! One writer of a file among others: cells go to its end, whole, once, durable (MF-42 to MF-45).

mod journal;
mod reconcile;

use super::disk::{self, Seen, at, hash, read_range};
use super::keep::{Keep, Kept, recovered};
use super::lock::Lock;
use super::sidecar::Journal;
use super::{Appended, Durability, Mended, Options, absolute};
use crate::append::{joint, last_strong, resolve, verify, writable};
use crate::book::Book;
use crate::cell::Cell;
use crate::document::{Document, Eol, Mode};
use crate::error::Error;
use crate::limits::Limits;
use crate::nonce::Nonce;
use crate::render::{NewCell, render};
use crate::span::Span;
use crate::to_cells::{ToCells, cells_for};
use msg_core::{Code, Diagnostic, Message};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Appends cells to one file. Several may work on the same file, in threads or processes.
#[derive(Debug)]
pub struct Appender {
    real: PathBuf,
    mode: Mode,
    options: Options,
    /// What the file holds, as of `known`; nothing after a failure, then it is read again.
    state: Option<State>,
    keep: Keep,
    /// The largest number ever given as an id, by anybody who kept a sidecar.
    largest: u128,
    mended: Option<Mended>,
    warnings: Vec<Diagnostic>,
}

#[derive(Debug)]
struct State {
    book: Book,
    known: Seen,
    /// Offset of the last strong heading.
    tail: Option<u64>,
    /// Number of cells from there on.
    tail_cells: usize,
    /// Checksum of the bytes from there to the end.
    tail_hash: u64,
}

/// What is about to be written.
struct Draft {
    /// From the last strong heading on: what is there and, from `old` on, the record.
    bytes: Vec<u8>,
    base: u64,
    old: usize,
    placed: Vec<(String, Span)>,
}

impl Appender {
    /// Opens a file, which need not exist. Finishes what a journal asks (MF-44); with `force`
    /// switches a Markdown file on (MF-36).
    ///
    /// Cost: one reading of the file.
    ///
    /// # Errors
    /// [`Error::Refused`] for a file that may not be appended to, [`Error::Locked`], [`Error::Io`].
    pub fn open(path: &Path, options: Options) -> Result<Self, Error> {
        let real = disk::resolved(path)?;
        let mode = Mode::of(path);
        let missing = !real.exists();
        if missing && mode == Mode::Markdown {
            let empty = Document::read(&b""[..], mode, &Limits::default())?;
            let bytes = writable(&empty, options.force)?.unwrap_or_default();
            super::replace::create(&real, &bytes)?;
        }
        let (keep, warnings) = (Keep::default(), Vec::new());
        let mut it =
            Self { real, mode, options, state: None, keep, largest: 0, mended: None, warnings };
        if missing && mode == Mode::MessageFile {
            return Ok(it);
        }
        let mut lock = Lock::take(&it.real, it.options.lock_timeout)?;
        it.finish_journal(&mut lock)?;
        let bytes = it.read_all(&mut lock)?;
        let doc = Document::read(bytes, mode, &Limits::default())?;
        if let Some(new) = writable(&doc, it.options.force)? {
            drop(lock);
            super::replace(&it.real, doc.bytes(), &new, true)?;
            lock = Lock::take(&it.real, it.options.lock_timeout)?;
            let bytes = it.read_all(&mut lock)?;
            it.learn_all(&Document::read(bytes, mode, &Limits::default())?, &lock.file)?;
        } else {
            it.compare_last(&doc, &mut lock);
            it.learn_all(&doc, &lock.file)?;
        }
        it.editors();
        Ok(it)
    }

    /// Appends a cell; when this returns, it is as safe as the options say.
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

    /// Appends the cells of a message by one write: all of them or none.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn append_message(
        &mut self,
        message: &Message,
        options: &ToCells,
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<Vec<Appended>, Error> {
        self.write(|book| cells_for(message, book, options), nonce)
    }

    /// Appends several cells by one write: all of them or none.
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

    /// Looks whether the cells that were written are still there, and appends again what a save has
    /// removed (MF-45). Says what was found.
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
        make: impl FnOnce(&Book) -> Vec<NewCell>,
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<Vec<Appended>, Error> {
        let mut lock = Lock::take(&self.real, self.options.lock_timeout)?;
        let written = self.write_locked(&mut lock, make, nonce);
        if written.is_err() {
            self.state = None;
        }
        written
    }

    fn write_locked(
        &mut self,
        lock: &mut Lock,
        make: impl FnOnce(&Book) -> Vec<NewCell>,
        nonce: &mut dyn FnMut() -> Nonce,
    ) -> Result<Vec<Appended>, Error> {
        self.finish_journal(lock)?;
        let gone = self.catch_up(lock)?;
        let mut draft = self.draft(lock)?;
        if draft.old > 0 && !draft.bytes.ends_with(b"\n") {
            self.mended.get_or_insert(Mended::Newline);
        }
        self.restore(&gone, &mut draft)?;
        let restored = draft.placed.len();
        let Some(state) = self.state.as_mut() else { return Ok(Vec::new()) };
        state.book.reserve(self.largest);
        let cells = make(&state.book);
        for cell in cells {
            let (cell, id, level) = resolve(cell, &state.book, nonce, self.options.force)?;
            let text = render(&cell, &id, level, Eol::of(&draft.bytes))?;
            let written = draft.push(&text, self.mode)?;
            state.book.learn(&written);
            draft.placed.push((id, Span::new(draft.bytes.len() - text.len(), draft.bytes.len())));
        }
        self.commit(lock, &draft)?;
        let warnings = std::mem::take(&mut self.warnings);
        let recovered = gone.into_iter().map(|k| k.id).collect();
        let mut notes = Some((self.mended.take(), recovered, warnings));
        let answer = |(id, span): &(String, Span)| {
            let (mended, recovered, warnings) = notes.take().unwrap_or_default();
            Appended {
                id: id.clone(),
                span: absolute(*span, draft.base),
                mended,
                recovered,
                warnings,
            }
        };
        Ok(draft.placed[restored..].iter().map(answer).collect())
    }

    /// What is there from the last strong heading on.
    fn draft(&mut self, lock: &mut Lock) -> Result<Draft, Error> {
        let tail = self.state.as_ref().and_then(|s| s.tail);
        let len = lock.file.metadata().map_err(at("examine", &self.real))?.len();
        let base = tail.unwrap_or(0);
        let bytes = read_range(&mut lock.file, base, len).map_err(at("read", &self.real))?;
        let old = bytes.len();
        Ok(Draft { bytes, base, old, placed: Vec::new() })
    }

    /// Adds cells that are gone to the record, marked.
    fn restore(&mut self, gone: &[Kept], draft: &mut Draft) -> Result<(), Error> {
        for kept in gone {
            let text = recovered(&kept.text);
            let written = draft.push(&text, self.mode)?;
            if let Some(state) = self.state.as_mut() {
                state.book.learn(&written);
            }
            self.keep.forget(&kept.id);
            draft.placed.push((
                kept.id.clone(),
                Span::new(draft.bytes.len() - text.len(), draft.bytes.len()),
            ));
        }
        Ok(())
    }

    /// Journal, one write, sync, journal cleared (MF-42).
    fn commit(&mut self, lock: &mut Lock, draft: &Draft) -> Result<(), Error> {
        let record = &draft.bytes[draft.old..];
        let offset = draft.base + draft.old as u64;
        let journalled = self.options.durability != Durability::None;
        if let Some(sidecar) = lock.sidecar.as_mut().filter(|_| journalled) {
            let before = before(&mut lock.file, offset).map_err(at("read", &self.real))?;
            let journal = Some(Journal { offset, before, record: record.to_vec() });
            sidecar
                .write(&self.content(journal), false)
                .map_err(at("write the journal of", &self.real))?;
        } else if journalled {
            let code = Code::new("msgfile::no-sidecar");
            self.warnings.push(Diagnostic::warning(
                code,
                "no lock file can be made beside the file, so there is no journal",
            ));
        }
        let written = write_record(&mut lock.file, record);
        if let Err(source) = written {
            // What was written of it is taken back, and the journal with it.
            let _ = lock.file.set_len(offset);
            self.clear_journal(lock);
            return Err(Error::WriteFailed { at: offset, source });
        }
        if self.options.durability == Durability::Sync {
            lock.file.sync_data().map_err(at("sync", &self.real))?;
            if lock.created {
                disk::sync_folder(&self.real);
            }
        }
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

    fn read_all(&self, lock: &mut Lock) -> Result<Vec<u8>, Error> {
        let len = lock.file.metadata().map_err(at("examine", &self.real))?.len();
        read_range(&mut lock.file, 0, len).map_err(at("read", &self.real))
    }

    fn learn_all(&mut self, doc: &Document, file: &File) -> Result<(), Error> {
        let known = Seen::of(&file.metadata().map_err(at("examine", &self.real))?);
        let mut state =
            State { book: Book::of(doc), known, tail: None, tail_cells: 0, tail_hash: 0 };
        if last_strong(doc).is_some() {
            state.set_tail(doc.cells(), doc.bytes(), 0);
        }
        self.state = Some(state);
        Ok(())
    }
}

impl State {
    /// The tail after reading `bytes` that begin at `base`.
    fn set_tail(&mut self, cells: &[Cell], bytes: &[u8], base: u64) {
        let Some(i) = cells.iter().rposition(|c| c.head.strong) else { return };
        let start = cells[i].span.start;
        self.tail = Some(base + start as u64);
        self.tail_cells = cells.len() - i;
        self.tail_hash = hash(&bytes[start..]);
    }
}

impl Draft {
    /// Adds a rendered cell and proves that it reads back (MF-36).
    fn push(&mut self, text: &[u8], mode: Mode) -> Result<Cell, Error> {
        let start = self.bytes.len();
        let join = joint(&self.bytes);
        self.bytes.extend_from_slice(&join);
        let from = self.bytes.len();
        self.bytes.extend_from_slice(text);
        // Behind a cell of ours, only that cell can be concerned.
        let tail = self.placed.last().map_or(0, |(_, span)| span.start);
        let strong = !self.placed.is_empty() || self.base > 0;
        let mode = if strong { Mode::MessageFile } else { mode };
        verify(&self.bytes, tail, start, from, mode)
    }
}

/// One write, and more only where the system takes less than all of it.
fn write_record(file: &mut impl Write, record: &[u8]) -> io::Result<()> {
    file.write_all(record)
}

/// Checksum of what stands before an offset, 4 KiB of it at most.
pub(super) fn before(file: &mut File, offset: u64) -> io::Result<u64> {
    Ok(hash(&read_range(file, offset.saturating_sub(4096), offset)?))
}
