//! Mending calls: names, kinds, arguments, ids (CA-39).

use msg_core::{CallKind, Part, ToolCall};

use super::{
    carry::Repairer,
    item::{Item, Place},
};
use crate::{
    analyze::{Naming, Rules, Slot, Unit},
    arguments::sanitized,
    constants::{FALLBACK_REQUEST_ARGS, FALLBACK_TOOL_NAME},
    idx::Idx,
    pairing::fresh_like,
};

impl Repairer<'_> {
    /// Mends the calls of a unit in place.
    pub(super) fn mend_calls(&mut self, unit: Idx<Unit>, item: &mut Item<'_>) {
        for call in self.plan.calls_of(unit) {
            let planned = &self.plan.calls[call];
            let (part, slot, naming, fresh) =
                (planned.part as usize, planned.slot, planned.naming, planned.fresh_id);
            if planned.is_removed() {
                continue;
            }
            let place = item.place(part);
            let Some(Part::ToolCall(it)) = item.message.to_mut().parts.get_mut(part) else {
                continue;
            };
            match (naming, slot) {
                (Naming::Own, _) => {}
                (Naming::Result, Some(slot)) => {
                    it.name = self.result_name(slot).unwrap_or_default();
                }
                _ => FALLBACK_TOOL_NAME.clone_into(&mut it.name),
            }
            mend_warnings(it, self.rules);
            if fresh {
                let fresh = fresh_like(&it.id, self.fresh_id(&it.name, place));
                let old = std::mem::replace(&mut it.id, fresh);
                self.out.replaced_ids.insert(place, old);
            }
            if let Some(slot) = slot
                && self.peek(slot).is_some_and(|result| result.call_id != it.id)
            {
                self.result_ids.insert(slot, it.id.clone());
            }
            self.n_calls += 1;
        }
    }

    /// A call for a result that no call bears, and the place of that result.
    pub(super) fn call_for(&mut self, slot: Idx<Slot>) -> (Part, Place) {
        let name = self.result_name(slot).unwrap_or_else(|| FALLBACK_TOOL_NAME.to_owned());
        let it = &self.plan.slots[slot];
        let place = (it.message as usize, it.part as usize);
        let mut id = self.peek(slot).map_or_else(String::new, |it| it.call_id.clone());
        if id.is_empty() {
            id = self.fresh_id(&name, place);
            self.result_ids.insert(slot, id.clone());
        }
        self.n_calls += 1;
        (Part::ToolCall(ToolCall::new(id, name, FALLBACK_REQUEST_ARGS)), place)
    }
}

/// The kind and the arguments, of which an analysis only warns.
fn mend_warnings(call: &mut ToolCall, rules: Rules<'_>) {
    let all = rules.completes_calls();
    if all && call.kind == CallKind::Unspecified {
        call.kind = CallKind::Function;
    }
    if !matches!(call.kind, CallKind::Function | CallKind::Unspecified) {
        return;
    }
    if call.arguments.text().is_empty() && (all || rules.sanitizes()) {
        call.arguments = FALLBACK_REQUEST_ARGS.into();
    } else if rules.sanitizes()
        && let Some(text) = sanitized(call.arguments.text())
    {
        call.arguments = text.into();
    }
}
