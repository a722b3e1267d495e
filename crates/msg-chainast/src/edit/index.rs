//! Where the calls and results of an id stand, for edits and lookups (CA-43, CA-44).
//!
//! Built when it is first asked for, kept right by the edits that follow, and forgotten by those that
//! move calls.

use std::{collections::HashMap, sync::OnceLock};

use super::places::Places;
use crate::tree::{BodyPair, Links, Section};

/// The index of a tree. A copy of a tree builds its own.
#[derive(Debug, Default)]
pub(crate) struct EditIndex(OnceLock<Ids>);

/// Places by id. Nothing depends on the order of the map.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    entry_of: HashMap<Box<str>, u32>,
    entries: Vec<Entry>,
}

#[derive(Debug, Default)]
pub(crate) struct Entry {
    /// All results of this id, in chain order.
    results: Places<ResultPlace>,
    /// Calls without a result: pairs in chain order, the calls of a pair in reverse, so that the last is
    /// the one that the next result answers.
    pending: Places<CallPlace>,
    /// The newest call that has a result, and the result.
    answered: Option<(CallPlace, ResultPlace)>,
}

/// A call: section, pair, part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallPlace {
    pub(crate) section: u32,
    pub(crate) pair: u32,
    pub(crate) part: u32,
}

/// A result: section, pair, tool message, part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ResultPlace {
    pub(crate) section: u32,
    pub(crate) pair: u32,
    pub(crate) message: u32,
    pub(crate) part: u32,
}

/// Where a new result of an id goes.
pub(crate) enum Target {
    /// To this call; the number is for [`Ids::answer`].
    Pending(CallPlace, u32),
    Answered(ResultPlace),
}

impl EditIndex {
    /// The index of these sections, built if it is not there yet.
    pub(crate) fn of(&self, sections: &[Section]) -> &Ids {
        self.0.get_or_init(|| Ids::of(sections))
    }

    /// As [`EditIndex::of`], to change.
    pub(crate) fn of_mut(&mut self, sections: &[Section]) -> &mut Ids {
        if self.0.get().is_none() {
            self.0 = OnceLock::from(Ids::of(sections));
        }
        self.0.get_mut().expect("because it was just built")
    }

    /// The index, if it was built.
    pub(crate) fn built(&mut self) -> Option<&mut Ids> {
        self.0.get_mut()
    }

    /// Forgets everything: calls have moved.
    pub(crate) fn reset(&mut self) {
        self.0 = OnceLock::new();
    }
}

impl Clone for EditIndex {
    fn clone(&self) -> Self {
        EditIndex::default()
    }
}

impl Ids {
    fn of(sections: &[Section]) -> Self {
        let pairs = || sections.iter().flat_map(Section::body);
        let n_calls = pairs().map(|it| it.assistant().tool_calls().count()).sum();
        let mut ids =
            Ids { entry_of: HashMap::with_capacity(n_calls), entries: Vec::with_capacity(n_calls) };
        for (section, it) in sections.iter().enumerate() {
            for (pair, it) in it.body().iter().enumerate() {
                ids.add_pair(section as u32, pair as u32, it);
            }
        }
        ids
    }

    /// The places of the results of an id, in chain order.
    pub(crate) fn results(&self, id: &str) -> &[ResultPlace] {
        let entry = self.entry_of.get(id).map(|it| &self.entries[*it as usize]);
        entry.map_or(&[], |it| it.results.as_slice())
    }

    /// Where a new result of this id goes.
    pub(crate) fn target(&self, id: &str) -> Option<Target> {
        let at = *self.entry_of.get(id)?;
        let entry = &self.entries[at as usize];
        let pending = entry.pending.as_slice().last().map(|it| Target::Pending(*it, at));
        pending.or_else(|| entry.answered.map(|it| Target::Answered(it.1)))
    }

    /// Remembers that the pending call on which [`Ids::target`] fell has this result now.
    pub(crate) fn answer(&mut self, entry: u32, result: ResultPlace) {
        let entry = &mut self.entries[entry as usize];
        if let Some(call) = entry.pending.pop() {
            entry.set_answered(call, result);
        }
        entry.results.insert(result, |it| *it);
    }

    /// Takes in a pair that was added to a section.
    pub(crate) fn add_pair(&mut self, section: u32, pair: u32, it: &BodyPair) {
        let calls = it.calls();
        let mut links = Links::new(&calls);
        let mut answered = vec![None; calls.len()];
        for ((message, part), result) in it.results() {
            let place = ResultPlace { section, pair, message, part };
            self.entry(&result.call_id).results.insert(place, |it| *it);
            if let Some(call) = links.take(&calls, &result.call_id) {
                answered[call] = Some(place);
            }
        }
        for (call, result) in calls.iter().zip(answered).rev() {
            let place = CallPlace { section, pair, part: call.part() as u32 };
            let entry = self.entry(&call.id);
            match result {
                Some(result) => entry.set_answered(place, result),
                None => entry
                    .pending
                    .insert(place, |it| (it.section, it.pair, std::cmp::Reverse(it.part))),
            }
        }
    }

    fn entry(&mut self, id: &str) -> &mut Entry {
        let at = match self.entry_of.get(id) {
            Some(at) => *at as usize,
            None => {
                let at = self.entries.len();
                self.entry_of.insert(id.into(), at as u32);
                self.entries.push(Entry::default());
                at
            }
        };
        &mut self.entries[at]
    }
}

impl Entry {
    fn set_answered(&mut self, call: CallPlace, result: ResultPlace) {
        if self.answered.is_none_or(|it| it.0 <= call) {
            self.answered = Some((call, result));
        }
    }
}
