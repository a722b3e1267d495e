//! Which calls bear an id: built only when a result does not answer a call of a small open pair.
//!
//! The calls of an id form a stack: the newest pair on top, of one pair the first call. Those that are answered are
//! popped when they are met, so that every lookup is O(1) amortised.

use msg_core::Part;

use super::{
    chain::Chain,
    plan::{Call, Plan, Slot, Unit},
};
use crate::{by_id::ById, idx::Idx};

/// The index of calls by id. An id is hashed when its entry is asked for, and not again.
#[derive(Default)]
pub(crate) struct Index<'m> {
    ids: ById<Entry<'m>>,
    /// How many units are in the index, and how many calls.
    indexed: (usize, usize),
}

/// What bears one id.
pub(crate) struct Entry<'m> {
    id: &'m str,
    first_call: Option<Idx<Call>>,
    last_call: Option<Idx<Call>>,
    /// The top of the stack of those that may be pending.
    top: Option<Idx<Call>>,
    /// The newest result of this id that no call bears.
    unlinked: Option<Idx<Slot>>,
}

impl<'m> Index<'m> {
    /// Takes in the pairs that were met since the last time.
    pub(crate) fn catch_up(&mut self, plan: &mut Plan, chain: Chain<'m>) {
        let (units, calls) = self.indexed;
        if units == plan.units.len() {
            return;
        }
        self.ids.reserve(plan.calls.len() - calls);
        for unit in (units..plan.units.len()).map(Idx::at) {
            let parts = &chain.message(plan.units[unit].message).parts;
            for call in plan.calls_of(unit).rev() {
                if let Part::ToolCall(it) = &parts[plan.calls[call].part as usize] {
                    self.add(plan, &it.id, unit, call);
                }
            }
        }
        self.indexed = (plan.units.len(), plan.calls.len());
    }

    /// What bears this id; nothing yet, if it was not met.
    pub(crate) fn entry(&mut self, id: &'m str) -> Idx<Entry<'m>> {
        let hash = self.ids.hash(id);
        match self.ids.find(hash, |it| it.id == id) {
            Some(at) => at,
            None => self.ids.add(hash, Entry::of(id)),
        }
    }

    /// The pending call that a result of this id answers: in the newest pair that has one, the first.
    pub(crate) fn pending(&mut self, plan: &Plan, entry: Idx<Entry<'m>>) -> Option<Idx<Call>> {
        let entry = &mut self.ids[entry];
        while let Some(top) = entry.top.filter(|it| plan.calls[*it].slot.is_some()) {
            entry.top = plan.calls[top].below;
        }
        entry.top
    }

    /// The newest call of this id.
    pub(crate) fn last_call(&self, entry: Idx<Entry<'m>>) -> Option<Idx<Call>> {
        self.ids[entry].last_call
    }

    /// The first call of this id.
    pub(crate) fn first_call(&self, entry: Idx<Entry<'m>>) -> Option<Idx<Call>> {
        self.ids[entry].first_call
    }

    /// The newest unlinked result of this id.
    pub(crate) fn unlinked(&self, entry: Idx<Entry<'m>>) -> Option<Idx<Slot>> {
        self.ids[entry].unlinked
    }

    /// Remembers an unlinked result.
    pub(crate) fn set_unlinked(&mut self, entry: Idx<Entry<'m>>, slot: Idx<Slot>) {
        self.ids[entry].unlinked = Some(slot);
    }

    /// Takes in a call; those of a pair from the last on.
    fn add(&mut self, plan: &mut Plan, id: &'m str, unit: Idx<Unit>, call: Idx<Call>) {
        let entry = self.entry(id);
        let entry = &mut self.ids[entry];
        let is_of_unit = |it: Idx<Call>| plan.calls[it].unit == unit;
        if entry.first_call.is_none_or(is_of_unit) {
            entry.first_call = Some(call);
        }
        if !entry.last_call.is_some_and(is_of_unit) {
            entry.last_call = Some(call);
        }
        plan.calls[call].below = entry.top.replace(call);
    }
}

impl<'m> Entry<'m> {
    fn of(id: &'m str) -> Self {
        Entry { id, first_call: None, last_call: None, top: None, unlinked: None }
    }
}
