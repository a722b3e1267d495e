//! What a JSON document of chat messages can be: a bare list, a request, a response (OA-3).

use msg_codec::codec;
use msg_core::Report;

use super::ChatRequest;
use crate::ReadOptions;

/// A document that holds chat messages: an array, an object with `messages`, or one with `choices`.
pub type Document = codec::Document<ChatRequest>;

/// Reads a document of chat messages (OA-1, OA-3). What is odd about it is reported; it fails only
/// for text that is not JSON and for what is no conversation. Linear in the input, and one
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
