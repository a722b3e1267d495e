//! Chat messages, requests and responses of the Chat Completions API (OA-1 to OA-5), and of the many
//! servers that speak almost that. No tokens, no network, no judgement: what is wrong with a
//! conversation is for `msg-chainast` to say.
//!
//! ```text
//! {"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[…]}     request
//! {"choices":[{"message":{"role":"assistant","content":"hello"}}]}          response
//! ```

mod request;
mod response;

mod read;
mod write;

pub(crate) mod shape;

use msg_codec::codec;
use msg_core::{Message, Report, Role};
use serde::{Serialize, Serializer, ser::Error as _};
use serde_json::value::RawValue;

use crate::{ReadOptions, WriteOptions};

pub use crate::chat::shape::unpack_details;
pub use request::ChatRequest;
pub use response::ChatResponse;

pub(crate) use read::{messages as read_messages, one_message as read_message, says};
pub(crate) use write::{Writer, text_of};

/// Appends the messages as a JSON array (OA-2): one message of the array for each, more where a
/// message holds tool results, none for a tool message without one. What the format cannot hold is
/// reported (MS-24). Linear in the output.
///
/// ```
/// use msg_core::{Message, Part, ToolCall};
/// use msg_openai::{WriteOptions, chat};
///
/// let call = ToolCall::new("call_1", "add", r#"{"a":1}"#);
/// let messages = [Message::user("1 + ?"), Message::assistant("").with_part(Part::ToolCall(call))];
/// let mut out = Vec::new();
/// let report = chat::write(&messages, &WriteOptions::new(), &mut out);
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     concat!(
///         r#"[{"role":"user","content":"1 + ?"},"#,
///         r#"{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","#,
///         r#""function":{"name":"add","arguments":"{\"a\":1}"}}]}]"#,
///     ),
/// );
/// assert!(report.is_empty());
/// ```
pub fn write(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
    let mut report = Report::new();
    write::messages(messages, options, out, &mut report);
    report
}

/// The messages as a JSON array; [`write()`] without the report.
pub fn to_chat_messages(messages: &[Message], options: &WriteOptions) -> Vec<u8> {
    let mut out = Vec::new();
    write::messages(messages, options, &mut out, &mut Report::with_cap(0));
    out
}

/// Messages that serialise as the `messages` of a request, inside a body of your own.
///
/// Meant for `serde_json`, into whose output the bytes go as they are; other serialisers get what
/// they make of a [`RawValue`].
///
/// ```
/// use msg_core::Message;
/// use msg_openai::{WriteOptions, chat::ChatMessages};
///
/// let (messages, options) = ([Message::user("hi")], WriteOptions::new());
/// let json = serde_json::to_string(&ChatMessages::new(&messages, &options))?;
/// assert_eq!(json, r#"[{"role":"user","content":"hi"}]"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ChatMessages<'a> {
    messages: &'a [Message],
    options: &'a WriteOptions,
}

impl<'a> ChatMessages<'a> {
    /// These messages, written with these options.
    pub fn new(messages: &'a [Message], options: &'a WriteOptions) -> Self {
        Self { messages, options }
    }
}

impl Serialize for ChatMessages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = to_chat_messages(self.messages, self.options);
        serialize_raw(json, serializer)
    }
}

/// Hands finished JSON to a serialiser.
pub(crate) fn serialize_raw<S: Serializer>(
    json: Vec<u8>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let text = String::from_utf8(json).map_err(S::Error::custom)?;
    RawValue::from_string(text).map_err(S::Error::custom)?.serialize(serializer)
}

/// Whether a message of this role is read and written as one of a tool: a chain is mended by reading a role
/// that only case or white space make another, and its `tool_call_id` must be there then (OA-1).
fn is_tool(role: &Role) -> bool {
    match role {
        Role::Tool => true,
        Role::Other(word) => spells_tool(word),
        _ => false,
    }
}

fn spells_tool(word: &str) -> bool {
    word.trim().eq_ignore_ascii_case("tool")
}

/// A document that holds chat messages: an array, an object with `messages`, or one with `choices`.
pub type Document = codec::Document<ChatRequest>;

/// Reads a document of chat messages (OA-1, OA-3). What is odd about it is reported; it fails only
/// for text that is not JSON and for what is not a conversation. Linear in the input, and one
/// allocation a text.
///
/// ```
/// use msg_openai::{ReadOptions, chat};
///
/// let json = br#"{"model":"m","messages":[{"role":"human","content":"hi"}]}"#;
/// let (document, report) = chat::read(json, &ReadOptions::new())?;
/// assert_eq!(document.messages().next().map(|it| it.text()), Some("hi".into()));
/// assert_eq!(report.iter().next().map(|it| it.code.as_str()), Some("message::role-spelling"));
///
/// let error = chat::read(br#"[{"content":"hi"}]"#, &ReadOptions::new()).unwrap_err();
/// assert!(error.to_string().starts_with("message 0: "));
/// # Ok::<(), msg_openai::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::Read`] with message and byte, or [`crate::Error::TooLarge`].
pub fn read(json: &[u8], options: &ReadOptions) -> Result<(Document, Report), crate::Error> {
    Document::read(json, options)
}
