//! What a JSON document of Responses items can be: a bare list, a request, a response (OA-14).

use msg_core::{
    Error, Message, Report,
    json::{Kind, Reader},
};

use super::{ResponsesRequest, ResponsesResponse, read::items};
use crate::{ReadOptions, WriteOptions};
use msg_wire::codec::{Context, DocumentForm, DocumentShape, read_document};

/// A document that holds Responses items.
#[derive(Debug, Clone, PartialEq)]
pub enum Document {
    /// An array of items.
    Items(Vec<Message>),
    /// An object with `input`.
    Request(ResponsesRequest),
    /// An object with `output`.
    Response(ResponsesResponse),
}

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
    read_document(json, options, &FORM, build)
}

const FORM: DocumentForm = DocumentForm {
    request: ("input", &[Kind::Array, Kind::String]),
    response: "output",
    expected: "a list of items, an object with input, or one with output",
};

fn build<'a>(
    shape: DocumentShape,
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Document, Error> {
    Ok(match shape {
        DocumentShape::List => Document::Items(items(reader, cx)?),
        DocumentShape::Request => Document::Request(ResponsesRequest::read_from(reader, cx)?),
        DocumentShape::Response => Document::Response(ResponsesResponse::read_from(reader, cx)?),
    })
}

impl Document {
    /// The messages, in order.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        match self {
            Document::Items(it) => it.iter(),
            Document::Request(it) => it.messages.iter(),
            Document::Response(it) => it.messages.iter(),
        }
    }

    /// Gives the messages away.
    pub fn into_messages(self) -> Vec<Message> {
        match self {
            Document::Items(it) => it,
            Document::Request(it) => it.messages,
            Document::Response(it) => it.messages,
        }
    }

    /// Puts other messages in the place of those that were read.
    pub fn set_messages(&mut self, messages: Vec<Message>) {
        match self {
            Document::Items(it) => *it = messages,
            Document::Request(it) => it.messages = messages,
            Document::Response(it) => it.messages = messages,
        }
    }

    /// Appends the document as JSON; unedited it is the same value as what was read, the order of
    /// members included.
    pub fn write(&self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        match self {
            Document::Items(it) => super::write(it, options, out),
            Document::Request(it) => it.write(options, out),
            Document::Response(it) => it.write(options, out),
        }
    }
}
