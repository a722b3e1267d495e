//! Which call a result answers (CA-30 to CA-34).

use std::ops::Range;

use hashbrown::{HashMap, HashSet};
use msg_core::{Message, Part};

use super::{
    NONE, SMALL_PAIR, Walk,
    found::What,
    plan::{Plan, Slot, UnitKind},
};
use crate::profile::LaterResults;

/// The last pair while results may follow it.
pub(super) struct OpenPair<'m> {
    pub(super) unit: u32,
    /// No call before this one is pending.
    first_pending: u32,
    /// The first call of a name that may be pending, and the next one of the same name for each call;
    /// built when a result without an id asks for a name.
    names: Option<(HashMap<&'m str, u32>, Vec<u32>)>,
}

impl OpenPair<'_> {
    pub(super) fn new(unit: u32, first_call: u32) -> Self {
        OpenPair { unit, first_pending: first_call, names: None }
    }
}

impl<'m> Walk<'m, '_> {
    /// A result: finds its call, or keeps it for later.
    pub(super) fn result(&mut self, message: u32, part: u32, id: &'m str, natural: bool) {
        let open = self.open.as_ref().map(|it| it.unit);
        if id.is_empty()
            && let Some(call) = self.nearest_pending(message, part)
        {
            self.find(message, part, What::EmptyResultId);
            return self.answer(call, message, part, natural);
        }
        if let Some(call) = self.pending_in_open(id).or_else(|| self.pending(id)) {
            if open != Some(self.plan.calls[call as usize].unit) {
                if self.may_come_late(call) {
                    return self.stay_late(call, message, part, natural);
                }
                self.find(message, part, What::LateResult);
                return self.answer(call, message, part, false);
            }
            return self.answer(call, message, part, natural);
        }
        if let Some(call) = self.index.last_call(id) {
            let slot = self.plan.calls[call as usize].slot;
            return self.duplicate(slot, message, part);
        }
        match self.index.unlinked(id) {
            Some(slot) if open.is_some() && open == self.unit_of(slot) => {
                self.duplicate(slot, message, part);
            }
            _ => self.leave_unlinked(message, part, id, natural),
        }
    }

    fn unit_of(&self, slot: u32) -> Option<u32> {
        Some(self.plan.slots[slot as usize].unit).filter(|it| *it != NONE)
    }

    /// The first pending call of this id in a small open pair.
    fn pending_in_open(&self, id: &str) -> Option<u32> {
        let unit = self.open.as_ref()?.unit;
        let calls = self.plan.calls_of(unit);
        if calls.len() > SMALL_PAIR as usize {
            return None;
        }
        let parts = &self.chain.message(self.plan.units[unit as usize].message).parts;
        calls.into_iter().find(|call| {
            let call = &self.plan.calls[*call as usize];
            call.slot == NONE
                && matches!(&parts[call.part as usize], Part::ToolCall(it) if it.id == id)
        })
    }

    fn pending(&mut self, id: &str) -> Option<u32> {
        self.index.catch_up(&mut self.plan, self.chain);
        self.index.pending(&self.plan, id)
    }

    /// The pending call of the open pair that a result without an id answers (CA-30).
    fn nearest_pending(&mut self, message: u32, part: u32) -> Option<u32> {
        let unit = self.open.as_ref()?.unit;
        let it = &self.plan.units[unit as usize];
        if it.answered == it.n_calls {
            return None;
        }
        let name = self.chain.result(message, part).and_then(|it| it.name.as_deref());
        if let Some(name) = name.filter(|it| !it.is_empty())
            && let Some(call) = self.pending_of_name(unit, name)
        {
            return Some(call);
        }
        if let Some(call) = self.pending("")
            && self.plan.calls[call as usize].unit == unit
        {
            return Some(call);
        }
        let calls = &self.plan.calls;
        let open = self.open.as_mut()?;
        while calls.get(open.first_pending as usize).is_some_and(|it| it.slot != NONE) {
            open.first_pending += 1;
        }
        Some(open.first_pending)
    }

    fn pending_of_name(&mut self, unit: u32, name: &str) -> Option<u32> {
        let first_call = self.plan.units[unit as usize].first_call;
        let message = self.chain.message(self.plan.units[unit as usize].message);
        let open = self.open.as_mut()?;
        let plan = &self.plan;
        let (heads, next) =
            open.names.get_or_insert_with(|| calls_by_name(plan, plan.calls_of(unit), message));
        let head = heads.get_mut(name)?;
        while *head != NONE && plan.calls[*head as usize].slot != NONE {
            *head = next[(*head - first_call) as usize];
        }
        Some(*head).filter(|it| *it != NONE)
    }

    /// Lets a result answer a call, at its own place or at the end of that pair's results.
    pub(super) fn answer(&mut self, call: u32, message: u32, part: u32, natural: bool) {
        let slot = self.push_slot(message, part, natural);
        let unit = self.plan.calls[call as usize].unit;
        self.plan.append_slot(unit, slot);
        self.plan.link(call, slot);
        self.compare_names(slot);
    }

    /// Whether a result may answer a call of an earlier pair from where it stands.
    fn may_come_late(&self, call: u32) -> bool {
        match self.rules.enforced.later_results {
            LaterResults::Accept => true,
            LaterResults::Joined => {
                self.open.is_some() && self.plan.calls[call as usize].unit >= self.run_of_pairs
            }
            LaterResults::Reject => false,
        }
    }

    /// Lets a result answer a call of an earlier pair from where it stands.
    fn stay_late(&mut self, call: u32, message: u32, part: u32, natural: bool) {
        let slot = self.push_slot(message, part, natural);
        match self.rules.enforced.later_results {
            LaterResults::Joined => self.joined.push((slot, self.run_of_pairs)),
            _ => self.find_accepted(message, part, What::LateResult),
        }
        let unit = match &self.open {
            Some(open) => open.unit,
            None => self.push_unit(message, UnitKind::Results),
        };
        self.plan.append_slot(unit, slot);
        self.plan.link(call, slot);
        self.compare_names(slot);
    }

    /// Results behind a run of assistant messages stay there if all calls of the run are answered behind it;
    /// else each moves behind its call, since what is put behind the others would part the run.
    pub(super) fn settle_joined(&mut self) {
        let mut judged = (NONE, false);
        for (slot, first) in std::mem::take(&mut self.joined) {
            let it = &self.plan.slots[slot as usize];
            let (message, part, last, call) = (it.message, it.part, it.unit, it.call);
            if judged.0 != last {
                judged = (last, self.is_answered_as_one(first, last));
            }
            if judged.1 {
                self.find_accepted(message, part, What::LateResult);
                continue;
            }
            self.plan.slots[slot as usize].dead = true;
            self.find(message, part, What::LateResult);
            let own = self.push_slot(message, part, false);
            self.plan.append_slot(self.plan.calls[call as usize].unit, own);
            self.plan.slots[own as usize].call = call;
            self.plan.calls[call as usize].slot = own;
            self.compare_names(own);
        }
    }

    /// Whether the calls of these pairs are all answered behind the last of them.
    fn is_answered_as_one(&self, first: u32, last: u32) -> bool {
        let alone = |unit: u32| self.plan.units[unit as usize].first_slot == NONE;
        let mut calls = (first..=last).flat_map(|it| self.plan.calls_of(it));
        (first..last).all(alone) && calls.all(|it| self.plan.calls[it as usize].slot != NONE)
    }

    /// Two results for one call: the last one wins, but a placeholder never replaces a real one.
    fn duplicate(&mut self, slot: u32, message: u32, part: u32) {
        let it = &self.plan.slots[slot as usize];
        let old = (it.message, it.part);
        if self.is_placeholder(message, part) && !self.is_placeholder(old.0, old.1) {
            self.find(message, part, What::DuplicateResult { other: old.0 });
            return;
        }
        self.find(old.0, old.1, What::DuplicateResult { other: message });
        let it = &mut self.plan.slots[slot as usize];
        (it.message, it.part) = (message, part);
        self.compare_names(slot);
    }

    fn is_placeholder(&self, message: u32, part: u32) -> bool {
        self.chain
            .result(message, part)
            .is_some_and(|it| it.content.as_text() == Some(self.rules.options.placeholder_text()))
    }

    fn leave_unlinked(&mut self, message: u32, part: u32, id: &'m str, natural: bool) {
        let slot = self.push_slot(message, part, natural);
        match self.open.as_ref().map(|it| it.unit) {
            Some(unit) => self.plan.append_slot(unit, slot),
            None if self.may_lead() => {
                let unit = self.push_unit(message, UnitKind::Results);
                self.plan.append_slot(unit, slot);
            }
            None => self.floating = true,
        }
        self.unlinked.push(slot);
        self.index.set_unlinked(id, slot);
    }

    /// Whether a result may stand here without a call: before the first call of a chain that continues one
    /// which the provider has.
    fn may_lead(&self) -> bool {
        !self.rules.enforced.leading_results && self.plan.calls.is_empty()
    }

    pub(super) fn push_slot(&mut self, message: u32, part: u32, natural: bool) -> u32 {
        self.plan.slots.push(Slot {
            message,
            part,
            place: message,
            natural,
            unit: NONE,
            units_before: self.plan.units.len() as u32,
            call: NONE,
            at_start: !self.begun(),
            dead: false,
            next: NONE,
        });
        self.plan.slots.len() as u32 - 1
    }

    /// Remembers a result that is named otherwise than its call.
    pub(super) fn compare_names(&mut self, slot: u32) {
        let it = &self.plan.slots[slot as usize];
        if !self.rules.warnings || it.call == NONE {
            return;
        }
        let Some(result) = self.chain.result(it.message, it.part) else { return };
        let Some(name) = result.name.as_deref().filter(|it| !it.is_empty()) else { return };
        let call = self.plan.message_of(it.call);
        let part = self.plan.calls[it.call as usize].part;
        if self.chain.call(call, part).is_some_and(|it| it.name != name) {
            self.unnamed.push((slot, it.message, it.part));
        }
    }
}

/// Whether an id occurs twice among the calls of one message; empty ids are another defect.
pub(super) fn has_repeated_id(plan: &Plan, calls: Range<u32>, message: &Message) -> bool {
    let id = |call: u32| match &message.parts[plan.calls[call as usize].part as usize] {
        Part::ToolCall(it) => it.id.as_str(),
        _ => "",
    };
    if calls.len() <= SMALL_PAIR as usize {
        return calls.clone().any(|it| {
            let this = id(it);
            !this.is_empty() && (calls.start..it).any(|earlier| id(earlier) == this)
        });
    }
    let mut seen = HashSet::with_capacity(calls.len());
    calls.map(id).any(|it| !it.is_empty() && !seen.insert(it))
}

fn calls_by_name<'m>(
    plan: &Plan,
    calls: Range<u32>,
    message: &'m Message,
) -> (HashMap<&'m str, u32>, Vec<u32>) {
    let mut heads = HashMap::new();
    let mut next = vec![NONE; calls.len()];
    let start = calls.start;
    for call in calls.rev() {
        if let Part::ToolCall(it) = &message.parts[plan.calls[call as usize].part as usize] {
            next[(call - start) as usize] = heads.insert(it.name.as_str(), call).unwrap_or(NONE);
        }
    }
    (heads, next)
}
