//! Writing results: whole messages where they stand alone, parts where a message holds several (CA-6).

use std::collections::{HashMap, HashSet};

use msg_core::{Message, Part, Role, ToolResult};

use super::{
    carry::Repairer,
    item::{Item, Place},
};
use crate::{
    analyze::{Reading, RolePart, Slot, read_role},
    idx::Idx,
};

impl Repairer<'_> {
    /// Takes the results out of messages that hold more than one, or something else beside them.
    pub(super) fn take_apart(&mut self) {
        let taken_apart = std::mem::take(&mut self.plan.taken_apart);
        if taken_apart.is_empty() {
            return;
        }
        let stays = |it: &&Slot| it.natural && !it.dead && it.message == it.place;
        let kept: HashSet<u32> =
            self.plan.slots.iter().filter(stays).map(|it| it.message).collect();
        for at in taken_apart {
            let message = &mut self.messages[at as usize];
            if !kept.contains(&at) && goes_whole(message) {
                let extra = std::mem::take(&mut message.extra);
                self.apart.shells.insert(at, (message.name.take(), extra));
            }
            let results = if is_tool(message) {
                tool_results(message)
            } else {
                let results = message.parts.iter_mut().map(|it| match it {
                    Part::ToolResult(it) => Some(std::mem::take(it)),
                    _ => None,
                });
                results.collect()
            };
            self.apart.results.insert(at, results);
        }
    }

    /// Writes the result of a slot, bearing the id of its call.
    pub(super) fn result(&mut self, slot: Idx<Slot>) {
        let id = self.result_ids.remove(&slot);
        let slot = &self.plan.slots[slot];
        let (message, part, place) = (slot.message, slot.part, slot.place);
        let at = (message as usize, part as usize);
        // A result that took the place of another comes with its own message: name and extra members of
        // that other one are not its.
        let into_shell =
            slot.natural && message == place && self.apart.results.contains_key(&place);
        if !into_shell && !self.apart.results.contains_key(&message) {
            let mut item = self.take(message, RolePart::Tool);
            if let Some(Part::ToolResult(it)) = item.message.to_mut().parts.first_mut() {
                set_id(it, id, at, &mut self.out.replaced_ids);
            }
            self.out.items.push(item);
            return;
        }
        let mut result = self.take_result(message, part);
        set_id(&mut result, id, at, &mut self.out.replaced_ids);
        let part = Part::ToolResult(result);
        match self.apart.open {
            Some((open, item))
                if into_shell && open == place && item + 1 == self.out.items.len() =>
            {
                self.out.items[item].push_part(part, at);
            }
            _ if into_shell => {
                let mut item = self.take(place, RolePart::Tool);
                item.push_part(part, at);
                self.apart.open = Some((place, self.out.items.len()));
                self.out.items.push(item);
            }
            _ => {
                let mut own = Message::new(Role::Tool);
                (own.name, own.extra) = self.apart.shells.remove(&message).unwrap_or_default();
                self.out.items.push(Item::of_part(own, part, at));
            }
        }
    }

    /// The name that the result of a slot bears.
    pub(super) fn result_name(&self, slot: Idx<Slot>) -> Option<String> {
        self.peek(slot)?.name.clone().filter(|it| !it.is_empty())
    }

    /// The result of a slot that is not written yet.
    pub(super) fn peek(&self, slot: Idx<Slot>) -> Option<&ToolResult> {
        let it = &self.plan.slots[slot];
        match self.apart.results.get(&it.message) {
            Some(results) => results.get(it.part as usize)?.as_ref(),
            None => {
                self.messages[it.message as usize].parts.get(it.part as usize)?.as_tool_result()
            }
        }
    }

    /// Takes a result of a message that was taken apart.
    fn take_result(&mut self, message: u32, part: u32) -> ToolResult {
        let results = self.apart.results.get_mut(&message);
        let result = results.and_then(|it| it.get_mut(part as usize)).and_then(Option::take);
        result.unwrap_or_default()
    }
}

/// Whether nothing is left of a message once its results are taken out.
fn goes_whole(message: &Message) -> bool {
    let may_hold_calls = !matches!(read_role(message), Reading::Known(RolePart::Assistant));
    message.parts.iter().all(|it| match it {
        Part::ToolResult(_) => true,
        Part::ToolCall(_) => may_hold_calls,
        _ => is_tool(message),
    })
}

fn is_tool(message: &Message) -> bool {
    matches!(
        read_role(message),
        Reading::Known(RolePart::Tool) | Reading::Spelled(RolePart::Tool, _)
    )
}

/// The results of a tool message; its other parts join the last one's content, or are a result
/// themselves. Calls go.
fn tool_results(message: &mut Message) -> Vec<Option<ToolResult>> {
    let mut others = Vec::new();
    let mut results = Vec::new();
    for part in std::mem::take(&mut message.parts) {
        let result = match part {
            Part::ToolResult(it) => Some(it),
            Part::ToolCall(_) => None,
            other => {
                others.push(other);
                None
            }
        };
        results.push(result);
    }
    if let Some(last) = results.iter_mut().flatten().last() {
        last.content.parts_mut().append(&mut others);
    } else if let Some(first) = results.first_mut() {
        *first = Some(ToolResult::new("", others));
    }
    results
}

fn set_id(
    result: &mut ToolResult,
    id: Option<String>,
    place: Place,
    replaced: &mut HashMap<Place, String>,
) {
    if let Some(id) = id {
        replaced.insert(place, std::mem::replace(&mut result.call_id, id));
    }
}
