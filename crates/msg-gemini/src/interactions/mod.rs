//! The Gemini Interactions API (`POST /v1beta/interactions`) both ways: requests, interactions, steps, and streams
//! (GI-1 to GI-28).
//!
//! ```text
//! {"input":[{"type":"user_input","content":[…]}]}    read ▶ messages ▶ write   the same, edits aside
//! data: {"event_type":"step.delta",…}                feed ▶ StreamEvent
//! ```

mod events;
mod head;
mod read;
mod request;
mod response;
mod shape;
mod stream;
mod write;

use msg_codec::codec;
use msg_core::{Message, Report};

pub use self::events::{InteractionEvents, write_events};
pub use self::request::{InteractionRequest, is_continued};
pub use self::response::Interaction;
pub use self::stream::{INTERACTIONS, Interacting, InteractionAssembler};
use crate::{ReadOptions, WriteOptions};

/// A document of the API: an array of steps, an object with `input`, or one with `steps` or `outputs` (GI-1).
pub type Document = codec::Document<InteractionRequest>;

/// Reads a document of interactions (GI-1 to GI-14), and says what is odd about it. It fails only for text that is
/// not JSON and for what is not a conversation. Linear in the input.
///
/// ```
/// use msg_core::Role;
/// use msg_gemini::{ReadOptions, interactions};
///
/// let json = br#"{"model":"gemini-x","system_instruction":"Be brief.","input":[
///     {"type":"user_input","content":[{"type":"text","text":"20?"}]},
///     {"type":"thought","signature":"S"},
///     {"type":"function_call","id":"c","name":"get","arguments":{}},
///     {"type":"function_result","call_id":"c","name":"get","result":"20"}]}"#;
/// let (document, report) = interactions::read(json, &ReadOptions::new())?;
/// assert!(report.is_empty());
/// let roles: Vec<_> = document.messages().map(|it| &it.role).collect();
/// assert_eq!(roles, [&Role::System, &Role::User, &Role::Assistant, &Role::Tool]);
/// # Ok::<(), msg_gemini::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`](crate::Error::Read) with message and byte, or [`Error::TooLarge`](crate::Error::TooLarge).
pub fn read(json: &[u8], options: &ReadOptions) -> Result<(Document, Report), crate::Error> {
    Document::read(json, options)
}

/// Appends messages as what is sent to the API, `{"system_instruction"?,"input"}` (GI-1, GI-2, GI-15), and says what
/// the format cannot hold (MS-24). Linear in the output.
///
/// ```
/// use msg_core::{Message, Part, ToolCall};
/// use msg_gemini::{WriteOptions, interactions};
///
/// let call = ToolCall::new("c", "add", r#"{"a":1}"#);
/// let chat = [
///     Message::user("1 + ?"),
///     Message::assistant("").with_part(Part::ToolCall(call)),
///     Message::tool_result("c", "2"),
/// ];
/// let mut out = Vec::new();
/// let report = interactions::write(&chat, &WriteOptions::new(), &mut out);
/// assert!(report.is_empty());
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     concat!(
///         r#"{"input":[{"type":"user_input","content":[{"type":"text","text":"1 + ?"}]},"#,
///         r#"{"type":"function_call","id":"c","name":"add","arguments":{"a":1}},"#,
///         r#"{"type":"function_result","call_id":"c","name":"add","result":"2"}]}"#,
///     ),
/// );
/// ```
pub fn write(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
    InteractionRequest::write_conversation(messages, options, out)
}
