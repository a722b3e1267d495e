//! The documents of the Messages API: a bare list, a request, a response (AN-1).

use msg_core::{
    Error, Message, Report,
    json::{self, Kind, Reader},
};
use msg_wire::codec::{Context, DocumentForm, DocumentShape, Purpose, read_document};

use crate::{
    MessagesRequest, MessagesResponse, ReadOptions, WriteOptions, read::read_messages,
    shape::ANTHROPIC, write::Writer,
};

/// A document that holds Anthropic messages.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Document {
    /// An array of messages.
    Messages(Vec<Message>),
    /// An object with `messages`.
    Request(MessagesRequest),
    /// An object with `content` and `role`.
    Response(MessagesResponse),
}

/// Reads a document of Anthropic messages (AN-1 to AN-12), and says what is odd about it. It fails only
/// for text that is not JSON and for what is no conversation. Linear in the input, one allocation a text.
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
    read_document(json, options, &FORM, build)
}

const FORM: DocumentForm = DocumentForm {
    request: ("messages", &[Kind::Array]),
    response: "content",
    expected: "a list of messages, an object with messages, or one with content and role",
};

fn build<'a>(
    shape: DocumentShape,
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Document, Error> {
    Ok(match shape {
        DocumentShape::List => Document::Messages(read_messages(reader, cx)?),
        DocumentShape::Request => Document::Request(MessagesRequest::read_from(reader, cx)?),
        DocumentShape::Response => {
            Document::Response(MessagesResponse::read_from(reader, cx, FORM.expected)?)
        }
    })
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
    let mut report = Report::new();
    let mut writer = Writer::new(options, Purpose::Convert, &mut report);
    let n_leading = Purpose::Convert.leading(messages, &ANTHROPIC);
    let system = writer.system(messages, n_leading);
    json::Writer::new(out).object(|it| {
        if let Some(system) = system {
            it.key("system").value(|out| out.extend_from_slice(&system));
        }
        it.key("messages").value(|out| writer.messages(&messages[n_leading..], n_leading, out));
    });
    writer.finish();
    report
}

impl Document {
    /// The messages, in order; a request's `system` first.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        match self {
            Self::Messages(it) => it.iter(),
            Self::Request(it) => it.messages.iter(),
            Self::Response(it) => it.messages.iter(),
        }
    }

    /// Gives the messages away.
    #[must_use]
    pub fn into_messages(mut self) -> Vec<Message> {
        self.take_messages()
    }

    /// Gives the messages away for a while, until [`Document::set_messages`] puts them back.
    pub fn take_messages(&mut self) -> Vec<Message> {
        std::mem::take(match self {
            Self::Messages(it) => it,
            Self::Request(it) => &mut it.messages,
            Self::Response(it) => &mut it.messages,
        })
    }

    /// Puts other messages in the place of those that were read. A response holds what one message can:
    /// its content becomes the parts of all.
    pub fn set_messages(&mut self, messages: Vec<Message>) {
        match self {
            Self::Messages(it) => *it = messages,
            Self::Request(it) => it.messages = messages,
            Self::Response(it) => it.messages = messages,
        }
    }

    /// Appends the document as JSON; unedited it is the same value as what was read, the order of members
    /// and the spelling of numbers included.
    pub fn write(&self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        let mut report = Report::new();
        let purpose = match self {
            Self::Request(it) => it.purpose(),
            _ => Purpose::Return,
        };
        let mut writer = Writer::new(options, purpose, &mut report);
        match self {
            Self::Messages(it) => writer.messages(it, 0, out),
            Self::Request(it) => it.write_with(&mut writer, out),
            Self::Response(it) => it.write_with(&mut writer, out),
        }
        writer.finish();
        report
    }
}
