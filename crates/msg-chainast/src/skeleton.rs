//! Messages without their texts, in the place of a copy (CA-71).
//!
//! What a profile refuses is judged on the mended chain. To know it without changing or copying a caller's
//! messages, a reduced copy of it is mended: ids, names and shapes are the same, and every text is one of a few
//! that are judged alike.
//!
//! ```text
//! user "What is 6 × 7?"   assistant call a("{\"x\":6}")   tool a "42"
//! user "x"                assistant call a("{}")            tool a "x"
//! ```

use msg_core::{
    Arguments, ArgumentsState, Audio, CallKind, Content, Extra, File, Image, Message, Origin,
    Other, Part, RawJson, Reasoning, ToolCall, ToolResult, json,
};

use crate::{
    arguments::sanitize_json_control_chars,
    conform::{CACHE_MARKER, Facts, ITEM, item_id, twins},
    profile::Profile,
};

/// A reduced copy of a message; texts that are one of `significant` stay, and so does of media and extra members
/// what the profile asks for. O(parts), and O(bytes) only for arguments, texts of white space, opaque parts
/// and what the profile asks for.
pub(crate) fn of(message: &Message, significant: &[&str], profile: &Profile) -> Message {
    let mut reduced = Message::new(message.role.clone());
    reduced.name.clone_from(&message.name);
    members(&message.extra, &mut reduced.extra, profile);
    if let Some(provenance) = message.provenance() {
        reduced.set_provenance(provenance.clone());
    }
    for name in twins(message) {
        reduced.extra.insert(Origin::OpenAi, name, RawJson::string("x"));
    }
    reduced.parts = message.parts.iter().map(|it| part(it, significant, profile)).collect();
    reduced
}

/// The members that a profile has a rule for.
fn members(from: &Extra, to: &mut Extra, profile: &Profile) {
    let all = profile.known_members_only || !profile.refused_members.is_empty();
    if !all && profile.cache_max == 0 && profile.prefill.is_empty() {
        return;
    }
    let has_rule = |name: &str| all || name == CACHE_MARKER || name == profile.prefill;
    for (origin, name, value) in from.all().filter(|it| has_rule(it.1)) {
        let whole = name == CACHE_MARKER || value.text().len() <= 4;
        // A text could be one that repeats the reasoning of the message; nothing else could.
        let stand_in = if value.text().starts_with('"') { "\"x\"" } else { "[0]" };
        let stand_in = || stand_in.parse().expect("because the text is JSON");
        to.insert(origin.clone(), name, if whole { value.clone() } else { stand_in() });
    }
}

fn part(it: &Part, significant: &[&str], profile: &Profile) -> Part {
    let mut reduced = shape(it, significant, profile);
    members(it.extra(), reduced.extra_mut(), profile);
    if let Some(id) = item_id(it) {
        let text = if profile.item_ids.is_empty() { "" } else { &id };
        let id = Facts { id: Some(text.to_owned()), ..Facts::default() }.to_json();
        match &mut reduced {
            Part::Other(it) if Facts::of(it).id.is_some() => {}
            Part::Other(other) => other.value = id,
            other => drop(other.extra_mut().insert(Origin::Responses, ITEM, id)),
        }
    }
    reduced
}

fn shape(it: &Part, significant: &[&str], profile: &Profile) -> Part {
    match it {
        Part::Text(it) => Part::text(text(&it.text)),
        Part::Refusal(it) => Part::refusal(text(&it.text)),
        Part::Reasoning(it) => Part::Reasoning(reasoning(it, significant)),
        Part::ToolCall(it) => Part::ToolCall(call(it)),
        Part::ToolResult(it) => Part::ToolResult(result(it, significant, profile)),
        // Media and opaque parts count as content, whatever they hold.
        Part::Audio(_) => Part::Audio(Audio::default()),
        Part::File(it) => Part::File(File { filename: it.filename.clone(), ..File::default() }),
        Part::Other(it) => Part::Other(Other::new(it.format.clone(), Facts::of(it).to_json())),
        _ => Part::Image(Image::default()),
    }
}

/// An empty text, one of white space, one that ends in it, or another one.
fn text(it: &str) -> &'static str {
    match it {
        "" => "",
        it if it.trim_start().is_empty() => " ",
        it if it.ends_with(char::is_whitespace) => "x ",
        _ => "x",
    }
}

/// As [`text`], but a significant one stays.
fn kept_text<'t>(it: &'t str, significant: &[&str]) -> &'t str {
    if significant.contains(&it) { it } else { text(it) }
}

fn reasoning(it: &Reasoning, significant: &[&str]) -> Reasoning {
    let seal = |it: &Option<String>| it.as_deref().map(|it| text(it).to_owned());
    let mut reduced = Reasoning::new("");
    reduced.text = it.text.as_deref().map(|it| kept_text(it, significant).to_owned());
    reduced.summary =
        it.summary.as_ref().map(|it| it.iter().map(|it| text(it).to_owned()).collect());
    reduced.signature = seal(&it.signature);
    reduced.redacted = seal(&it.redacted);
    reduced.encrypted = seal(&it.encrypted);
    // That there is a layout says that it is a content part of its own.
    if it.extra.layout(&Origin::OpenAi).is_some() {
        reduced.extra.set_layout(Origin::OpenAi, []);
    }
    reduced
}

fn call(it: &ToolCall) -> ToolCall {
    let arguments = match it.kind {
        CallKind::Function | CallKind::Unspecified => arguments(&it.arguments),
        _ => "",
    };
    let mut reduced = ToolCall::new(it.id.clone(), it.name.clone(), arguments);
    reduced.kind = it.kind.clone();
    reduced.signature = it.signature.as_deref().map(|it| text(it).to_owned());
    reduced
}

fn arguments(it: &Arguments) -> &'static str {
    match it.state() {
        ArgumentsState::Object => "{}",
        ArgumentsState::NotObject => "[]",
        _ if it.text().is_empty() => "",
        _ => broken(it.text()),
    }
}

/// What stands for a text that is no JSON: one that escaping its control characters makes an object or
/// another value, or one that nothing does.
fn broken(text: &str) -> &'static str {
    match json::classify(&sanitize_json_control_chars(text)) {
        json::TextState::Object => "{\"\n\":0}",
        json::TextState::Value => "[\"\n\"]",
        _ => "x",
    }
}

fn result(it: &ToolResult, significant: &[&str], profile: &Profile) -> ToolResult {
    let content = match it.content.as_text() {
        Some(text) => Content::from(kept_text(text, significant)),
        None => it.content.parts().iter().map(|it| part(it, significant, profile)).collect(),
    };
    let mut reduced = ToolResult::new(it.call_id.clone(), content);
    reduced.name.clone_from(&it.name);
    reduced.is_error = it.is_error;
    reduced
}
