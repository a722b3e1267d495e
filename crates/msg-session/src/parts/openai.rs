//! Responses items and chat messages as msg-openai reads them, one at a time.

use msg_core::{Message, Origin, Other, Part, Place, RawJson, Role};
use msg_openai::{ReadOptions, responses};

use crate::json::raw_json;

/// What one item says, as a message; `before` is the item of the same answer before it.
pub(crate) fn item(source: &str, before: Option<&str>) -> Message {
    let json = match before {
        Some(before) => format!("[{before},{source}]"),
        None => format!("[{source}]"),
    };
    let skip = before.map_or(0, |it| item(it, None).parts.len());
    let read = responses::read(json.as_bytes(), &ReadOptions::default());
    let message = read.ok().and_then(|it| it.0.into_messages().into_iter().next());
    match message {
        Some(mut it) if it.parts.len() > skip => {
            it.parts.drain(..skip);
            it
        }
        _ => unknown_item(raw_json(source)),
    }
}

/// An item that is kept and not understood.
pub(crate) fn unknown_item(value: RawJson) -> Message {
    let other = Other { place: Some(Place::Item), ..Other::new(Origin::Responses, value) };
    Message::new(Role::Assistant).with_part(Part::Other(other))
}

/// The messages of a list of chat messages; none of anything else.
pub(crate) fn chat(json: &str) -> Vec<Message> {
    let read = msg_openai::chat::read(json.as_bytes(), &ReadOptions::default());
    read.map(|it| it.0.into_messages()).unwrap_or_default()
}
