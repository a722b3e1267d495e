//! How the streams of both formats are recognised (OA-17).

use msg_codec::{Family, Json};

use super::{ChatAssembler, ResponsesAssembler};

/// Chat Completions streams, of OpenAI and of everybody who is compatible, for a
/// [`StreamReader`](msg_codec::StreamReader). Last in a list of families: bodies that are errors, and
/// no body at all, are read as theirs.
pub const CHAT: Family = Family {
    name: "openai",
    recognises: |event| {
        event.get("choices").is_some()
            || has(event, "object", "chat.completion")
            || has(event, "object", "text_completion")
    },
    assembler: Some(|options| Box::new(ChatAssembler::new(options))),
};

/// OpenAI Responses streams, for a [`StreamReader`](msg_codec::StreamReader).
///
/// ```
/// use msg_openai::{CHAT, RESPONSES, StreamOptions, StreamReader};
///
/// let mut reader = StreamReader::new(&[RESPONSES, CHAT], StreamOptions::default());
/// reader.feed(br#"{"object":"response","status":"completed","output":[]}"#, &mut |_| {});
/// assert!(reader.finish(&mut |_| {}).complete);
/// ```
pub const RESPONSES: Family = Family {
    name: "responses",
    recognises: |event| {
        has(event, "type", "response.")
            || event.get("object").and_then(Json::text).is_some_and(|it| it == "response")
    },
    assembler: Some(|options| Box::new(ResponsesAssembler::new(options))),
};

/// Whether a member is a text that begins like this.
fn has(object: Json<'_>, member: &str, start: &str) -> bool {
    object.get(member).and_then(Json::text).is_some_and(|it| it.starts_with(start))
}
