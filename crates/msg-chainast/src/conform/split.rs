//! Step 13: messages with more calls than a provider takes.

use std::collections::HashMap;

use msg_core::{Message, Part, Role};

use super::state::{Breach, Conform};
use crate::{constants::SUMMARIZATION_TOOL_NAME, profile::ReasoningRequired, repair::Item};

impl<'m> Conform<'_, 'm> {
    pub(super) fn surplus_calls(&mut self) {
        let max = self.profile.max_calls;
        let surplus = |it: &Item<'_>| it.message.tool_calls().nth(max).is_some();
        if max == 0 || !self.items.iter().any(surplus) {
            return;
        }
        let current_turn = self.current_turn();
        let mut inserted = Vec::new();
        for (assistant, tools) in self.pairs() {
            let calls = self.calls(assistant);
            if calls.len() <= max {
                continue;
            }
            // A pending call may stand in the last pair only, so such a pair stays whole.
            let results = self.results(tools.clone());
            let mended = results.len() >= calls.len();
            let sentence = format!("{} calls in one message, {max} are accepted", calls.len());
            let breach = Breach::error(
                "profile::too-many-tool-calls",
                sentence,
                "split into several messages",
            );
            self.at_part(assistant, calls[max], breach.mended_if(mended));
            if mended {
                let groups = self.groups(assistant, &calls);
                let in_turn = assistant >= current_turn;
                inserted.push((
                    assistant,
                    tools.clone(),
                    self.take_groups(assistant, tools, groups, in_turn),
                ));
            }
        }
        self.put_groups(inserted);
    }

    /// The calls of each message, as places in the first one. A call of the summarization tool is alone
    /// where it would make its message a summarization with more calls.
    fn groups(&self, assistant: usize, calls: &[usize]) -> Vec<Vec<usize>> {
        let parts = &self.items[assistant].message.parts;
        let alone = |part: usize| {
            parts[part].as_tool_call().is_some_and(|it| it.name == SUMMARIZATION_TOOL_NAME)
        };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for &call in calls {
            match groups.last_mut() {
                Some(group) if group.len() < self.profile.max_calls && !alone(group[0]) => {
                    group.push(call);
                }
                _ => groups.push(vec![call]),
            }
        }
        groups
    }

    /// Takes the calls of all groups but the first out of the message, and all results; gives the items
    /// that stand behind the message.
    fn take_groups(
        &mut self,
        assistant: usize,
        tools: std::ops::Range<usize>,
        groups: Vec<Vec<usize>>,
        in_turn: bool,
    ) -> Vec<Item<'m>> {
        let origin = self.items[assistant].origin.message;
        let parts = &self.items[assistant].message.parts;
        let mut group_of: HashMap<String, usize> = HashMap::new();
        for (group, calls) in groups.iter().enumerate() {
            let ids = calls.iter().filter_map(|it| parts[*it].as_tool_call());
            group_of.extend(ids.map(|it| (it.id.clone(), group)));
        }
        let mut results: Vec<Vec<Item<'_>>> = groups.iter().map(|_| Vec::new()).collect();
        for tool in tools {
            let blank = Item::whole(Message::new(Role::Tool), origin);
            let item = std::mem::replace(&mut self.items[tool], blank);
            sort_results(item, &group_of, &mut results);
        }
        let first_moved = groups.get(1).and_then(|it| it.first()).copied().unwrap_or(usize::MAX);
        let mut moved = self.take_calls(assistant, first_moved).into_iter();
        let mut out = Vec::new();
        for (group, (calls, results)) in groups.into_iter().zip(results).enumerate() {
            if group > 0 {
                let mut item = Item::whole(Message::new(Role::Assistant), origin);
                for (part, place) in moved.by_ref().take(calls.len()) {
                    item.push_part(part, place);
                }
                out.push(self.with_fallback(item, in_turn));
            }
            out.extend(results);
        }
        out
    }

    /// Takes the calls from this part on; other parts stay.
    fn take_calls(&mut self, assistant: usize, from: usize) -> Vec<(Part, (usize, usize))> {
        let item = &mut self.items[assistant];
        let mut taken = Vec::new();
        let (parts, places) = item.split_parts(from.min(item.message.parts.len()));
        for (part, place) in parts.into_iter().zip(places) {
            match part {
                Part::ToolCall(_) => taken.push((part, place)),
                other => item.push_part(other, place),
            }
        }
        taken
    }

    /// A message of a split carries what the provider requires of every message with calls.
    fn with_fallback(&mut self, item: Item<'m>, in_turn: bool) -> Item<'m> {
        if self.profile.reasoning_require == ReasoningRequired::CallSignature && !in_turn {
            return item;
        }
        self.items.push(item);
        self.put_fallback(self.items.len() - 1);
        self.items.pop().expect("because it was just pushed")
    }

    /// Puts the items behind their message, in the place of its tool messages.
    fn put_groups(&mut self, inserted: Vec<(usize, std::ops::Range<usize>, Vec<Item<'m>>)>) {
        let mut out = Vec::with_capacity(self.items.len());
        let mut inserted = inserted.into_iter().peekable();
        let mut skip_to = 0;
        for (at, item) in std::mem::take(&mut self.items).into_iter().enumerate() {
            if at < skip_to {
                continue;
            }
            out.push(item);
            if let Some((_, tools, items)) = inserted.next_if(|it| it.0 == at) {
                skip_to = tools.end;
                out.extend(items);
            }
        }
        self.items = out;
    }
}

/// Puts a tool message to the group of its results; one whose results go to several is split.
fn sort_results<'m>(
    mut item: Item<'m>,
    group_of: &HashMap<String, usize>,
    groups: &mut [Vec<Item<'m>>],
) {
    let group = |part: &Part| {
        part.as_tool_result().and_then(|it| group_of.get(&it.call_id)).copied().unwrap_or(0)
    };
    let Some(first) = item.message.parts.first().map(group) else { return };
    if item.message.parts.iter().all(|it| group(it) == first) {
        groups[first].push(item);
        return;
    }
    let origin = item.origin.message;
    let (parts, places) = item.split_parts(0);
    let mut shell = Some(item);
    for (part, place) in parts.into_iter().zip(places) {
        let group = group(&part);
        let joins = groups[group].last().is_some_and(|it| it.origin.message == origin);
        if !joins {
            let new = Item::whole(Message::new(Role::Tool), origin);
            groups[group].push(shell.take().unwrap_or(new));
        }
        if let Some(last) = groups[group].last_mut() {
            last.push_part(part, place);
        }
    }
}
