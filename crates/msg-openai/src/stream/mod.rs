//! Event streams of Chat Completions and Responses (OA-18 to OA-22): events in, a message out. Bytes,
//! bodies and recognition are for [`StreamReader`](msg_codec::StreamReader); this is what it is given.
//!
//! ```text
//! {"choices":[{"index":0,"delta":{"content":"Hi"}}]}                        chat: one message a choice
//! {"type":"response.output_text.delta","output_index":0,"delta":"Hi"}       responses: one of items
//! ```

mod chat;
mod choice;
mod delta;

mod items;
mod output;
mod responses;

mod result;

use msg_codec::{Family, Json};

pub use chat::ChatAssembler;
pub use responses::ResponsesAssembler;
pub use result::{MessageForm, write_result};

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
