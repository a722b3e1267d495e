//! Which calls bear an id: built only when a result does not answer a call of a small open pair.
//!
//! Calls of one id in one pair form a group; the groups of an id form a stack with the newest pair on
//! top. Groups whose calls are all answered are popped when they are met, so that every lookup is O(1)
//! amortised.

use std::collections::HashMap;

use msg_core::Part;

use super::{
    chain::Chain,
    plan::{Call, Plan, Slot, Unit},
};
use crate::idx::Idx;

/// The index of calls by id. Nothing depends on the order of the map.
#[derive(Default)]
pub(crate) struct Index<'m> {
    ids: HashMap<&'m str, Entry>,
    groups: Vec<Group>,
    /// How many units are in the index.
    indexed: usize,
}

/// What bears one id.
#[derive(Default)]
struct Entry {
    first_call: Option<Idx<Call>>,
    last_call: Option<Idx<Call>>,
    /// The newest group that may have a pending call.
    top: Option<Idx<Group>>,
    /// The newest result of this id that no call bears.
    unlinked: Option<Idx<Slot>>,
}

/// The calls of one id in one pair.
struct Group {
    unit: Idx<Unit>,
    /// The first call that may be pending.
    head: Option<Idx<Call>>,
    tail: Idx<Call>,
    /// The next older group.
    older: Option<Idx<Group>>,
}

impl<'m> Index<'m> {
    /// Takes in the pairs that were met since the last time.
    pub(crate) fn catch_up(&mut self, plan: &mut Plan, chain: Chain<'m>) {
        for unit in (self.indexed..plan.units.len()).map(Idx::at) {
            let parts = &chain.message(plan.units[unit].message).parts;
            for call in plan.calls_of(unit) {
                if let Part::ToolCall(it) = &parts[plan.calls[call].part as usize] {
                    self.add(plan, &it.id, unit, call);
                }
            }
        }
        self.indexed = plan.units.len();
    }

    /// The pending call that a result of this id answers: in the newest pair that has one, the first.
    pub(crate) fn pending(&mut self, plan: &Plan, id: &str) -> Option<Idx<Call>> {
        let entry = self.ids.get_mut(id)?;
        while let Some(top) = entry.top {
            let group = &mut self.groups[top];
            while let Some(head) = group.head {
                if plan.calls[head].slot.is_none() {
                    return Some(head);
                }
                group.head = plan.calls[head].next_same;
            }
            entry.top = group.older;
        }
        None
    }

    /// The newest call of this id.
    pub(crate) fn last_call(&self, id: &str) -> Option<Idx<Call>> {
        self.ids.get(id)?.last_call
    }

    /// The first call of this id.
    pub(crate) fn first_call(&self, id: &str) -> Option<Idx<Call>> {
        self.ids.get(id)?.first_call
    }

    /// The newest unlinked result of this id.
    pub(crate) fn unlinked(&self, id: &str) -> Option<Idx<Slot>> {
        self.ids.get(id)?.unlinked
    }

    /// Remembers an unlinked result.
    pub(crate) fn set_unlinked(&mut self, id: &'m str, slot: Idx<Slot>) {
        self.ids.entry(id).or_default().unlinked = Some(slot);
    }

    fn add(&mut self, plan: &mut Plan, id: &'m str, unit: Idx<Unit>, call: Idx<Call>) {
        let entry = self.ids.entry(id).or_default();
        entry.first_call.get_or_insert(call);
        entry.last_call = Some(call);
        if let Some(top) = entry.top
            && self.groups[top].unit == unit
        {
            let group = &mut self.groups[top];
            plan.calls[group.tail].next_same = Some(call);
            group.tail = call;
            return;
        }
        let older = entry.top.replace(Idx::next_of(&self.groups));
        self.groups.push(Group { unit, head: Some(call), tail: call, older });
    }
}
