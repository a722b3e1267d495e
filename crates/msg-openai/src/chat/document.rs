//! What a JSON document of chat messages can be: a bare list, a request, a response (OA-3).

use msg_core::{
    Error, Message, Report,
    json::{Kind, Reader},
};

use super::{ChatRequest, ChatResponse, read_messages};
use crate::{ReadOptions, WriteOptions};
use msg_wire::codec::{Context, DocumentForm, DocumentShape, read_document};

/// A document that holds chat messages.
#[derive(Debug, Clone, PartialEq)]
pub enum Document {
    /// An array of messages.
    Messages(Vec<Message>),
    /// An object with `messages`.
    Request(ChatRequest),
    /// An object with `choices`.
    Response(ChatResponse),
}

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
    read_document(json, options, &FORM, build)
}

const FORM: DocumentForm = DocumentForm {
    request: ("messages", &[Kind::Array]),
    response: "choices",
    expected: "a list of messages, an object with messages, or one with choices",
};

fn build<'a>(
    shape: DocumentShape,
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Document, Error> {
    Ok(match shape {
        DocumentShape::List => Document::Messages(read_messages(reader, cx)?),
        DocumentShape::Request => Document::Request(ChatRequest::read_from(reader, cx)?),
        DocumentShape::Response => Document::Response(ChatResponse::read(reader, cx)?),
    })
}

impl Document {
    /// The messages, in order; of a response those of its choices.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        let (list, response) = match self {
            Document::Messages(it) => (it.as_slice(), None),
            Document::Request(it) => (it.messages.as_slice(), None),
            Document::Response(it) => (&[][..], Some(it)),
        };
        list.iter().chain(response.into_iter().flat_map(ChatResponse::messages))
    }

    /// Gives the messages away.
    pub fn into_messages(self) -> Vec<Message> {
        match self {
            Document::Messages(it) => it,
            Document::Request(it) => it.messages,
            Document::Response(it) => it.into_messages(),
        }
    }

    /// Puts other messages in the place of those of a list or a request. The messages of a response
    /// belong to their choices: false, and nothing is changed.
    pub fn set_messages(&mut self, messages: Vec<Message>) -> bool {
        match self {
            Document::Messages(it) => *it = messages,
            Document::Request(it) => it.messages = messages,
            Document::Response(_) => return false,
        }
        true
    }

    /// Appends the document as JSON; unedited it is the same value as what was read, the order of
    /// members included. What it cannot hold is in the report.
    pub fn write(&self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        match self {
            Document::Messages(it) => super::write(it, options, out),
            Document::Request(it) => it.write_with(options, out),
            Document::Response(it) => it.write(options, out),
        }
    }
}
