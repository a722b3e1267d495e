//! Gemini's parts, as msg-gemini reads them, one at a time; and the calls of Gemini CLI, which are in a list
//! of their own.

use msg_core::{Origin, Other, Part, Place, ToolCall, ToolResult};
use msg_gemini::{ReadOptions, contents};

use crate::edit::{Object, Value};

/// The part that a Gemini part is; none of what is not an object.
pub(crate) fn part(value: Value<'_>) -> Option<Part> {
    let object = value.object()?;
    // Responses are of a user there, everything else may be of an answer.
    let role = if object.has("functionResponse") { "user" } else { "model" };
    let json = format!(r#"[{{"role":"{role}","parts":[{}]}}]"#, value.source);
    let read = contents::read(json.as_bytes(), &ReadOptions::default());
    let mut messages = read.map(|it| it.0.into_messages()).unwrap_or_default();
    match messages.pop().map(|it| it.parts) {
        Some(mut parts) if parts.len() == 1 && messages.is_empty() => {
            let mut part = parts.pop()?;
            // A part that is read alone has no neighbours to be numbered by.
            match (&mut part, id_of(&object)) {
                (Part::ToolCall(it), Some(id)) => it.id = id,
                (Part::ToolResult(it), Some(id)) => it.call_id = id,
                _ => {}
            }
            Some(super::with_media_types(part))
        }
        _ => Some(other(value)),
    }
}

/// The id that a call or response says of itself, `""` if none.
fn id_of(part: &Object<'_>) -> Option<String> {
    let call = ["functionCall", "functionResponse"].iter().find_map(|it| part.get(it));
    call?.object().map(|it| super::text(&it, "id"))
}

/// A call of the list of calls.
pub(crate) fn call(object: &Object<'_>) -> ToolCall {
    let arguments = object.get("args").map_or("", |it| it.source);
    ToolCall::new(super::text(object, "id"), super::text(object, "name"), arguments)
}

/// A response: `output` and `error` are texts, everything else is JSON.
pub(crate) fn result(part: Value<'_>) -> Option<ToolResult> {
    match self::part(part)? {
        Part::ToolResult(it) => Some(it),
        _ => None,
    }
}

fn other(value: Value<'_>) -> Part {
    let place = Some(Place::Content);
    Part::Other(Other { place, ..Other::new(Origin::from("gemini"), value.raw_json()) })
}
