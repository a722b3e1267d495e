//! Requests of the Responses API: the items of `input`, everything else raw and in place.

use msg_core::request::RequestHead;
use msg_core::{Error, Message, Part, RawJson, Report, Role};
use msg_json::{Kind, Reader};
use serde::{Serialize, Serializer};

use super::{ResponsesResponse, read::items};
use crate::head::Spelling;
use crate::{WriteOptions, chat::serialize_raw};
use msg_codec::codec::{Body, Context, MessageBody, RequestBody};

/// A request to the Responses API.
///
/// ```
/// use msg_core::{Message, RawJson};
/// use msg_openai::ResponsesRequest;
///
/// let request = ResponsesRequest::new("gpt-x", vec![Message::user("hi")])
///     .set("store", RawJson::new("false")?);
/// assert_eq!(
///     serde_json::to_string(&request)?,
///     concat!(
///         r#"{"model":"gpt-x","input":[{"type":"message","role":"user","#,
///         r#""content":[{"type":"input_text","text":"hi"}]}],"store":false}"#,
///     ),
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ResponsesRequest {
    /// The conversation.
    pub messages: Vec<Message>,
    /// The other members, raw and in their places.
    pub body: Body,
    /// Whether `input` was a string.
    is_string: bool,
    /// Whether the first message was read from `instructions`, whose place is kept in the body.
    has_instructions: bool,
}

/// The member of a request that is its first system message (OA-14).
const INSTRUCTIONS: &str = "instructions";

/// What is held as messages, of a request whose `instructions` are none and of one whose are.
const HELD: &[&str] = &["input"];
const HELD_WITH_INSTRUCTIONS: &[&str] = &["input", INSTRUCTIONS];

impl ResponsesRequest {
    /// A request to this model.
    pub fn new(model: impl AsRef<str>, messages: Vec<Message>) -> Self {
        let mut body = Body::new(HELD);
        body.set("model", RawJson::string(model.as_ref()));
        body.hold("input");
        Self { messages, body, is_string: false, has_instructions: false }
    }

    /// Whether it goes on from a history that is elsewhere: with `previous_response_id` or
    /// `conversation` (OA-14). Results at its beginning answer calls of that history.
    pub fn is_continued(&self) -> bool {
        let given = |name: &str| self.body.get(name).is_some_and(|it| it.text() != "null");
        given("previous_response_id") || given("conversation")
    }

    /// A request that asks what a head asks (AN-21). Members that have no place are in the report.
    ///
    /// ```
    /// use msg_core::request::RequestHead;
    /// use msg_openai::ResponsesRequest;
    ///
    /// let head = RequestHead { stop: vec!["END".into()], ..RequestHead::default() };
    /// let (_, report) = ResponsesRequest::from_head(&head, Vec::new());
    /// assert_eq!(report.len(), 1);
    /// ```
    pub fn from_head(head: &RequestHead, messages: Vec<Message>) -> (Self, Report) {
        let mut res = Self::new(head.model.as_deref().unwrap_or_default(), messages);
        let report = crate::head::write(head, Spelling::Responses, &mut res.body);
        (res, report)
    }

    /// What it asks besides the conversation, in words that providers share.
    pub fn head(&self) -> RequestHead {
        crate::head::read(self.body.iter(), Spelling::Responses)
    }

    /// Sets a member, whatever its name, after those that are there; `input` is `messages` and not
    /// set here.
    #[must_use]
    pub fn set(mut self, name: &str, value: RawJson) -> Self {
        self.body.set(name, value);
        self
    }

    /// Appends the request as JSON. Linear in the output. What it cannot hold is in the report.
    ///
    /// A system message that was read from `instructions` is written as `instructions` again, as long as
    /// it is the first message and nothing but text.
    pub fn write(&self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        let mut report = Report::new();
        let mut messages = self.messages.as_slice();
        let first = messages.split_first().filter(|_| self.has_instructions);
        let instructions = first.and_then(|(first, rest)| {
            messages = rest;
            as_text(first)
        });
        if instructions.is_none() {
            messages = &self.messages;
        }
        self.body.write(out, |it, name, _| match (name, messages) {
            (INSTRUCTIONS, _) => {
                instructions.iter().for_each(|text| it.key(name).str(text));
            }
            (_, [one]) if self.is_string && *one == Message::user(one.text()) => {
                it.key(name).str(&one.text());
            }
            (_, all) => {
                let of = super::write::ItemsOf::Request;
                it.key(name).value(|out| super::write::items(all, of, options, out, &mut report));
            }
        });
        report
    }
}

impl MessageBody for ResponsesRequest {
    type Options = WriteOptions;

    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        // Findings say which message they are of, and the first one may come after the others.
        let is_said = |it: &&str| it.starts_with('"') && *it != "\"\"";
        if Body::last_member(reader.clone(), INSTRUCTIONS)?.filter(is_said).is_some() {
            cx.next_message();
        }
        let (mut body, found) = Body::read(reader, HELD, cx, |reader, cx| {
            let is_string = reader.peek()? == Kind::String;
            Ok(match is_string {
                true => (true, vec![Message::user(cx.string(reader.string()?, "input"))]),
                false => (false, items(reader, cx)?),
            })
        })?;
        let (is_string, mut messages) = found.unwrap_or_default();
        let instructions = body.get(INSTRUCTIONS).and_then(|it| it.parse::<String>().ok());
        let instructions = instructions.filter(|it| !it.is_empty());
        let has_instructions = instructions.is_some();
        if let Some(text) = instructions {
            messages.insert(0, Message::new(Role::System).with_text(text));
            body.hold(INSTRUCTIONS);
            body = body.holding(HELD_WITH_INSTRUCTIONS);
        }
        Ok(Self { messages, body, is_string, has_instructions })
    }

    fn write_body(&self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        self.write(options, out)
    }

    fn messages(&self) -> &[Message] {
        &self.messages
    }

    fn messages_mut(&mut self) -> &mut Vec<Message> {
        &mut self.messages
    }
}

impl RequestBody for ResponsesRequest {
    type Response = ResponsesResponse;

    const REQUEST: (&'static str, &'static [Kind]) = ("input", &[Kind::Array, Kind::String]);
    const RESPONSE: &'static str = "output";
    const EXPECTED: &'static str = "a list of items, an object with input, or one with output";

    fn read_list<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
    ) -> Result<Vec<Message>, Error> {
        items(reader, cx)
    }

    fn write_list(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        super::write(messages, options, out)
    }

    fn head(&self) -> RequestHead {
        self.head()
    }

    fn body_mut(&mut self) -> &mut Body {
        &mut self.body
    }
}

/// The text of a system message that is nothing else: its texts, a blank line between.
fn as_text(message: &Message) -> Option<String> {
    let is_plain = |it: &Part| matches!(it, Part::Text(it) if it.extra.is_empty());
    let is_bare =
        message.role == Role::System && message.name.is_none() && message.extra.is_empty();
    let is_text = !message.parts.is_empty() && message.parts.iter().all(is_plain);
    let texts = message.parts.iter().filter_map(|it| it.as_text()).collect::<Vec<_>>();
    (is_bare && is_text).then(|| texts.join("\n\n"))
}

impl Serialize for ResponsesRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = Vec::new();
        self.write(&WriteOptions::new(), &mut out);
        serialize_raw(out, serializer)
    }
}
