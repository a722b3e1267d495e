//! How the streams of both formats are recognised (OA-17).

use msg_wire::{Assembler, Family, Json, StreamOptions};

use super::{ChatAssembler, ResponsesAssembler};

/// Chat Completions streams, of OpenAI and of everybody who is compatible, for a
/// [`StreamReader`](msg_wire::StreamReader). Last in a list of families: bodies that are errors, and
/// no body at all, are read as theirs.
pub static CHAT: &dyn Family = &Chat;

/// OpenAI Responses streams, for a [`StreamReader`](msg_wire::StreamReader).
///
/// ```
/// use msg_openai::{CHAT, RESPONSES, StreamOptions, StreamReader};
///
/// let mut reader = StreamReader::new(&[RESPONSES, CHAT], StreamOptions::default());
/// reader.feed(br#"{"object":"response","status":"completed","output":[]}"#, &mut |_| {});
/// assert!(reader.finish(&mut |_| {}).complete);
/// ```
pub static RESPONSES: &dyn Family = &Responses;

#[derive(Debug)]
struct Chat;

#[derive(Debug)]
struct Responses;

impl Family for Chat {
    fn name(&self) -> &'static str {
        "openai"
    }

    fn recognises(&self, event: Json<'_>) -> bool {
        event.get("choices").is_some()
            || has(event, "object", "chat.completion")
            || has(event, "object", "text_completion")
    }

    fn assembler(&self, options: &StreamOptions) -> Option<Box<dyn Assembler>> {
        Some(Box::new(ChatAssembler::new(options)))
    }
}

impl Family for Responses {
    fn name(&self) -> &'static str {
        "responses"
    }

    fn recognises(&self, event: Json<'_>) -> bool {
        has(event, "type", "response.")
            || event.get("object").and_then(Json::text).is_some_and(|it| it == "response")
    }

    fn assembler(&self, options: &StreamOptions) -> Option<Box<dyn Assembler>> {
        Some(Box::new(ResponsesAssembler::new(options)))
    }
}

/// Whether a member is a text that begins like this.
fn has(object: Json<'_>, member: &str, start: &str) -> bool {
    object.get(member).and_then(Json::text).is_some_and(|it| it.starts_with(start))
}
