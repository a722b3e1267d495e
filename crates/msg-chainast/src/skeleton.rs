//! Messages without their texts, in the place of a copy (CA-71).
//!
//! What a profile refuses is judged on the mended chain. To know it without changing or copying a caller's
//! messages, the chain is mended in a likeness of it: ids, names and shapes are the same, and every text is
//! one of a few that are judged alike.

use msg_core::{
    Arguments, ArgumentsState, CallKind, Content, Message, Origin, Other, Part, RawJson, Reasoning,
    ToolCall, ToolResult,
};

use crate::conform::{ITEM, has_item_id, twins};

/// A likeness of a message; texts that are one of `telling` stay. O(parts), and O(bytes) only for arguments
/// and for texts of white space.
pub(crate) fn of(message: &Message, telling: &[&str]) -> Message {
    let mut likeness = Message::new(message.role.clone());
    likeness.name.clone_from(&message.name);
    for name in twins(message) {
        likeness.extra.insert(Origin::OpenAi, name, RawJson::string("x"));
    }
    likeness.parts = message.parts.iter().map(|it| part(it, telling)).collect();
    likeness
}

fn part(it: &Part, telling: &[&str]) -> Part {
    let mut likeness = shape(it, telling);
    if has_item_id(it) {
        let id = RawJson::new(r#"{"id":""}"#).expect("because the text is JSON");
        match &mut likeness {
            Part::Other(other) => other.value = id,
            other => drop(other.extra_mut().insert(Origin::Responses, ITEM, id)),
        }
    }
    likeness
}

fn shape(it: &Part, telling: &[&str]) -> Part {
    match it {
        Part::Text(it) => Part::text(text(&it.text)),
        Part::Refusal(it) => Part::refusal(text(&it.text)),
        Part::Reasoning(it) => Part::Reasoning(reasoning(it, telling)),
        Part::ToolCall(it) => Part::ToolCall(call(it)),
        Part::ToolResult(it) => Part::ToolResult(result(it, telling)),
        // Media and opaque parts count as content, whatever they hold.
        Part::Other(it) => Part::Other(Other::new(it.format.clone(), RawJson::string(""))),
        _ => Part::Image(msg_core::Image::default()),
    }
}

/// An empty text, one of white space, or another one.
fn text(it: &str) -> &'static str {
    match it {
        "" => "",
        it if it.trim_start().is_empty() => " ",
        _ => "x",
    }
}

/// As [`text`], but a telling one stays.
fn told<'t>(it: &'t str, telling: &[&str]) -> &'t str {
    if telling.contains(&it) { it } else { text(it) }
}

fn reasoning(it: &Reasoning, telling: &[&str]) -> Reasoning {
    let seal = |it: &Option<String>| it.as_deref().map(|it| text(it).to_owned());
    let mut likeness = Reasoning::new("");
    likeness.text = it.text.as_deref().map(|it| told(it, telling).to_owned());
    likeness.summary =
        it.summary.as_ref().map(|it| it.iter().map(|it| text(it).to_owned()).collect());
    likeness.signature = seal(&it.signature);
    likeness.redacted = seal(&it.redacted);
    likeness.encrypted = seal(&it.encrypted);
    likeness
}

fn call(it: &ToolCall) -> ToolCall {
    let arguments = match it.kind {
        CallKind::Function | CallKind::Unspecified => arguments(&it.arguments),
        _ => "",
    };
    let mut likeness = ToolCall::new(it.id.clone(), it.name.clone(), arguments);
    likeness.kind = it.kind.clone();
    likeness.signature = it.signature.as_deref().map(|it| text(it).to_owned());
    likeness
}

fn arguments(it: &Arguments) -> &'static str {
    match it.state() {
        ArgumentsState::Object => "{}",
        ArgumentsState::NotObject => "[]",
        _ if it.text().is_empty() => "",
        _ => "x",
    }
}

fn result(it: &ToolResult, telling: &[&str]) -> ToolResult {
    let content = it.content.as_text().map_or("x", |it| told(it, telling));
    let mut likeness = ToolResult::new(it.call_id.clone(), Content::from(content));
    likeness.kind = it.kind.clone();
    likeness.name.clone_from(&it.name);
    likeness
}
