//! The documents of the Messages API: a bare list, a request, a response (AN-1).

use msg_codec::codec;
use msg_core::{Message, Report};

use crate::{MessagesRequest, ReadOptions, WriteOptions};

/// A document that holds Anthropic messages: an array, an object with `messages`, or one with `content` and
/// `role`.
pub type Document = codec::Document<MessagesRequest>;

/// Reads a document of Anthropic messages (AN-1 to AN-12), and says what is odd about it. It fails only
/// for text that is not JSON and for what is not a conversation. Linear in the input, one allocation a text.
///
/// ```
/// use msg_anthropic::{ReadOptions, messages};
/// use msg_core::Role;
///
/// let json = br#"{"system":"Be brief.","messages":[{"role":"user","content":[
///     {"type":"tool_result","tool_use_id":"toolu_1","content":"20"},{"type":"text","text":"And?"}]}]}"#;
/// let (document, report) = messages::read(json, &ReadOptions::new())?;
/// assert!(report.is_empty());
/// let roles: Vec<_> = document.messages().map(|it| &it.role).collect();
/// assert_eq!(roles, [&Role::System, &Role::Tool, &Role::User]);
///
/// let error = messages::read(br#"[{"content":"hi"}]"#, &ReadOptions::new()).unwrap_err();
/// assert!(error.to_string().starts_with("message 0: "));
/// # Ok::<(), msg_anthropic::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`](crate::Error::Read) with message and byte, or [`Error::TooLarge`](crate::Error::TooLarge).
pub fn read(json: &[u8], options: &ReadOptions) -> Result<(Document, Report), crate::Error> {
    Document::read(json, options)
}

/// Appends messages as what is sent to Anthropic, `{"system"?,"messages"}` (AN-1, AN-4, AN-20), and says
/// what the format cannot hold (MS-24). Linear in the output.
///
/// ```
/// use msg_anthropic::{WriteOptions, messages};
/// use msg_core::{Message, Part, ToolCall};
///
/// let call = ToolCall::new("call_1", "add", r#"{"a":1}"#);
/// let chat = [
///     Message::system("Count."),
///     Message::user("1 + ?"),
///     Message::assistant("").with_part(Part::ToolCall(call)),
///     Message::tool_result("call_1", "2"),
/// ];
/// let mut out = Vec::new();
/// let report = messages::write(&chat, &WriteOptions::new(), &mut out);
/// assert!(report.is_empty());
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     concat!(
///         r#"{"system":"Count.","messages":[{"role":"user","content":"1 + ?"},"#,
///         r#"{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"add","input":{"a":1}}]},"#,
///         r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"2"}]}]}"#,
///     ),
/// );
/// ```
pub fn write(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
    MessagesRequest::write_conversation(messages, options, out)
}
