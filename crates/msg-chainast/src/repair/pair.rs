//! Writing a body pair: calls, results in their places, placeholders, and the split of a summarization
//! pair with more than one call (CA-31, CA-35 to CA-37).

use std::ops::Range;

use msg_core::{CallKind, Message, Part, Role, ToolResult};

use super::{
    carry::Repairer,
    item::{Item, Place},
};
use crate::{
    analyze::{RolePart, Slot, Unit},
    constants::SUMMARIZATION_TOOL_NAME,
    idx::Idx,
};

/// A call that was written into the assistant message, and its result.
pub(super) struct Written {
    part: usize,
    slot: Option<Idx<Slot>>,
}

impl Repairer<'_> {
    pub(super) fn pair(&mut self, unit: Idx<Unit>, made: Range<usize>) {
        let mut item = self.take(self.plan.units[unit].message, RolePart::Assistant);
        self.mend_calls(unit, &mut item);
        for index in made.clone() {
            let slot = self.plan.made_calls[index].1;
            let at = &self.plan.slots[slot];
            let place = (at.message as usize, at.part as usize);
            let call = self.call_for(slot);
            item.push_part(Part::ToolCall(call), place);
        }
        let n_input = item.message.parts.len() - made.len();
        let mut written = std::mem::take(&mut self.written);
        written.clear();
        self.write_calls(unit, made, n_input, &mut written);
        let open = self.plan.open_tail && self.plan.is_last(unit);
        let at = self.out.items.len();
        self.out.items.push(item);
        if !open && self.plan.splits_summaries && splits(&self.out.items[at].message, &written) {
            self.split(unit, at, &written);
        } else {
            self.results(unit, at, &written, open);
            self.clean(unit, at);
        }
        self.written = written;
    }

    /// A pair for a result that no call bears.
    pub(super) fn own_pair(&mut self, slot: Idx<Slot>) {
        let at = &self.plan.slots[slot];
        let place = (at.message as usize, at.part as usize);
        let call = self.call_for(slot);
        let id = call.id.clone();
        let message = Message::new(Role::Assistant);
        self.out.items.push(Item::of_part(message, Part::ToolCall(call), place).inserted());
        self.plan.slots[slot].natural = false;
        self.result(slot, &id);
    }

    /// The calls of the message that is being written; added calls stand behind all parts of the input.
    fn write_calls(
        &self,
        unit: Idx<Unit>,
        made: Range<usize>,
        n_input: usize,
        out: &mut Vec<Written>,
    ) {
        let calls = self.plan.calls_of(unit).filter_map(|it| {
            let it = &self.plan.calls[it];
            (!it.removed).then_some(Written { part: it.part as usize, slot: it.slot })
        });
        let added = self.plan.made_calls[made].iter().enumerate();
        out.extend(
            calls.chain(added.map(|(n, it)| Written { part: n_input + n, slot: Some(it.1) })),
        );
    }

    /// Writes the results of all calls in the order of the pair's list, then placeholders.
    fn results(&mut self, unit: Idx<Unit>, at: usize, calls: &[Written], open: bool) {
        let mut slots = std::mem::take(&mut self.slots);
        self.live_slots(unit, &mut slots);
        for slot in slots.drain(..) {
            match self.is_of_other_pair(slot, unit) {
                true => self.result_apart(slot),
                false => self.result_of(slot, at, self.part_of(slot, calls)),
            }
        }
        self.slots = slots;
        if !open {
            calls
                .iter()
                .filter(|it| it.slot.is_none())
                .for_each(|it| self.placeholder(at, it.part));
        }
    }

    /// Writes results that stay apart from the pair of their call.
    pub(super) fn results_apart(&mut self, unit: Idx<Unit>) {
        let mut slots = std::mem::take(&mut self.slots);
        self.live_slots(unit, &mut slots);
        slots.drain(..).for_each(|it| self.result_apart(it));
        self.slots = slots;
    }

    fn is_of_other_pair(&self, slot: Idx<Slot>, unit: Idx<Unit>) -> bool {
        let call = self.plan.slots[slot].call;
        call.is_some_and(|it| self.plan.calls[it].unit != unit)
    }

    /// A result bears the id of its call already, unless that one got a fresh id.
    fn result_apart(&mut self, slot: Idx<Slot>) {
        let call = self.plan.slots[slot].call;
        let fresh = call.and_then(|it| self.fresh_ids.get(&it)).cloned();
        let id = fresh.unwrap_or_else(|| self.result_id(slot));
        self.result(slot, &id);
    }

    fn live_slots(&self, unit: Idx<Unit>, out: &mut Vec<Idx<Slot>>) {
        out.extend(self.plan.slots_of(unit).filter(|it| !self.plan.slots[*it].dead));
    }

    /// The part of the call that a slot answers; a slot without a planned call has an added one.
    fn part_of(&self, slot: Idx<Slot>, calls: &[Written]) -> usize {
        if let Some(call) = self.plan.slots[slot].call {
            return self.plan.calls[call].part as usize;
        }
        let is_planned = |it: &Written| it.slot.is_none_or(|it| self.plan.slots[it].call.is_some());
        let added = &calls[calls.partition_point(is_planned)..];
        let found = added.binary_search_by_key(&Some(slot), |it| it.slot);
        found.map_or(0, |it| added[it].part)
    }

    /// Writes the result of a slot, bearing the id of this call.
    fn result_of(&mut self, slot: Idx<Slot>, at: usize, part: usize) {
        // The id is borrowed from the call while the result is written.
        let id = self.swap_id(at, part, String::new());
        self.result(slot, &id);
        self.swap_id(at, part, id);
    }

    fn swap_id(&mut self, at: usize, part: usize, id: String) -> String {
        match self.out.items[at].message.to_mut().parts.get_mut(part) {
            Some(Part::ToolCall(it)) => std::mem::replace(&mut it.id, id),
            _ => String::new(),
        }
    }

    fn placeholder(&mut self, at: usize, part: usize) {
        let place = self.out.items[at].place(part);
        let Some(Part::ToolCall(call)) = self.out.items[at].message.parts.get(part) else { return };
        let mut result = ToolResult::new(call.id.as_str(), self.rules.options.placeholder.clone());
        result.name = Some(call.name.clone());
        // A call is answered by its own kind (OA-14).
        if call.kind == CallKind::Custom {
            result.kind = CallKind::Custom;
        }
        let message = Message::new(Role::Tool);
        self.out.items.push(Item::of_part(message, Part::ToolResult(result), place).inserted());
    }

    /// Takes removed calls, and results that were moved, out of the assistant message.
    fn clean(&mut self, unit: Idx<Unit>, at: usize) {
        let plan = &self.plan;
        let mut removed = plan
            .calls_of(unit)
            .map(|it| &plan.calls[it])
            .filter(|it| it.removed)
            .map(|it| it.part as usize)
            .peekable();
        self.out.items[at].retain_parts(|index, part| {
            let goes = removed.next_if_eq(&index).is_some();
            !goes && part.as_tool_result().is_none()
        });
    }

    /// Writes a summarization pair with several calls as several pairs: each leading call of the
    /// summarization tool has its own, the rest share the last one.
    fn split(&mut self, unit: Idx<Unit>, at: usize, calls: &[Written]) {
        let message = &self.out.items[at].message;
        let lone = calls.iter().take_while(|it| is_summarization(message, it.part)).count();
        let groups = (lone + 1).min(calls.len());
        let mut slots = Vec::new();
        self.live_slots(unit, &mut slots);
        let mut by_group = vec![Vec::new(); groups];
        for slot in slots {
            let part = self.part_of(slot, calls);
            let call = calls.partition_point(|it| it.part < part);
            by_group[call.min(groups - 1)].push((slot, part));
        }
        let mut moved = self.take_calls(at, &calls[1..]);
        self.clean(unit, at);
        for (group, slots) in by_group.into_iter().enumerate() {
            let last = if group + 1 == groups { calls.len() } else { group + 1 };
            let members = &calls[group..last];
            if group > 0 {
                let first = moved[group - 1].as_ref().map_or(0, |it| it.1.0);
                let mut item = Item::whole(Message::new(Role::Assistant), first);
                for (part, place) in moved[group - 1..last - 1].iter_mut().filter_map(Option::take)
                {
                    item.push_part(part, place);
                }
                self.out.items.push(item);
            }
            let at = if group == 0 { at } else { self.out.items.len() - 1 };
            self.group_results(at, members, slots);
        }
    }

    /// Writes the results of the calls that stand in one message of a split, then placeholders.
    fn group_results(&mut self, at: usize, members: &[Written], slots: Vec<(Idx<Slot>, usize)>) {
        let parts = &self.out.items[at].message.parts;
        let calls: Vec<usize> =
            (0..parts.len()).filter(|it| parts[*it].as_tool_call().is_some()).collect();
        for (slot, part) in slots {
            let nth = members.partition_point(|it| it.part < part);
            self.result_of(slot, at, calls.get(nth).copied().unwrap_or_default());
        }
        for (member, part) in members.iter().zip(calls) {
            if member.slot.is_none() {
                self.placeholder(at, part);
            }
        }
    }

    /// Takes these calls out of the message; what stays keeps its index until it is cleaned.
    fn take_calls(&mut self, at: usize, calls: &[Written]) -> Vec<Option<(Part, Place)>> {
        let item = &mut self.out.items[at];
        let take = |it: &Written| {
            let place = item.place(it.part);
            let part = item.message.to_mut().parts.get_mut(it.part)?;
            // An empty result is what `clean` takes out.
            Some((std::mem::replace(part, Part::ToolResult(ToolResult::default())), place))
        };
        calls.iter().map(take).collect()
    }
}

fn is_summarization(message: &Message, part: usize) -> bool {
    matches!(message.parts.get(part), Some(Part::ToolCall(it)) if it.name == SUMMARIZATION_TOOL_NAME)
}

/// Whether a message has a call of the summarization tool first, and another one.
fn splits(message: &Message, calls: &[Written]) -> bool {
    calls.len() > 1 && is_summarization(message, calls[0].part)
}
