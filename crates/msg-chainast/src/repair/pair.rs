//! Writing a body pair: calls, results in their places, placeholders (CA-31, CA-35, CA-36).

use msg_core::{CallKind, Message, Part, Role, ToolResult};

use super::{carry::Repairer, item::Item};
use crate::{
    analyze::{RolePart, Slot, Unit},
    idx::Idx,
};

impl Repairer<'_> {
    pub(super) fn pair(&mut self, unit: Idx<Unit>) {
        let mut item = self.take(self.plan.units[unit].message, RolePart::Assistant);
        self.mend_calls(unit, &mut item);
        for nth in 0..self.plan.units[unit].n_made as usize {
            let (call, place) = self.call_for(self.plan.made_of(unit)[nth]);
            item.push_part(call, place);
        }
        let at = self.out.items.len();
        self.out.items.push(item);
        self.results(unit);
        if !(self.plan.open_tail && self.plan.is_last(unit)) {
            self.placeholders(unit, at);
        }
        self.clean(unit, at);
    }

    /// A pair for a result that no call bears.
    pub(super) fn own_pair(&mut self, slot: Idx<Slot>) {
        let (call, place) = self.call_for(slot);
        let message = Message::new(Role::Assistant);
        self.out.items.push(Item::of_part(message, call, place).inserted());
        self.plan.slots[slot].natural = false;
        self.result(slot);
    }

    /// Writes the results that stand in a unit, in order.
    pub(super) fn results(&mut self, unit: Idx<Unit>) {
        let mut next = self.plan.units[unit].first_slot;
        while let Some(slot) = next {
            next = self.plan.slots[slot].next;
            if !self.plan.slots[slot].dead {
                self.result(slot);
            }
        }
    }

    /// Writes placeholders for the calls of a unit that have no result.
    fn placeholders(&mut self, unit: Idx<Unit>, at: usize) {
        for call in self.plan.calls_of(unit) {
            let it = &self.plan.calls[call];
            if !it.is_removed() && it.slot.is_none() {
                self.placeholder(at, it.part as usize);
            }
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
        let calls = self.plan.calls_of(unit).map(|it| &self.plan.calls[it]);
        let mut removed = calls.filter(|it| it.is_removed()).map(|it| it.part as usize).peekable();
        self.out.items[at].retain_parts(|index, part| {
            let goes = removed.next_if_eq(&index).is_some();
            !goes && part.as_tool_result().is_none()
        });
    }
}
