//! Items of the Responses API, its requests and its responses (OA-14, OA-15). Items that this crate
//! does not know are carried whole; conversations are put together from items and taken apart again.
//!
//! ```text
//! {"input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"a",…},{"type":"function_call_output",…}]}
//! ```

mod request;
mod response;

mod read;
mod write;

mod shape;

use msg_codec::codec;
use msg_core::{Message, Report};

use crate::{ReadOptions, WriteOptions};

pub use request::ResponsesRequest;
pub use response::ResponsesResponse;

/// Appends the messages as a JSON array of items (OA-15). What the format cannot hold is reported
/// (MS-24). Linear in the output.
///
/// ```
/// use msg_core::{Message, Part, ToolCall};
/// use msg_openai::{WriteOptions, responses};
///
/// let call = Part::ToolCall(ToolCall::new("call_1", "add", r#"{"a":1}"#));
/// let messages = [Message::assistant("Adding.").with_part(call)];
/// let mut out = Vec::new();
/// responses::write(&messages, &WriteOptions::new(), &mut out);
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     concat!(
///         r#"[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Adding."}]},"#,
///         r#"{"type":"function_call","call_id":"call_1","name":"add","arguments":"{\"a\":1}"}]"#,
///     ),
/// );
/// ```
pub fn write(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
    let mut report = Report::new();
    write::items(messages, write::ItemsOf::List, options, out, &mut report);
    report
}

/// A document that holds Responses items: an array, an object with `input`, or one with `output`.
pub type Document = codec::Document<ResponsesRequest>;

/// Reads a document of Responses items (OA-14). What is odd about it is reported; it fails only for
/// text that is not JSON and for what is not a conversation. Linear in the input.
///
/// ```
/// use msg_core::Role;
/// use msg_openai::{ReadOptions, responses};
///
/// let json = br#"[
///     {"role":"user","content":"1 + 1?"},
///     {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},
///     {"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"2"}]}
/// ]"#;
/// let (document, _) = responses::read(json, &ReadOptions::new())?;
/// let messages = document.into_messages();
/// assert_eq!(messages.len(), 2);
/// assert_eq!((&messages[1].role, messages[1].parts.len()), (&Role::Assistant, 2));
/// # Ok::<(), msg_openai::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::Read`] with item and byte, or [`crate::Error::TooLarge`].
pub fn read(json: &[u8], options: &ReadOptions) -> Result<(Document, Report), crate::Error> {
    Document::read(json, options)
}
