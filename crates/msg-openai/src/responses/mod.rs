//! Items of the Responses API, its requests and its responses (OA-14, OA-15). Items that this crate
//! does not know are carried whole; conversations are put together from items and taken apart again.
//!
//! ```text
//! {"input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"a",…},{"type":"function_call_output",…}]}
//! ```

mod document;
mod request;
mod response;

mod read;
mod write;

mod shape;

use msg_core::{Message, Report};

use crate::WriteOptions;

pub use document::{Document, read};
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
    write::items(messages, options, out, &mut report);
    report
}
