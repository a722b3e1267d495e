//! The documents of `generateContent`: a bare list of contents, a request, a response (GE-1).

use msg_codec::codec;
use msg_core::{Message, Report};

use crate::{GenerateRequest, ReadOptions, WriteOptions};

/// A document that holds Gemini contents: an array, an object with `contents`, or one with `candidates`.
pub type Document = codec::Document<GenerateRequest>;

/// Reads a document of Gemini contents (GE-1 to GE-11), and says what is odd about it. It fails only for
/// text that is not JSON and for what is not a conversation. Linear in the input, one allocation a text.
///
/// ```
/// use msg_core::Role;
/// use msg_gemini::{ReadOptions, contents};
///
/// let json = br#"{"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[
///     {"functionResponse":{"name":"get","response":{"output":"20"}}},{"text":"And?"}]}]}"#;
/// let (document, report) = contents::read(json, &ReadOptions::new())?;
/// assert!(report.is_empty());
/// let roles: Vec<_> = document.messages().map(|it| &it.role).collect();
/// assert_eq!(roles, [&Role::System, &Role::Tool, &Role::User]);
///
/// let error = contents::read(br#"[{"role":5}]"#, &ReadOptions::new()).unwrap_err();
/// assert!(error.to_string().starts_with("message 0: "));
/// # Ok::<(), msg_gemini::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`](crate::Error::Read) with message and byte, or [`Error::TooLarge`](crate::Error::TooLarge).
pub fn read(json: &[u8], options: &ReadOptions) -> Result<(Document, Report), crate::Error> {
    Document::read(json, options)
}

/// Appends messages as what is sent to Gemini, `{"systemInstruction"?,"contents"}` (GE-1, GE-3, GE-18), and
/// says what the format cannot hold (MS-24). Linear in the output.
///
/// ```
/// use msg_core::{Message, Part, ToolCall};
/// use msg_gemini::{WriteOptions, contents};
///
/// let call = ToolCall::new("call_1", "add", r#"{"a":1}"#);
/// let chat = [
///     Message::system("Count."),
///     Message::user("1 + ?"),
///     Message::assistant("").with_part(Part::ToolCall(call)),
///     Message::tool_result("call_1", "2"),
/// ];
/// let mut out = Vec::new();
/// let report = contents::write(&chat, &WriteOptions::new(), &mut out);
/// assert!(report.is_empty());
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     concat!(
///         r#"{"systemInstruction":{"parts":[{"text":"Count."}]},"contents":["#,
///         r#"{"role":"user","parts":[{"text":"1 + ?"}]},"#,
///         r#"{"role":"model","parts":[{"functionCall":{"id":"call_1","name":"add","args":{"a":1}}}]},"#,
///         r#"{"role":"user","parts":[{"functionResponse":{"id":"call_1","name":"add","response":{"output":"2"}}}]}]}"#,
///     ),
/// );
/// ```
pub fn write(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
    GenerateRequest::write_conversation(messages, options, out)
}
