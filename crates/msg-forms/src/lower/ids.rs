//! Ids of calls that are sent: none empty, none twice (OA-8). No look-ahead, so that what was sent
//! before never changes.

use std::collections::BTreeMap;

/// The ids that were given out.
#[derive(Debug, Clone, Default)]
pub(super) struct Ids {
    /// How often each was: more than once where ids go out as they are.
    used: BTreeMap<Box<str>, usize>,
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
            return Given::Generated(self.generate());
        }
        if !self.used.contains_key(id) {
            self.keep(id);
            return Given::Kept;
        }
        Given::Renamed(self.numbered(id, 2))
    }

    /// Gives out a new id, for a call that has none.
    pub(super) fn generate(&mut self) -> String {
        self.numbered("", 1)
    }

    /// Gives out this id as it is, in use or not.
    pub(super) fn keep(&mut self, id: &str) {
        *self.used.entry(id.into()).or_default() += 1;
    }

    /// Takes ids back that were given out last.
    pub(super) fn forget(&mut self, ids: impl IntoIterator<Item = impl AsRef<str>>) {
        for id in ids {
            if let Some(n) = self.used.get_mut(id.as_ref()) {
                *n -= 1;
                if *n == 0 {
                    self.used.remove(id.as_ref());
                }
            }
        }
        self.next.clear();
    }

    fn numbered(&mut self, base: &str, first: usize) -> String {
        let mut number = self.next.get(base).copied().unwrap_or(first);
        let stem = if base.is_empty() { "call" } else { base };
        loop {
            let id = format!("{stem}_{number}");
            number += 1;
            if !self.used.contains_key(id.as_str()) {
                self.keep(&id);
                self.next.insert(base.into(), number);
                return id;
            }
        }
    }
}
