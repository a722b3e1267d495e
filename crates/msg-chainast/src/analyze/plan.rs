//! The decisions of an analysis, as plain numbers: which message goes where, which call has which result; and the index
//! from ids to calls.
//!
//! Nothing here owns text; messages and parts are indices into the analyzed list.
//!
//! ```text
//! messages   0 user   1 assistant(call a, call b)   2 tool(b)   3 user   4 tool(a)
//! units      [User 0] [Pair 1 ─ calls a, b ─ slots b, a]        [User 3]
//! calls      a ─▶ slot of message 4, moved here     b ─▶ slot of message 2
//! ```

use std::collections::HashMap;

use msg_core::Part;

use crate::analyze::defect::Chain;
use crate::idx::{ById, Idx};

/// The decisions about one list of messages.
#[derive(Default)]
pub(crate) struct Plan {
    /// The system message at the front.
    pub(crate) lead: Option<u32>,
    /// System messages that join it, in order.
    pub(crate) lead_merges: Vec<u32>,
    /// Messages that are in no pair, and body pairs, in chain order.
    pub(crate) units: Vec<Unit>,
    /// User messages that join the one before: (unit, message), in chain order.
    pub(crate) user_merges: Vec<(Idx<Unit>, u32)>,
    /// The calls of all pairs, in chain order.
    pub(crate) calls: Vec<Call>,
    /// The results, each in the list of its pair.
    pub(crate) slots: Vec<Slot>,
    /// Results for which a call is added to the message of their pair, in chain order.
    pub(crate) made_calls: Vec<Idx<Slot>>,
    /// Results that get a pair of their own: (number of units before it, slot), in chain order.
    pub(crate) own_pairs: Vec<(usize, Idx<Slot>)>,
    /// Messages that hold not just one result, but several or something else too.
    pub(crate) taken_apart: Vec<u32>,
    /// Whether to insert a user message before the first pair.
    pub(crate) insert_first: bool,
    /// Whether the calls of the last pair may stay without results.
    pub(crate) open_tail: bool,
    /// Whether a summarization pair with several calls must be split.
    pub(crate) splits_summaries: bool,
    /// Whether anything must be repaired.
    pub(crate) mends: bool,
    /// Whether the messages contain substitutes for raw items, which must be restored.
    pub(crate) stand_ins: bool,
}

/// The kind of a unit of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitKind {
    /// A user message, with those merged into it.
    User,
    /// An assistant message with its results.
    Pair,
    /// A system message that stays after other messages.
    System,
    /// Results that stay away from the pair of their call, or have none here.
    Results,
}

/// A message that is in no pair, or a body pair.
pub(crate) struct Unit {
    pub(crate) message: u32,
    pub(crate) kind: UnitKind,
    /// Whether the pair must be checked again before it can be left unchanged.
    pub(crate) suspect: bool,
    pub(crate) first_call: u32,
    pub(crate) n_calls: u32,
    pub(crate) answered: u32,
    /// The results for which it gets a call: the first of them, and their number.
    pub(crate) first_made: u32,
    pub(crate) n_made: u32,
    pub(crate) first_slot: Option<Idx<Slot>>,
    pub(crate) last_slot: Option<Idx<Slot>>,
}

/// A call of an assistant message.
pub(crate) struct Call {
    pub(crate) part: u32,
    pub(crate) unit: Idx<Unit>,
    /// Its result.
    pub(crate) slot: Option<Idx<Slot>>,
    /// The next call in the stack of its id, once its pair is in the index.
    pub(crate) below: Option<Idx<Call>>,
    pub(crate) naming: Naming,
    pub(crate) fresh_id: bool,
    /// Its arguments were looked at, and are an object in JSON.
    pub(crate) has_object: bool,
}

/// The source of a call's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// It has one.
    Own,
    /// Its result's.
    Result,
    /// Unknown.
    Unknown,
    /// Nothing needs it: the call is dropped.
    Removed,
}

/// A place for a result in the list of its pair.
pub(crate) struct Slot {
    /// The message with the result: the last one for this call.
    pub(crate) message: u32,
    pub(crate) part: u32,
    /// The message of the place.
    pub(crate) place: u32,
    /// Whether the place is in a tool message, and not one to which the result was moved.
    pub(crate) natural: bool,
    /// The pair whose list contains it; none outside every pair.
    pub(crate) unit: Option<Idx<Unit>>,
    /// The number of units before it.
    pub(crate) units_before: u32,
    /// The call that it answers.
    pub(crate) call: Option<Idx<Call>>,
    /// Whether it comes before the beginning of the chain.
    pub(crate) at_start: bool,
    /// Whether nothing is written for it, because it was dropped or moved to another slot.
    pub(crate) dead: bool,
    /// The next slot of its pair.
    pub(crate) next: Option<Idx<Slot>>,
}

impl Call {
    /// Whether the call is removed.
    pub(crate) fn is_removed(&self) -> bool {
        self.naming == Naming::Removed
    }
}

impl Unit {
    pub(crate) fn is_pair(&self) -> bool {
        self.kind == UnitKind::Pair
    }
}

impl Plan {
    /// Whether only results that stay away from their pairs follow a unit.
    pub(crate) fn is_last(&self, unit: Idx<Unit>) -> bool {
        self.units[unit.index() + 1..].iter().all(|it| it.kind == UnitKind::Results)
    }

    /// Whether a unit is a pair that follows one without results, so both are one answer.
    pub(crate) fn continues_run(&self, unit: Idx<Unit>) -> bool {
        let is_open = |it: &Unit| it.is_pair() && it.first_slot.is_none();
        self.units[unit].is_pair()
            && unit.index().checked_sub(1).is_some_and(|it| is_open(&self.units[it]))
    }

    /// The calls of a unit.
    pub(crate) fn calls_of(
        &self,
        unit: Idx<Unit>,
    ) -> impl ExactSizeIterator<Item = Idx<Call>> + DoubleEndedIterator + Clone + use<> {
        let it = &self.units[unit];
        let first = it.first_call as usize;
        (first..first + it.n_calls as usize).map(Idx::at)
    }

    /// The results for which a unit gets a call.
    pub(crate) fn made_of(&self, unit: Idx<Unit>) -> &[Idx<Slot>] {
        let it = &self.units[unit];
        &self.made_calls[it.first_made as usize..][..it.n_made as usize]
    }

    /// Adds a call for a result to a unit; in chain order.
    pub(crate) fn make_call(&mut self, unit: Idx<Unit>, slot: Idx<Slot>) {
        let it = &mut self.units[unit];
        if it.n_made == 0 {
            it.first_made = self.made_calls.len() as u32;
        }
        it.n_made += 1;
        self.made_calls.push(slot);
    }

    /// The message that contains a call.
    pub(crate) fn message_of(&self, call: Idx<Call>) -> u32 {
        self.units[self.calls[call].unit].message
    }

    /// Whether a stray result is kept in a pair of its own before all units.
    pub(crate) fn begins_with_own_pair(&self) -> bool {
        self.own_pairs.first().is_some_and(|it| it.0 == 0)
    }

    /// Puts a slot at the end of a pair's list.
    pub(crate) fn append_slot(&mut self, unit: Idx<Unit>, slot: Idx<Slot>) {
        self.slots[slot].unit = Some(unit);
        match self.units[unit].last_slot.replace(slot) {
            None => self.units[unit].first_slot = Some(slot),
            Some(last) => self.slots[last].next = Some(slot),
        }
    }

    /// Answers a call.
    pub(crate) fn link(&mut self, call: Idx<Call>, slot: Idx<Slot>) {
        self.slots[slot].call = Some(call);
        let call = &mut self.calls[call];
        call.slot = Some(slot);
        self.units[call.unit].answered += 1;
    }
}

// Which calls have an id: built only when a result does not answer a call of a small open pair.
//
// The calls of an id form a stack: the newest run of assistant messages is on top, and within a run the first call.
// Answered calls are popped when a lookup meets them, so a lookup is O(1) amortised. If several calls have the same id,
// there is also such a stack for each of their names.

/// The index of calls by id. Each id is hashed once, when its entry is first needed.
#[derive(Default)]
pub(crate) struct Index<'m> {
    ids: ById<Entry<'m>>,
    /// The calls of the ids that several have, by id and name.
    names: HashMap<(Idx<Entry<'m>>, &'m str), Named>,
    /// How many units are in the index, and how many calls.
    indexed: (usize, usize),
}

/// The calls and results with one id.
pub(crate) struct Entry<'m> {
    id: &'m str,
    first_call: Option<Idx<Call>>,
    last_call: Option<Idx<Call>>,
    /// The top of the stack of calls that may be pending.
    top: Option<Idx<Call>>,
    /// The newest result of this id that matches no call.
    unlinked: Option<Idx<Slot>>,
}

/// The calls with one id and one name.
#[derive(Default)]
struct Named {
    last_call: Option<Idx<Call>>,
    /// Those that may be pending, the top last.
    stack: Vec<Idx<Call>>,
}

impl<'m> Index<'m> {
    /// Adds the pairs since the last call: their runs in order, and within a run from the last pair on.
    pub(crate) fn catch_up(&mut self, plan: &mut Plan, chain: Chain<'m>) {
        let (mut unit, calls) = self.indexed;
        if unit == plan.units.len() {
            return;
        }
        self.ids.reserve(plan.calls.len() - calls);
        while unit < plan.units.len() {
            let begin = unit;
            unit += 1;
            while unit < plan.units.len() && plan.continues_run(Idx::at(unit)) {
                unit += 1;
            }
            (begin..unit).rev().for_each(|it| self.add_pair(plan, chain, Idx::at(it)));
        }
        self.indexed = (plan.units.len(), plan.calls.len());
    }

    /// The calls and results with this id; an empty entry for a new id.
    pub(crate) fn entry(&mut self, id: &'m str) -> Idx<Entry<'m>> {
        let hash = self.ids.hash(id);
        match self.ids.find(hash, |it| it.id == id) {
            Some(at) => at,
            None => self.ids.add(hash, Entry::of(id)),
        }
    }

    /// The pending call that a result with this id and name answers. It is one with the same name, if one is pending,
    /// else the first in the newest run with a pending call.
    pub(crate) fn pending(
        &mut self,
        plan: &Plan,
        at: Idx<Entry<'m>>,
        name: Option<&'m str>,
    ) -> Option<Idx<Call>> {
        let is_answered = |it: Idx<Call>| plan.calls[it].slot.is_some();
        if let Some(named) = name.and_then(|it| self.names.get_mut(&(at, it))) {
            while named.stack.pop_if(|it| is_answered(*it)).is_some() {}
            if let Some(call) = named.stack.last() {
                return Some(*call);
            }
        }
        let entry = &mut self.ids[at];
        while let Some(top) = entry.top.filter(|it| is_answered(*it)) {
            entry.top = plan.calls[top].below;
        }
        entry.top
    }

    /// All pending calls of this id, in chain order. Linear in the calls of the id.
    pub(crate) fn all_pending(&self, plan: &Plan, entry: Idx<Entry<'m>>) -> Vec<Idx<Call>> {
        let next = |it: &Idx<Call>| plan.calls[*it].below;
        let all = std::iter::successors(self.ids[entry].top, next);
        let mut pending: Vec<_> = all.filter(|it| plan.calls[*it].slot.is_none()).collect();
        msg_core::sort_by_rank(&mut pending, |it| it.index());
        pending
    }

    /// The newest call with this id, preferably one with this name.
    pub(crate) fn last_call(
        &self,
        entry: Idx<Entry<'m>>,
        name: Option<&'m str>,
    ) -> Option<Idx<Call>> {
        let named = name.and_then(|it| self.names.get(&(entry, it)));
        named.and_then(|it| it.last_call).or(self.ids[entry].last_call)
    }

    /// The newest unlinked result of this id.
    pub(crate) fn unlinked(&self, entry: Idx<Entry<'m>>) -> Option<Idx<Slot>> {
        self.ids[entry].unlinked
    }

    /// Remembers an unlinked result.
    pub(crate) fn set_unlinked(&mut self, entry: Idx<Entry<'m>>, slot: Idx<Slot>) {
        self.ids[entry].unlinked = Some(slot);
    }

    /// Takes in the calls of a pair, from the last on.
    fn add_pair(&mut self, plan: &mut Plan, chain: Chain<'m>, unit: Idx<Unit>) {
        let parts = &chain.message(plan.units[unit].message).parts;
        for call in plan.calls_of(unit).rev() {
            let Part::ToolCall(it) = &parts[plan.calls[call].part as usize] else { continue };
            let at = self.entry(&it.id);
            let (first, last) = (self.ids[at].first_call, self.ids[at].last_call);
            if let Some((first, last)) = first.zip(last) {
                if first == last {
                    let part = plan.calls[first].part;
                    let name = chain.call(plan.message_of(first), part).map_or("", |it| &it.name);
                    self.names.entry((at, name)).or_default().add(first);
                }
                self.names.entry((at, &it.name)).or_default().add(call);
            }
            let entry = &mut self.ids[at];
            entry.first_call = first.filter(|it| it.index() < call.index()).or(Some(call));
            entry.last_call = last.filter(|it| it.index() > call.index()).or(Some(call));
            plan.calls[call].below = entry.top.replace(call);
        }
    }
}

impl Named {
    fn add(&mut self, call: Idx<Call>) {
        self.last_call = self.last_call.filter(|it| it.index() > call.index()).or(Some(call));
        self.stack.push(call);
    }
}

impl<'m> Entry<'m> {
    fn of(id: &'m str) -> Self {
        Entry { id, first_call: None, last_call: None, top: None, unlinked: None }
    }
}
