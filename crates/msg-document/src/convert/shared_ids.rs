//! Calls that share an id, for a format whose results do not name their tool (MS-30).
//!
//! ```text
//! call x f, call x g, result x g                   a result of the first call, once the name is gone
//! call x f, call call_1 g, result call_1
//! ```

use std::collections::{HashMap, HashSet};

use msg_core::{Code, Diagnostic, Message, OpenCalls, Part, Report, UsedIds};

/// The formats whose results do not name their tool.
const NAMELESS: [&str; 5] = ["anthropic", "bedrock", "responses", "otel", "turns"];

/// The index of a message, and of a part in it.
type Place = (usize, usize);

/// Gives each later call with the same id a new one, and its results too, if results without names would match the
/// wrong call. Linear.
pub(super) fn settle_shared_ids(messages: &mut [Message], to: &str) -> Report {
    let mut report = Report::new();
    let is_named = |it: &Message| it.tool_results().any(|it| it.name.is_some());
    if !NAMELESS.contains(&to) || !messages.iter().any(is_named) || !shares_ids(messages) {
        return report;
    }
    let results = answered_in(messages, OpenCalls::default());
    let in_order = answered_in(messages, OpenCalls::nameless());
    let swapped = results.iter().zip(in_order).filter(|(it, other)| it.call != other.call);
    let shared: HashSet<String> = swapped.map(|it| it.0.id.to_owned()).collect();
    if shared.is_empty() {
        return report;
    }
    let calls: Vec<_> = results.into_iter().filter_map(|it| Some((it.place, it.call?))).collect();
    let fresh = with_fresh_ids(messages, &shared, &mut report);
    for (result, call) in calls {
        if let (Some(id), Part::ToolResult(it)) =
            (fresh.get(&call), &mut messages[result.0].parts[result.1])
        {
            it.call_id.clone_from(id);
        }
    }
    report
}

/// Whether several calls share an id. If not, the names of results do not matter.
fn shares_ids(messages: &[Message]) -> bool {
    let mut ids = HashSet::new();
    messages.iter().flat_map(Message::tool_calls).any(|it| !ids.insert(it.id.as_str()))
}

/// A result and the call that it answers.
struct Found<'m> {
    id: &'m str,
    place: Place,
    call: Option<Place>,
}

fn answered_in<'m>(messages: &'m [Message], mut open: OpenCalls<'m, Place>) -> Vec<Found<'m>> {
    let mut found = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        open.message(
            message,
            |part, _| (at, part),
            |part, it, call| found.push(Found { id: &it.call_id, place: (at, part), call }),
        );
    }
    found
}

/// Gives each call with one of these ids, except the first of each id, a new id. Returns the new ids by place.
fn with_fresh_ids(
    messages: &mut [Message],
    shared: &HashSet<String>,
    report: &mut Report,
) -> HashMap<Place, String> {
    let mut used = UsedIds::of(&*messages);
    let (mut fresh, mut seen, mut n_calls, mut next) = (HashMap::new(), HashSet::new(), 0, 0);
    for (at, message) in messages.iter_mut().enumerate() {
        for (part, it) in message.parts.iter_mut().enumerate() {
            let Part::ToolCall(it) = it else { continue };
            next = n_calls.max(next);
            n_calls += 1;
            if !shared.contains(&it.id) || seen.insert(it.id.clone()) {
                continue;
            }
            let draw = |_| {
                next += 1;
                format!("call_{}", next - 1)
            };
            let id = used.fresh(u64::MAX, draw).0;
            let old = std::mem::replace(&mut it.id, id);
            let text = format!("another call has the id `{old}`, this one is called {}", it.id);
            let told = Diagnostic::info(Code::new("convert::id-synthesised"), text);
            report.push(told.at_part(at, part));
            fresh.insert((at, part), it.id.clone());
        }
    }
    fresh
}
