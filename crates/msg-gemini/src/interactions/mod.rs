//! The Gemini Interactions API (`POST /v1beta/interactions`) both ways: requests, interactions, steps, and streams
//! (GI-1 to GI-28).
//!
//! ```text
//! {"input":[{"type":"user_input","content":[…]}]}    read ▶ messages ▶ write   the same, edits aside
//! data: {"event_type":"step.delta",…}                feed ▶ StreamEvent
//! ```
//!
//! A request has the steps of `input`, `system_instruction` first among the messages (GI-1, GI-2); an interaction those of an
//! answer, or of a whole stored conversation (GI-14). Every other member is raw and in its place.

use events::{status, usage};
use msg_codec::{
    Assembled,
    codec::{
        self, Body, Context, ListWriter, MessageBody, Purpose, RequestForm, RequestParts, text_of,
    },
};
use msg_core::{Error, Extra, Message, Origin, Part, Report, Role, Usage, request::RequestHead};
use msg_json::{Kind, Reader};
use read::{read_items, read_steps};
use write::{Writer, written};

use crate::{ReadOptions, WriteOptions};

pub use self::events::{InteractionEvents, write_events};
pub use self::stream::{INTERACTIONS, Interacting, InteractionAssembler};

mod events;
mod head;
mod read;
mod shape;
mod stream;
mod write;

/// A document of the API: an array of steps, an object with `input`, or one with `steps` or `outputs` (GI-1).
pub type Document = codec::Document<InteractionRequest>;

/// Reads a document of interactions (GI-1 to GI-14), and says what is odd about it. It fails only for text that is
/// not JSON and for what is not a conversation. Linear in the input.
///
/// ```
/// use msg_core::Role;
/// use msg_gemini::{ReadOptions, interactions};
///
/// let json = br#"{"model":"gemini-x","system_instruction":"Be brief.","input":[
///     {"type":"user_input","content":[{"type":"text","text":"20?"}]},
///     {"type":"thought","signature":"S"},
///     {"type":"function_call","id":"c","name":"get","arguments":{}},
///     {"type":"function_result","call_id":"c","name":"get","result":"20"}]}"#;
/// let (document, report) = interactions::read(json, &ReadOptions::new())?;
/// assert!(report.is_empty());
/// let roles: Vec<_> = document.messages().map(|it| &it.role).collect();
/// assert_eq!(roles, [&Role::System, &Role::User, &Role::Assistant, &Role::Tool]);
/// # Ok::<(), msg_gemini::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`](crate::Error::Read) with message and byte, or [`Error::TooLarge`](crate::Error::TooLarge).
pub fn read(json: &[u8], options: &ReadOptions) -> Result<(Document, Report), crate::Error> {
    Document::read(json, options)
}

/// Appends messages as what is sent to the API, `{"system_instruction"?,"input"}` (GI-1, GI-2, GI-15), and says what
/// the format cannot hold (MS-24). Linear in the output.
///
/// ```
/// use msg_core::{Message, Part, ToolCall};
/// use msg_gemini::{WriteOptions, interactions};
///
/// let call = ToolCall::new("c", "add", r#"{"a":1}"#);
/// let chat = [
///     Message::user("1 + ?"),
///     Message::assistant("").with_part(Part::ToolCall(call)),
///     Message::tool_result("c", "2"),
/// ];
/// let mut out = Vec::new();
/// let report = interactions::write(&chat, &WriteOptions::new(), &mut out);
/// assert!(report.is_empty());
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     concat!(
///         r#"{"input":[{"type":"user_input","content":[{"type":"text","text":"1 + ?"}]},"#,
///         r#"{"type":"function_call","id":"c","name":"add","arguments":{"a":1}},"#,
///         r#"{"type":"function_result","call_id":"c","name":"add","result":"2"}]}"#,
///     ),
/// );
/// ```
pub fn write(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
    InteractionRequest::write_conversation(messages, options, out)
}

const SYSTEM: &str = "system_instruction";

/// A request for an interaction.
///
/// ```
/// use msg_gemini::{ReadOptions, WriteOptions, interactions};
///
/// let json = br#"{"model":"gemini-x","input":"Hi","system_instruction":"Be brief.","store":false}"#;
/// let (document, _) = interactions::read(json, &ReadOptions::new())?;
/// let interactions::Document::Request(request) = &document else {
///     unreachable!("an object with input is a request")
/// };
/// assert_eq!(request.messages[0].text(), "Be brief.");
/// assert!(request.body.get("store").is_some());
/// let mut out = Vec::new();
/// document.write(&WriteOptions::new(), &mut out);
/// assert_eq!(out, json);
/// # Ok::<(), msg_gemini::Error>(())
/// ```
///
/// `from_head` makes one of messages that asks what a head asks (GI-24), and reports what has no place.
///
/// ```
/// use msg_core::{Message, request::RequestHead};
/// use msg_gemini::{WriteOptions, interactions::{Document, InteractionRequest}};
///
/// let head = RequestHead { max_tokens: Some(9), stream: Some(true), ..RequestHead::default() };
/// let (request, report) = InteractionRequest::from_head(&head, vec![Message::user("Hi")]);
/// assert!(report.is_empty());
/// let mut out = Vec::new();
/// Document::Request(request).write(&WriteOptions::new(), &mut out);
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     concat!(
///         r#"{"input":[{"type":"user_input","content":[{"type":"text","text":"Hi"}]}],"#,
///         r#""generation_config":{"max_output_tokens":9},"stream":true}"#,
///     ),
/// );
/// ```
pub type InteractionRequest = codec::Request<Interacting>;

/// Whether a request goes on with an interaction that the provider keeps (GI-27).
#[must_use]
pub fn is_continued(request: &InteractionRequest) -> bool {
    let previous = request.body.parse::<String>("previous_interaction_id");
    previous.is_some_and(|it| !it.is_empty())
}

impl RequestForm for Interacting {
    type Options = WriteOptions;
    type Response = Interaction;

    const ORIGIN: Origin = shape::INTERACTIONS;
    const HELD: &'static [&'static str] = &["input", SYSTEM];
    const KINDS: &'static [Kind] = &[Kind::Array, Kind::Object, Kind::String];
    const RESPONSE: &'static str = "steps";
    const RESPONSE_WINS: bool = true;
    const EXPECTED: &'static str =
        "a list of steps, an object with input, or one with steps or outputs";
    const TELL_RESPONSE: &'static [(&'static str, Kind)] = &[("outputs", Kind::Array)];
    const PARTS: RequestParts<WriteOptions> = RequestParts {
        head: |body| head::read(body.iter()),
        system: read_system,
        list: read_steps,
        written: |options, purpose, write| written(options, purpose, |it| write(it)),
    };

    fn write_head(head: &RequestHead, _: &[Message], body: &mut Body) -> Report {
        body.write_optional("model", head.model.as_ref(), |it, text| it.str(text));
        body.hold("input");
        head::write(head, body)
    }
}

/// What says nothing stays where it is.
fn read_system<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Option<Message>, Error> {
    let source = reader.raw()?;
    let text = text_of(source);
    if text.is_none() && source != "null" {
        cx.wrong_type(SYSTEM);
    }
    let Some(text) = text.filter(|it| !it.0.is_empty()) else { return Ok(None) };
    let parts = vec![Part::text(cx.text(text, SYSTEM))];
    cx.next_message();
    Ok(Some(Message { role: Role::System, parts, name: None, extra: Extra::default() }))
}

const STEPS: &str = "steps";
const OUTPUTS: &str = "outputs";

/// What is held as messages: `steps`, or what the older schema has for them.
const HELD: &[&str] = &[STEPS];
const HELD_BEFORE: &[&str] = &[OUTPUTS];

/// What the API answered with.
///
/// ```
/// use msg_gemini::{ReadOptions, interactions};
///
/// let json = br#"{"id":"v1_a","object":"interaction","status":"completed","model":"gemini-x",
///     "steps":[{"type":"model_output","content":[{"type":"text","text":"Hi"}]}],
///     "usage":{"total_input_tokens":3,"total_output_tokens":1}}"#;
/// let (document, _) = interactions::read(json, &ReadOptions::new())?;
/// let interactions::Document::Response(response) = document else {
///     unreachable!("an object with steps is a response")
/// };
/// assert_eq!(response.messages[0].text(), "Hi");
/// assert_eq!(response.id().as_deref(), Some("v1_a"));
/// assert_eq!(response.status().as_deref(), Some("completed"));
/// assert_eq!(response.usage().and_then(|it| it.output), Some(1));
/// # Ok::<(), msg_gemini::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Interaction {
    /// What was said.
    pub messages: Vec<Message>,
    /// The other members, raw and in their places.
    pub body: Body,
    /// The steps were `outputs`.
    is_before: bool,
}

impl Interaction {
    /// The response that says what a stream said, of whatever format it was: for a proxy that answers its client whole.
    /// Of several choices it is the first.
    ///
    /// ```
    /// use msg_codec::{StreamOptions, StreamReader};
    /// use msg_gemini::{GEMINI, interactions::Interaction};
    ///
    /// let mut reader = StreamReader::new(&[GEMINI], StreamOptions::default());
    /// reader.feed(br#"{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}"#, &mut |_| {});
    /// let response = Interaction::of(&reader.finish(&mut |_| {}));
    /// assert_eq!(response.status().as_deref(), Some("completed"));
    /// assert_eq!(response.messages[0].text(), "Hi");
    /// ```
    #[must_use]
    pub fn of(res: &Assembled) -> Self {
        let first = res.choices.first();
        let mut body = Body::new(HELD);
        body.write_optional("id", res.id.as_ref(), |it, text| it.str(text));
        body.write_member("object", |it| it.str("interaction"));
        let status = first.and_then(|it| it.finish.as_ref()).and_then(status);
        body.write_member("status", |it| it.str(status.unwrap_or("failed")));
        body.write_optional("model", res.model.as_ref(), |it, text| it.str(text));
        body.hold(STEPS);
        body.write_optional("usage", res.usage.as_ref(), usage);
        let messages = first.map(|it| it.message.clone()).into_iter().collect();
        Self { messages, body, is_before: false }
    }

    /// The provider's id of the interaction.
    #[must_use]
    pub fn id(&self) -> Option<String> {
        self.body.parse("id")
    }

    /// The model that answered.
    #[must_use]
    pub fn model(&self) -> Option<String> {
        self.body.parse("model")
    }

    /// Its status, in the API's word.
    #[must_use]
    pub fn status(&self) -> Option<String> {
        self.body.parse("status")
    }

    /// What it cost.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.body.usage("usage")
    }

    /// Whether it holds what was asked too, as a stored interaction does.
    #[must_use]
    pub fn is_conversation(&self) -> bool {
        self.messages.iter().any(|it| it.role == Role::User)
    }

    fn write_with<'a>(&'a self, writer: &mut Writer<'a, '_>, out: &mut Vec<u8>) {
        let before = self.messages.first().filter(|it| {
            let is_one = self.messages.len() == 1 && it.role == Role::Assistant;
            is_one && self.is_before && writer.is_verbatim()
        });
        self.body.write(out, |it, _, _| match before {
            Some(message) => it.key(OUTPUTS).value(|out| writer.items(message, out)),
            None => it.key(STEPS).value(|out| writer.list(&self.messages, 0, out)),
        });
    }
}

impl MessageBody for Interaction {
    type Options = WriteOptions;

    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        let is_before = !Body::has_member(reader.clone(), STEPS, Kind::Array)?;
        let held = if is_before { HELD_BEFORE } else { HELD };
        let (body, messages) = Body::read(reader, held, cx, |it, cx| match it.peek()? {
            Kind::Array if is_before => read_items(it, cx),
            Kind::Array => read_steps(it, cx),
            _ => Ok(it.raw().map(|_| Vec::new())?),
        })?;
        let mut messages = messages.unwrap_or_default();
        body.note_model("model", answers(&mut messages));
        Ok(Self { messages, body, is_before })
    }

    fn write_body(&self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        written(options, Purpose::Return, |writer| self.write_with(writer, out))
    }

    fn messages(&self) -> &[Message] {
        &self.messages
    }

    fn messages_mut(&mut self) -> &mut Vec<Message> {
        &mut self.messages
    }
}

/// The messages, which one model made if there is nothing else among them.
fn answers(messages: &mut [Message]) -> &mut [Message] {
    let is_answer = messages.iter().all(|it| it.role == Role::Assistant);
    if is_answer { messages } else { &mut [] }
}
