//! Which calls bear an id: built only when a result does not answer a call of a small open pair.
//!
//! Calls of one id in one pair form a group; the groups of an id form a stack with the newest pair on
//! top. Groups whose calls are all answered are popped when they are met, so that every lookup is O(1)
//! amortised.

use hashbrown::HashMap;
use msg_core::Part;

use super::{
    chain::Chain,
    plan::{NONE, Plan},
};

/// The index of calls by id. Nothing depends on the order of the map.
#[derive(Default)]
pub(crate) struct Index<'m> {
    ids: HashMap<&'m str, Entry>,
    groups: Vec<Group>,
    /// How many units are in the index.
    indexed: usize,
}

struct Entry {
    first_call: u32,
    last_call: u32,
    /// The newest group that may have a pending call.
    top: u32,
    /// The newest result of this id that no call bears.
    unlinked: u32,
}

struct Group {
    unit: u32,
    /// The first call that may be pending.
    head: u32,
    tail: u32,
    /// The next older group.
    older: u32,
}

impl<'m> Index<'m> {
    /// Takes in the pairs that were walked since the last time.
    pub(crate) fn catch_up(&mut self, plan: &mut Plan, chain: Chain<'m>) {
        for unit in self.indexed..plan.units.len() {
            let parts = &chain.message(plan.units[unit].message).parts;
            for call in plan.calls_of(unit as u32) {
                if let Part::ToolCall(it) = &parts[plan.calls[call as usize].part as usize] {
                    self.add(plan, &it.id, unit as u32, call);
                }
            }
        }
        self.indexed = plan.units.len();
    }

    /// The pending call that a result of this id answers: in the newest pair that has one, the first.
    pub(crate) fn pending(&mut self, plan: &Plan, id: &str) -> Option<u32> {
        let entry = self.ids.get_mut(id)?;
        while entry.top != NONE {
            let group = &mut self.groups[entry.top as usize];
            while group.head != NONE && plan.calls[group.head as usize].slot != NONE {
                group.head = plan.calls[group.head as usize].next_same;
            }
            if group.head != NONE {
                return Some(group.head);
            }
            entry.top = group.older;
        }
        None
    }

    /// The newest call of this id.
    pub(crate) fn last_call(&self, id: &str) -> Option<u32> {
        self.ids.get(id).map(|it| it.last_call).filter(|it| *it != NONE)
    }

    /// The first call of this id.
    pub(crate) fn first_call(&self, id: &str) -> Option<u32> {
        self.ids.get(id).map(|it| it.first_call).filter(|it| *it != NONE)
    }

    /// The newest unlinked result of this id.
    pub(crate) fn unlinked(&self, id: &str) -> Option<u32> {
        self.ids.get(id).map(|it| it.unlinked).filter(|it| *it != NONE)
    }

    /// Remembers an unlinked result.
    pub(crate) fn set_unlinked(&mut self, id: &'m str, slot: u32) {
        self.ids.entry(id).or_insert_with(Entry::empty).unlinked = slot;
    }

    fn add(&mut self, plan: &mut Plan, id: &'m str, unit: u32, call: u32) {
        let entry = self.ids.entry(id).or_insert_with(Entry::empty);
        if entry.first_call == NONE {
            entry.first_call = call;
        }
        entry.last_call = call;
        match self.groups.get_mut(entry.top as usize) {
            Some(group) if group.unit == unit => {
                plan.calls[group.tail as usize].next_same = call;
                group.tail = call;
            }
            _ => {
                let older = std::mem::replace(&mut entry.top, self.groups.len() as u32);
                self.groups.push(Group { unit, head: call, tail: call, older });
            }
        }
    }
}

impl Entry {
    fn empty() -> Self {
        Entry { first_call: NONE, last_call: NONE, top: NONE, unlinked: NONE }
    }
}
