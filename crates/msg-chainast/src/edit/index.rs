//! Where the calls and results of an id are, for edits and lookups (CA-43, CA-44).
//!
//! Built when it is first asked for, kept right by the edits that follow, and forgotten by those that
//! move calls. It owns no id: it goes by their hashes, and a lookup compares with the id in the tree, so that a
//! call costs a place of 24 bytes and a number in the table.
//!
//! ```text
//! "call_1" ─▶ entry 7 (pending at section 0, pair 2, part 1)
//! ```

use std::sync::OnceLock;

use msg_core::ToolResult;

use super::Entry;
use crate::{
    idx::{ById, Idx},
    tree::{BodyPair, CallRef, Links, Section},
};

/// The index of a tree. A copy of a tree builds its own.
#[derive(Debug, Default)]
pub(crate) struct EditIndex(OnceLock<Ids>);

/// Places by id.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    entries: ById<Entry>,
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
    Pending(CallPlace, Idx<Entry>),
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

    /// Takes in a pair that was added to a section, if the index was built.
    pub(crate) fn add_pair(&mut self, sections: &[Section], section: usize, pair: usize) {
        if let Some(ids) = self.0.get_mut() {
            ids.add_pair(sections, (section as u32, pair as u32), &mut Scratch::default());
        }
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

/// Lists that are used again for each pair.
#[derive(Default)]
struct Scratch<'a> {
    calls: Vec<CallRef<'a>>,
    answered: Vec<bool>,
}

impl Ids {
    fn of(sections: &[Section]) -> Self {
        let pairs = || sections.iter().flat_map(Section::body);
        let n_calls = pairs().map(|it| it.assistant().tool_calls().count()).sum();
        let mut ids = Ids::default();
        ids.entries.reserve(n_calls);
        let mut scratch = Scratch::default();
        for (section, it) in sections.iter().enumerate() {
            for pair in 0..it.body().len() {
                ids.add_pair(sections, (section as u32, pair as u32), &mut scratch);
            }
        }
        ids
    }

    /// The places of the results of an id, in chain order.
    pub(crate) fn results<'s>(
        &'s self,
        sections: &[Section],
        id: &str,
    ) -> impl Iterator<Item = ResultPlace> + use<'s> {
        let entry = self.find(sections, id).map(|at| &self.entries[at]);
        entry.into_iter().flat_map(Entry::results)
    }

    /// Where a new result of this id goes.
    pub(crate) fn target(&self, sections: &[Section], id: &str) -> Option<Target> {
        let at = self.find(sections, id)?;
        let entry = &self.entries[at];
        let pending = entry.next_pending().map(|it| Target::Pending(it, at));
        pending.or_else(|| entry.last_answer().map(Target::Answered))
    }

    /// Remembers that the pending call on which [`Ids::target`] fell has this result now.
    pub(crate) fn answer(&mut self, entry: Idx<Entry>, result: ResultPlace) {
        self.entries[entry].answer(result);
    }

    /// Takes in a pair.
    fn add_pair<'a>(
        &mut self,
        sections: &'a [Section],
        (section, pair): (u32, u32),
        scratch: &mut Scratch<'a>,
    ) {
        let it = &sections[section as usize].body()[pair as usize];
        let Scratch { calls, answered } = scratch;
        calls.clear();
        calls.extend(it.calls());
        answered.clear();
        answered.resize(calls.len(), false);
        let place = |call: &CallRef<'_>| CallPlace { section, pair, part: call.part() as u32 };
        let mut links = Links::new(calls);
        for ((message, part), result) in it.results() {
            let stands = ResultPlace { section, pair, message, part };
            let call = links.take(calls, &result.call_id);
            let entry = match call {
                Some(call) => {
                    answered[call] = true;
                    Entry::answered(place(&calls[call]), stands)
                }
                None => Entry::unmatched(stands),
            };
            self.add(sections, &result.call_id, entry);
        }
        // Of one id in one pair, the last to be added is the next to be answered: the first call.
        for (call, answered) in calls.iter().zip(answered).rev() {
            if !*answered {
                self.add(sections, &call.id, Entry::pending(place(call)));
            }
        }
    }

    /// Adds what is known of an id to what was known before.
    fn add(&mut self, sections: &[Section], id: &str, entry: Entry) {
        let hash = self.entries.hash(id);
        match self.entries.find(hash, |it| id_of(sections, it) == id) {
            Some(at) => self.entries[at].join(entry),
            None => {
                self.entries.add(hash, entry);
            }
        }
    }

    fn find(&self, sections: &[Section], id: &str) -> Option<Idx<Entry>> {
        self.entries.find(self.entries.hash(id), |it| id_of(sections, it) == id)
    }
}

/// The id that an entry is about, as a call or a result in the tree has it.
fn id_of<'a>(sections: &'a [Section], entry: &Entry) -> &'a str {
    let pair = |section: u32, pair: u32| &sections[section as usize].body()[pair as usize];
    let (call, result) = entry.bearer();
    let of_call = call.and_then(|at| {
        let part = pair(at.section, at.pair).assistant().parts.get(at.part as usize)?;
        Some(part.as_tool_call()?.id.as_str())
    });
    let of_result = || {
        let at = result?;
        Some(result_at(pair(at.section, at.pair), at)?.call_id.as_str())
    };
    of_call.or_else(of_result).unwrap_or_default()
}

/// The result at a place of this pair.
pub(super) fn result_at(pair: &BodyPair, at: ResultPlace) -> Option<&ToolResult> {
    pair.tool_messages().get(at.message as usize)?.parts.get(at.part as usize)?.as_tool_result()
}
