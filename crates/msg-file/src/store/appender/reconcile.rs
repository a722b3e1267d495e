//! What others did to the file in between: appended, saved over it, removed cells (MF-45).

use super::{Appender, State};
use crate::document::{CellRef, Document, Mode};
use crate::error::{Error, refuse};
use crate::model::cell::Cell;
use crate::store::Reconcile;
use crate::store::disk::{Seen, hash};
use crate::store::keep::Kept;
use crate::store::lock::Lock;
use crate::syntax;
use msg_core::{Code, Diagnostic};
use std::collections::HashMap;

impl Appender {
    /// Brings the state up to what the file is now; gives the cells that are gone (MF-45).
    pub(super) fn catch_up(&mut self, lock: &mut Lock) -> Result<Vec<Kept>, Error> {
        let seen = Seen::of(&lock.meta()?);
        if let Some(state) = &self.state {
            let same = state.known == seen;
            if self.keep.stand(lock, seen.len, !same)? && (same || self.grown(lock, seen)?) {
                return Ok(Vec::new());
            }
        }
        let doc = self.read_all(lock)?;
        if self.writable(&doc)?.is_some() {
            let what = "the file was changed so that it cannot be appended to; open it again";
            return refuse("msgfile::not-activated", what);
        }
        self.state = Some(State::of(&doc, seen));
        Ok(self.missing(&doc))
    }

    /// Takes in what others have appended behind what is known; false if something else changed.
    pub(super) fn grown(&mut self, lock: &mut Lock, seen: Seen) -> Result<bool, Error> {
        let Some(state) = self.state.as_mut() else { return Ok(false) };
        let Some(tail) =
            state.tail.filter(|_| state.known.file == seen.file && state.known.len <= seen.len)
        else {
            return Ok(false);
        };
        let bytes = lock.read(tail, seen.len)?;
        let old = (state.known.len - tail) as usize;
        if hash(&bytes[..old]) != state.tail_hash {
            return Ok(false);
        }
        let it = syntax::piece(&bytes, Mode::MessageFile);
        let first_new = it.cells.partition_point(|c| c.span().start < old);
        if first_new != state.tail_cells {
            return Ok(false);
        }
        it.cells[first_new..].iter().for_each(|c| state.index.learn_raw(c));
        state.set_tail(it.cells.iter(), &bytes, tail);
        state.known = seen;
        Ok(true)
    }

    /// Cells of ours that are in no place any more. What is there but different is the person's now.
    pub(super) fn missing(&mut self, doc: &Document) -> Vec<Kept> {
        let ids: HashMap<String, &Cell> =
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
    pub(super) fn compare_last(&mut self, doc: &Document, lock: &mut Lock) {
        let Some(last) = lock.found.as_mut().and_then(|s| s.read().last) else { return };
        let (start, end) = (last.offset as usize, (last.offset + last.len) as usize);
        let stands = doc.bytes().get(start..end).is_some_and(|b| hash(b) == last.hash);
        if !stands && doc.cell(&CellRef::Id(last.id.clone())).is_none() {
            let what =
                format!("the cell {} that was appended last is no longer in the file", last.id);
            self.warnings.push(Diagnostic::warning(Code::new("msgfile::cell-lost"), what));
        }
    }

    /// Reports files that editors leave while they have the file open (MF-45).
    pub(super) fn editors(&mut self) {
        let name = self.real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for sign in [format!(".{name}.swp"), format!(".#{name}"), format!("{name}~")] {
            if self.real.with_file_name(&sign).symlink_metadata().is_ok() {
                let what = format!("{sign} is there: an editor may have the file open");
                self.warnings.push(Diagnostic::info(Code::new("msgfile::editor-file"), what));
            }
        }
    }
}
