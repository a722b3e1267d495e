//! Messages with more calls than they may hold become several, each with its results: summarizations (CA-37), and
//! what one provider limits (step 13 of CA-72).
//!
//! ```text
//! assistant(a, b, c) tool(c) tool(a) tool(b)   ─ at most 2 ─▶   assistant(a, b) tool(a) tool(b) assistant(c) tool(c)
//! ```

use std::{collections::HashMap, ops::Range};

use msg_core::{Message, Part, Role};

use super::item::Item;
use crate::constants::SUMMARIZATION_TOOL_NAME;

/// What stands behind an assistant message once it was split, in the place of its tool messages.
pub(crate) struct Split<'m> {
    assistant: usize,
    tools: Range<usize>,
    pub(crate) behind: Vec<Item<'m>>,
}

/// The assistant messages with the tool messages directly behind each.
pub(crate) fn pairs(items: &[Item<'_>]) -> Vec<(usize, Range<usize>)> {
    let mut pairs: Vec<(usize, Range<usize>)> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        match item.message.role {
            Role::Assistant => pairs.push((at, at + 1..at + 1)),
            Role::Tool => {
                if let Some((_, tools)) = pairs.last_mut().filter(|it| it.1.end == at) {
                    tools.end = at + 1;
                }
            }
            _ => {}
        }
    }
    pairs
}

/// Whether there are as many results behind an assistant message as it has calls.
pub(crate) fn is_answered(items: &[Item<'_>], assistant: usize, tools: Range<usize>) -> bool {
    let n_results: usize = items[tools].iter().map(|it| it.message.tool_results().count()).sum();
    n_results >= items[assistant].message.tool_calls().count()
}

/// Splits each summarization with more calls than its own.
pub(super) fn split_summaries(items: &mut Vec<Item<'_>>) {
    let mut splits = Vec::new();
    for (assistant, tools) in pairs(items) {
        if is_answered(items, assistant, tools.clone()) {
            splits.extend(Split::of(items, assistant, tools, usize::MAX));
        }
    }
    put_behind(items, splits);
}

/// Puts what was split off behind the messages that it was in.
pub(crate) fn put_behind<'m>(items: &mut Vec<Item<'m>>, splits: Vec<Split<'m>>) {
    let mut rest = std::mem::take(items).into_iter();
    let mut next = 0;
    for Split { assistant, tools, behind } in splits {
        items.extend(rest.by_ref().take(assistant + 1 - next));
        items.extend(behind);
        rest.by_ref().take(tools.len()).for_each(drop);
        next = tools.end;
    }
    items.extend(rest);
}

impl<'m> Split<'m> {
    /// Takes the calls behind the first `max`, and all results, out of their messages; other parts stay. None if
    /// the message may have all its calls.
    pub(crate) fn of(
        items: &mut [Item<'m>],
        assistant: usize,
        tools: Range<usize>,
        max: usize,
    ) -> Option<Self> {
        let (groups, n_groups) = groups(&items[assistant].message, max);
        if n_groups < 2 {
            return None;
        }
        let mut messages: Vec<Vec<Item<'m>>> = (0..n_groups).map(|_| Vec::new()).collect();
        let (parts, places) = items[assistant].split_parts(0);
        for (part, place) in parts.into_iter().zip(places) {
            match group_of(&part, &groups) {
                0 => items[assistant].push_part(part, place),
                group => {
                    if messages[group].is_empty() {
                        let message = Message::new(Role::Assistant);
                        messages[group].push(Item::whole(message, place.0));
                    }
                    messages[group][0].push_part(part, place);
                }
            }
        }
        for tool in tools.clone() {
            let blank = Item::whole(Message::new(Role::Tool), 0);
            sort_results(std::mem::replace(&mut items[tool], blank), &groups, &mut messages);
        }
        let behind = messages.into_iter().flatten().collect();
        Some(Split { assistant, tools, behind })
    }
}

/// The messages that the calls go to, by id, and how many there are. A call of the summarization tool that a message
/// would begin with is alone in it.
fn groups(message: &Message, max: usize) -> (HashMap<String, usize>, usize) {
    let mut groups = HashMap::new();
    let (mut group, mut n_calls, mut is_summary) = (0, 0, false);
    for call in message.tool_calls() {
        if n_calls == max || is_summary {
            group += 1;
            n_calls = 0;
        }
        is_summary = n_calls == 0 && call.name == SUMMARIZATION_TOOL_NAME;
        n_calls += 1;
        groups.insert(call.id.clone(), group);
    }
    (groups, group + 1)
}

/// The message that a call goes to, or a result with its call; other parts stay in the first.
fn group_of(part: &Part, groups: &HashMap<String, usize>) -> usize {
    let id = match part {
        Part::ToolCall(it) => &it.id,
        Part::ToolResult(it) => &it.call_id,
        _ => return 0,
    };
    groups.get(id).copied().unwrap_or(0)
}

/// Puts a tool message behind the message with its calls; one whose results go to several is split.
fn sort_results<'m>(
    mut item: Item<'m>,
    groups: &HashMap<String, usize>,
    messages: &mut [Vec<Item<'m>>],
) {
    let Some(first) = item.message.parts.first().map(|it| group_of(it, groups)) else { return };
    if item.message.parts.iter().all(|it| group_of(it, groups) == first) {
        messages[first].push(item);
        return;
    }
    let origin = item.origin.message;
    let (parts, places) = item.split_parts(0);
    let mut shell = Some(item);
    for (part, place) in parts.into_iter().zip(places) {
        let group = &mut messages[group_of(&part, groups)];
        let is_begun = |it: &Item<'_>| it.message.role == Role::Tool && it.origin.message == origin;
        if !group.last().is_some_and(is_begun) {
            let new = Item::whole(Message::new(Role::Tool), origin);
            group.push(shell.take().unwrap_or(new));
        }
        if let Some(last) = group.last_mut() {
            last.push_part(part, place);
        }
    }
}
