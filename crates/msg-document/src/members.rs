//! What formats of other programs have in common: members that are taken one by one, what is left of them, and
//! what has no place.

use std::borrow::Cow;

use msg_codec::codec::{Losses, text_of_part};
use msg_core::{Extra, Origin, RawJson, Severity, ToolCall, ToolResult};
use msg_json::{TextState, Writer};
use serde::de::DeserializeOwned;

/// The members of an object that are not taken yet.
pub(crate) type Members = Vec<(String, RawJson)>;

/// Takes a member of this type out, of several of its name the last; one of another type stays.
pub(crate) fn take<T: DeserializeOwned>(members: &mut Members, name: &str) -> Option<T> {
    let at = members.iter().rposition(|it| it.0 == name)?;
    let value = members[at].1.parse().ok()?;
    members.remove(at);
    Some(value)
}

/// Keeps what is left of an object as unknown members of a format.
pub(crate) fn keep_rest(extra: &mut Extra, origin: &Origin, rest: Members) {
    for (name, raw) in rest {
        extra.insert(origin.clone(), name, raw);
    }
}

/// Writes the unknown members of a format after the known ones, whose names are these.
pub(crate) fn write_rest(extra: &Extra, origin: &Origin, known: &[&str], out: &mut Writer<'_>) {
    for (name, raw) in extra.iter(origin).filter(|it| !known.contains(&it.0)) {
        out.key(name).raw(raw.text());
    }
}

/// Writes the arguments of a call, as their value if they are JSON. A JSON string is written as text, for a string is
/// read as the text that it holds.
pub(crate) fn write_arguments(call: &ToolCall, out: &mut Writer<'_>) {
    out.key("arguments");
    let text = call.arguments.text();
    match call.arguments.state() {
        TextState::Object => out.raw(text),
        TextState::Value if !text.trim_start().starts_with('"') => out.raw(text),
        _ => out.str(text),
    }
}

/// That a refusal goes out as a text.
pub(crate) fn note_refusal(at: usize, losses: &mut Losses<'_>) {
    let text = "a refusal is a text here";
    losses.note(Severity::Info, "convert::refusal-as-text", Some(at), text);
}

/// What is lost of a result of which only the text goes out, and what JSON that is in its text.
pub(crate) fn note_result(at: usize, result: &ToolResult, losses: &mut Losses<'_>) {
    if result.is_error {
        losses.member(Some(at), "is_error");
    }
    if result.content.parts().iter().filter_map(text_of_part).count() > 1 {
        losses.warn(
            "convert::merged-parts",
            Some(at),
            "the texts of a result became one, a line each",
        );
    }
    for it in result.content.parts() {
        match (it.as_text(), text_of_part(it)) {
            (Some(_), _) => {}
            (None, Some(_)) => note_json(at, losses),
            (None, None) => losses.part(at, it.kind()),
        }
    }
}

/// That a JSON part goes out as its text.
pub(crate) fn note_json(at: usize, losses: &mut Losses<'_>) {
    losses.warn("convert::json-as-text", Some(at), "a JSON part is written as its text");
}

/// The texts of a result, a line each; of a JSON part its text.
pub(crate) fn text_of_result(result: &ToolResult) -> Cow<'_, str> {
    let texts: Vec<_> = result.content.parts().iter().filter_map(text_of_part).collect();
    match texts.as_slice() {
        [] => Cow::Borrowed(""),
        [one] => Cow::Borrowed(one),
        more => Cow::Owned(more.join("\n")),
    }
}
