//! One writer of a file among others: cells go to its end, whole, once, durable (MF-42 to MF-45).

use super::disk::{self, Seen, at, hash, read_range};
use super::keep::{Keep, Kept, recovered};
use super::lock::Lock;
use super::sidecar::{Content, Journal, Last, Sidecar};
use super::{Appended, Durability, Mended, Options, Reconcile, absolute};
use crate::append::{joint, last_strong, resolve, verify, writable};
use crate::book::Book;
use crate::cell::Cell;
use crate::diag::Findings;
use crate::document::{Document, Eol, Mode};
use crate::error::Error;
use crate::layout::layout;
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

    /// What the sidecar is to say.
    fn content(&self, journal: Option<Journal>) -> Content {
        let largest = self.state.as_ref().map_or(0, |s| s.book.largest());
        Content { largest, last: self.keep.last(), journal }
    }

    fn clear_journal(&mut self, lock: &mut Lock) {
        let journalled = self.options.durability != Durability::None;
        if let Some(sidecar) = lock.sidecar.as_mut().filter(|_| journalled) {
            // A journal that stays is found done or redone by the next append.
            let _ = sidecar.write(&self.content(None), true);
        }
    }

    /// Finishes an append that died (MF-44).
    fn finish_journal(&mut self, lock: &mut Lock) -> Result<(), Error> {
        let Some(content) = lock.sidecar.as_mut().map(Sidecar::read) else { return Ok(()) };
        self.largest = self.largest.max(content.largest);
        let Content { largest, journal: Some(journal), last } = content else { return Ok(()) };
        let len = lock.file.metadata().map_err(at("examine", &self.real))?.len();
        let end = journal.offset + journal.record.len() as u64;
        let there = if (journal.offset..=end).contains(&len) {
            let same = before(&mut lock.file, journal.offset).map_err(at("read", &self.real))?
                == journal.before;
            let part =
                read_range(&mut lock.file, journal.offset, len).map_err(at("read", &self.real))?;
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
        if let Some(sidecar) = lock.sidecar.as_mut() {
            let last = last_of(&journal).or(last);
            sidecar
                .write(&Content { largest, last, journal: None }, true)
                .map_err(at("write the journal of", &self.real))?;
        }
        Ok(())
    }

    fn append_raw(&self, lock: &mut Lock, bytes: &[u8], len: u64) -> Result<(), Error> {
        if let Err(source) = write_record(&mut lock.file, bytes) {
            let _ = lock.file.set_len(len);
            return Err(Error::WriteFailed { at: len, source });
        }
        if self.options.durability == Durability::Sync {
            lock.file.sync_data().map_err(at("sync", &self.real))?;
        }
        Ok(())
    }

    /// The file is not what the journal expects: cells that are in no place are appended again.
    fn recover(&mut self, lock: &mut Lock, journal: &Journal) -> Result<(), Error> {
        let bytes = self.read_all(lock)?;
        let doc = Document::read(bytes, self.mode, &Limits::default())?;
        let book = Book::of(&doc);
        let record =
            Document::read(journal.record.as_slice(), Mode::MessageFile, &Limits::default())?;
        let lost: Vec<&Cell> =
            record.cells().iter().filter(|c| c.id().is_some_and(|id| !book.has_id(&id))).collect();
        if lost.is_empty() || writable(&doc, self.options.force)?.is_some() {
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

    /// Brings the state up to what the file is now; gives the cells that are gone (MF-45).
    fn catch_up(&mut self, lock: &mut Lock) -> Result<Vec<Kept>, Error> {
        let meta = lock.file.metadata().map_err(at("examine", &self.real))?;
        let seen = Seen::of(&meta);
        if let Some(state) = &self.state {
            let same = state.known == seen;
            let stands =
                self.keep.stand(&mut lock.file, seen.len, !same).map_err(at("read", &self.real))?;
            if stands && (same || self.grown(lock, seen)?) {
                return Ok(Vec::new());
            }
        }
        let bytes = self.read_all(lock)?;
        let doc = Document::read(bytes, self.mode, &Limits::default())?;
        if writable(&doc, self.options.force)?.is_some() {
            let what = "the file was changed so that it cannot be appended to; open it again";
            return Err(Error::refused("msgfile::not-activated", what));
        }
        self.learn_all(&doc, &lock.file)?;
        Ok(self.missing(&doc))
    }

    /// Takes in what others have appended behind what is known; false if something else changed.
    fn grown(&mut self, lock: &mut Lock, seen: Seen) -> Result<bool, Error> {
        let Some(state) = self.state.as_mut() else { return Ok(false) };
        let Some(tail) =
            state.tail.filter(|_| state.known.file == seen.file && state.known.len <= seen.len)
        else {
            return Ok(false);
        };
        let bytes = read_range(&mut lock.file, tail, seen.len).map_err(at("read", &self.real))?;
        let old = (state.known.len - tail) as usize;
        if hash(&bytes[..old]) != state.tail_hash {
            return Ok(false);
        }
        let it = layout(
            &bytes.as_slice().into(),
            Mode::MessageFile,
            &Limits::default(),
            &mut Findings::default(),
        );
        let first_new = it.cells.partition_point(|c| c.span.start < old);
        if first_new != state.tail_cells {
            return Ok(false);
        }
        it.cells[first_new..].iter().for_each(|c| state.book.learn(c));
        state.set_tail(&it.cells, &bytes, tail);
        state.known = seen;
        Ok(true)
    }

    /// Cells of ours that are in no place any more. What is there but different is the person's now.
    fn missing(&mut self, doc: &Document) -> Vec<Kept> {
        let ids: std::collections::HashMap<String, &Cell> =
            doc.cells().iter().filter_map(|c| Some((c.id()?.into_owned(), c))).collect();
        let mut gone = Vec::new();
        let mut theirs = Vec::new();
        for kept in &mut self.keep.cells {
            match ids.get(&kept.id) {
                None => gone.push(kept.clone()),
                Some(cell) if cell.span().of(doc.bytes()).starts_with(&kept.text) => {
                    let start = cell.span().start as u64;
                    kept.span = start..start + kept.text.len() as u64;
                }
                Some(_) => theirs.push(kept.id.clone()),
            }
        }
        theirs.iter().for_each(|id| self.keep.forget(id));
        let lost = |id: &str| {
            let what = format!("the cell {id} was removed by a save and is no longer remembered");
            Diagnostic::warning(Code::new("msgfile::cell-lost"), what)
        };
        let (there, lost_ids): (Vec<String>, Vec<String>) =
            std::mem::take(&mut self.keep.dropped).into_iter().partition(|id| ids.contains_key(id));
        self.keep.dropped = there;
        self.warnings.extend(lost_ids.iter().map(|id| lost(id)));
        if self.options.reconcile == Reconcile::Report {
            self.warnings.extend(gone.iter().map(|k| lost(&k.id)));
            gone.drain(..).for_each(|k| self.keep.forget(&k.id));
        }
        gone
    }

    /// Reports that the last cell of the process before is gone.
    fn compare_last(&mut self, doc: &Document, lock: &mut Lock) {
        let Some(last) = lock.sidecar.as_mut().and_then(|s| s.read().last) else { return };
        let (start, end) = (last.offset as usize, (last.offset + last.len) as usize);
        let stands = doc.bytes().get(start..end).is_some_and(|b| hash(b) == last.hash);
        if !stands && doc.cell(&crate::document::CellRef::Id(last.id.clone())).is_none() {
            let what =
                format!("the cell {} that was appended last is no longer in the file", last.id);
            self.warnings.push(Diagnostic::warning(Code::new("msgfile::cell-lost"), what));
        }
    }

    /// Reports files that editors leave while they have the file open (MF-45).
    fn editors(&mut self) {
        let name = self.real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for sign in [format!(".{name}.swp"), format!(".#{name}"), format!("{name}~")] {
            if self.real.with_file_name(&sign).symlink_metadata().is_ok() {
                let what = format!("{sign} is there: an editor may have the file open");
                self.warnings.push(Diagnostic::info(Code::new("msgfile::editor-file"), what));
            }
        }
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

/// The last cell of a record, for the sidecar.
fn last_of(journal: &Journal) -> Option<Last> {
    let source: std::sync::Arc<[u8]> = journal.record.as_slice().into();
    let it = layout(&source, Mode::MessageFile, &Limits::default(), &mut Findings::default());
    let cell = it.cells.last()?;
    let text = cell.span.of(&journal.record);
    let offset = journal.offset + cell.span.start as u64;
    Some(Last { id: cell.id()?.into_owned(), offset, len: text.len() as u64, hash: hash(text) })
}
