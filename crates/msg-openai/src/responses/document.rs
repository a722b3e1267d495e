//! What a JSON document of Responses items can be: a bare list, a request, a response (OA-14).

use msg_codec::codec;
use msg_core::Report;

use super::ResponsesRequest;
use crate::ReadOptions;

/// A document that holds Responses items: an array, an object with `input`, or one with `output`.
pub type Document = codec::Document<ResponsesRequest>;

/// Reads a document of Responses items (OA-14). What is odd about it is reported; it fails only for
/// text that is not JSON and for what is no conversation. Linear in the input.
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
