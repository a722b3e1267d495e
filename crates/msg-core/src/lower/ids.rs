//! Ids of calls that are sent: none empty, none twice (OA-8). No look-ahead, so that what was sent
//! before never changes.

use std::collections::{BTreeMap, BTreeSet};

/// The ids that were given out.
#[derive(Debug, Clone, Default)]
pub(super) struct Ids {
    used: BTreeSet<Box<str>>,
    /// Where to go on looking for a free number, for each base; `""` is that of generated ids.
    next: BTreeMap<Box<str>, usize>,
}

/// What an id became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Given {
    /// It was free.
    Kept,
    /// It was empty: a new one.
    Generated(String),
    /// It was in use: the same with a number.
    Renamed(String),
}

impl Ids {
    /// Gives out this id, or the first free one that is made of it.
    pub(super) fn give(&mut self, id: &str) -> Given {
        if id.is_empty() {
            return Given::Generated(self.numbered("", 1));
        }
        if !self.used.contains(id) {
            self.used.insert(id.into());
            return Given::Kept;
        }
        Given::Renamed(self.numbered(id, 2))
    }

    /// Takes ids back that were given out last.
    pub(super) fn forget(&mut self, ids: impl IntoIterator<Item = impl AsRef<str>>) {
        for id in ids {
            self.used.remove(id.as_ref());
        }
        self.next.clear();
    }

    fn numbered(&mut self, base: &str, first: usize) -> String {
        let mut number = self.next.get(base).copied().unwrap_or(first);
        let stem = if base.is_empty() { "call" } else { base };
        loop {
            let id = format!("{stem}_{number}");
            number += 1;
            if !self.used.contains(id.as_str()) {
                self.used.insert(id.as_str().into());
                self.next.insert(base.into(), number);
                return id;
            }
        }
    }
}
