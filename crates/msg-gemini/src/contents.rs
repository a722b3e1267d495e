//! The documents of `generateContent`: a bare list of contents, a request, a response (GE-1).

use msg_core::{
    Error, Message, Report,
    json::{self, Kind, Reader},
};
use msg_wire::codec::{Context, DocumentForm, DocumentShape, Purpose, read_document};

use crate::{
    GenerateRequest, GenerateResponse, ReadOptions, WriteOptions, read::read_contents,
    shape::GEMINI, write::Writer,
};

/// A document that holds Gemini contents.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Document {
    /// An array of contents.
    Contents(Vec<Message>),
    /// An object with `contents`.
    Request(GenerateRequest),
    /// An object with `candidates`.
    Response(GenerateResponse),
}

/// Reads a document of Gemini contents (GE-1 to GE-11), and says what is odd about it. It fails only for
/// text that is not JSON and for what is no conversation. Linear in the input, one allocation a text.
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
    read_document(json, options, &FORM, build)
}

const FORM: DocumentForm = DocumentForm {
    request: ("contents", &[Kind::Array, Kind::Object, Kind::String]),
    response: "candidates",
    expected: "a list of contents, an object with contents, or one with candidates",
};

fn build<'a>(
    shape: DocumentShape,
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Document, Error> {
    Ok(match shape {
        DocumentShape::List => Document::Contents(read_contents(reader, cx)?),
        DocumentShape::Request => Document::Request(GenerateRequest::read_from(reader, cx)?),
        DocumentShape::Response => Document::Response(GenerateResponse::read_from(reader, cx)?),
    })
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
    let mut report = Report::new();
    let mut writer = Writer::new(options, Purpose::Convert, &mut report);
    let n_leading = Purpose::Convert.leading(messages, &GEMINI);
    let system = writer.system(messages, n_leading);
    json::Writer::new(out).object(|it| {
        if let Some(system) = system {
            it.key("systemInstruction").value(|out| out.extend_from_slice(&system));
        }
        it.key("contents").value(|out| writer.contents(&messages[n_leading..], n_leading, out));
    });
    writer.finish();
    report
}

impl Document {
    /// The messages, in order; a request's `systemInstruction` first.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        match self {
            Self::Contents(it) => it.iter(),
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
            Self::Contents(it) => it,
            Self::Request(it) => &mut it.messages,
            Self::Response(it) => &mut it.messages,
        })
    }

    /// Puts other messages in the place of those that were read. A response holds one for each of its
    /// candidates; what is more becomes candidates of nothing but content.
    pub fn set_messages(&mut self, messages: Vec<Message>) {
        match self {
            Self::Contents(it) => *it = messages,
            Self::Request(it) => it.messages = messages,
            Self::Response(it) => it.messages = messages,
        }
    }

    fn purpose(&self) -> Purpose {
        match self {
            Self::Request(it) => it.purpose(),
            _ => Purpose::Return,
        }
    }

    /// Appends the document as JSON; unedited it is the same value as what was read, the order of members
    /// and the spelling of numbers included.
    pub fn write(&self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        let mut report = Report::new();
        let mut writer = Writer::new(options, self.purpose(), &mut report);
        match self {
            Self::Contents(it) => writer.contents(it, 0, out),
            Self::Request(it) => it.write_with(&mut writer, out),
            Self::Response(it) => it.write_with(&mut writer, out),
        }
        writer.finish();
        report
    }
}
