//! A fine-tuning line: chat messages (SE-70).

use std::collections::HashSet;

use msg_core::Role;

use super::Faults;
use crate::json::{Kind, Object, Value};
use crate::parts::openai;
use crate::view::{Origin, View};

pub(super) fn view(line: &Object<'_>, at: usize) -> View {
    let messages = line.get("messages").map(|it| openai::chat(it.source)).unwrap_or_default();
    let origins = messages.iter().enumerate();
    let origins = origins.map(|(n, it)| vec![Origin::block(at, n); it.parts.len()]).collect();
    View { messages, origins, ..View::default() }
}

pub(super) fn check(line: &Object<'_>) -> Faults {
    let mut faults = Faults::default();
    let messages = line.list("messages");
    let messages: Option<Vec<_>> = messages.iter().map(|it| message(*it)).collect();
    let Some(messages) = messages.filter(|it| !it.is_empty()) else {
        faults.add("session::bad-shape", "the line has no list of messages of the right types");
        return faults;
    };
    if messages.iter().any(|it| Role::known(&it.role).is_none() && it.role != "function") {
        faults.add("session::unknown-role", "unknown role");
        return faults;
    }
    links(&messages, &mut faults);
    messages.iter().for_each(|it| content(it, &mut faults));
    ends(&messages, &mut faults);
    faults
}

/// A message of the right types.
struct Message<'a> {
    role: String,
    object: Object<'a>,
    calls: Vec<(String, String)>,
}

fn message(value: Value<'_>) -> Option<Message<'_>> {
    let object = value.object()?;
    let role = object.text("role")?.into_owned();
    let is_content = |it: &Value<'_>| matches!(it.kind(), Kind::String | Kind::Array | Kind::Null);
    object.get("content").is_none_or(|it| is_content(&it)).then_some(())?;
    if role == "tool" {
        object.text("tool_call_id")?;
    }
    let calls = match object.get("tool_calls").filter(|it| !it.is_null()) {
        Some(list) => list.array()?.iter().map(|it| call(*it)).collect::<Option<_>>()?,
        None => Vec::new(),
    };
    Some(Message { role, object, calls })
}

/// Id and arguments of a call.
fn call(value: Value<'_>) -> Option<(String, String)> {
    let call = value.object()?;
    let function = call.get("function")?.object()?;
    function.text("name")?;
    let id = call.text("id")?.into_owned();
    Some((id, function.text("arguments")?.into_owned()))
}

/// Results must come directly after their calls.
fn links(messages: &[Message<'_>], faults: &mut Faults) {
    let mut seen = HashSet::new();
    let mut open: HashSet<&str> = HashSet::new();
    for message in messages {
        if message.role == "tool" {
            let id = message.object.text("tool_call_id").unwrap_or_default();
            if !open.remove(&*id) {
                faults.add("session::orphan-result", "tool result matches no call right before it");
            }
            continue;
        }
        unanswered(&open, faults);
        open = message.calls.iter().map(|it| &*it.0).collect();
        for (id, arguments) in &message.calls {
            if !seen.insert(id) {
                faults.add("session::reused-call-id", "duplicate call id");
            }
            if msg_json::classify(arguments) != msg_json::TextState::Object {
                faults.add("session::bad-arguments", "call arguments are not a JSON object");
            }
        }
    }
    // The last answer may be the calls that are to be learnt.
    if messages.last().is_some_and(|it| it.role == "tool") {
        unanswered(&open, faults);
    }
}

fn unanswered(open: &HashSet<&str>, faults: &mut Faults) {
    if !open.is_empty() {
        faults.add("session::unanswered-call", "call without a result right after it");
    }
}

fn content(message: &Message<'_>, faults: &mut Faults) {
    if let Some(weight) = message.object.get("weight") {
        let is_weight = matches!(weight.source, "0" | "1" | "0.0" | "1.0");
        if !is_weight || message.role != "assistant" {
            faults.add("session::bad-weight", "a weight is not 0 or 1, or not of an answer");
        }
    }
    let says = message.object.get("content").is_some_and(|it| match it.text() {
        Some(text) => !text.is_empty(),
        None => it.array().is_some_and(|it| !it.is_empty()),
    });
    let has_calls = !message.calls.is_empty()
        || ["function_call", "refusal", "audio"]
            .iter()
            .any(|name| message.object.get(name).is_some_and(|it| !it.is_null()));
    if !says && !has_calls && message.role != "tool" {
        faults.add("session::empty-message", "a message has no content");
    }
}

fn ends(messages: &[Message<'_>], faults: &mut Faults) {
    let is_answer = |it: &Message<'_>| it.role == "assistant";
    if !messages.iter().any(is_answer) {
        faults.add("session::no-assistant", "the line has no answer of the assistant");
    } else if !messages.last().is_some_and(is_answer) {
        faults.add("session::last-not-assistant", "the line does not end with the assistant");
    }
}
