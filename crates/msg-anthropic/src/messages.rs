//! The documents of the Messages API (AN-1): a bare list, a request with the messages, `system` first among them, and a
//! response with one message; every other member raw and in its place.

use msg_codec::{
    Assembled,
    codec::{self, Body, Context, MessageBody, Purpose, RequestForm, RequestParts, text_of},
};
use msg_core::{
    Code, Diagnostic, Error, Message, Origin, RawJson, Report, Role, Usage, request::RequestHead,
};
use msg_json::Reader;

use crate::read::{read_message, read_messages, read_system};
use crate::shape::ANTHROPIC;
use crate::write::{Writer, written};
use crate::{EventOptions, ReadOptions, WriteOptions, events, head};

/// A document that holds Anthropic messages: an array, an object with `messages`, or one with `content` and
/// `role`.
pub type Document = codec::Document<MessagesRequest>;

/// Reads a document of Anthropic messages (AN-1 to AN-12), and says what is odd about it. It fails only
/// for text that is not JSON and for what is not a conversation. Linear in the input, one allocation a text.
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
    Document::read(json, options)
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
    MessagesRequest::write_conversation(messages, options, out)
}

/// A request for a message.
///
/// ```
/// use msg_anthropic::{ReadOptions, WriteOptions, messages};
///
/// let json = br#"{"model":"claude-x","max_tokens":9.0,"system":"Be brief.","messages":[]}"#;
/// let (document, _) = messages::read(json, &ReadOptions::new())?;
/// let messages::Document::Request(request) = &document else {
///     unreachable!("an object with messages is a request")
/// };
/// assert_eq!(request.body.parse::<String>("model").as_deref(), Some("claude-x"));
/// assert_eq!(request.messages[0].text(), "Be brief.");
/// let mut out = Vec::new();
/// document.write(&WriteOptions::new(), &mut out);
/// assert_eq!(out, json);
/// # Ok::<(), msg_anthropic::Error>(())
/// ```
///
/// `from_head` makes one of messages that asks what a head asks (AN-21), and reports what has no place.
///
/// ```
/// use msg_anthropic::{MessagesRequest, WriteOptions, messages::Document};
/// use msg_core::{Message, request::RequestHead};
///
/// let head = RequestHead { max_tokens: Some(9), stop: vec!["x".into()], ..RequestHead::default() };
/// let chat = vec![Message::system("Be brief."), Message::user("hi")];
/// let (request, report) = MessagesRequest::from_head(&head, chat);
/// assert!(report.is_empty());
/// let mut out = Vec::new();
/// Document::Request(request).write(&WriteOptions::new(), &mut out);
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     concat!(
///         r#"{"max_tokens":9,"system":"Be brief.","messages":[{"role":"user","content":"hi"}],"#,
///         r#""stop_sequences":["x"]}"#,
///     ),
/// );
/// ```
///
/// The API demands `max_tokens`: a head without it gives a request that says so in its report
/// (`convert::missing-max-tokens`, an error).
pub type MessagesRequest = codec::Request<MessagesForm>;

/// What the requests of the Messages API are made of.
#[derive(Debug, Clone, PartialEq)]
pub struct MessagesForm;

impl RequestForm for MessagesForm {
    type Options = WriteOptions;
    type Response = MessagesResponse;

    const ORIGIN: Origin = ANTHROPIC;
    const HELD: &'static [&'static str] = &["messages", "system"];
    const RESPONSE: &'static str = "content";
    const EXPECTED: &'static str =
        "a list of messages, an object with messages, or one with content and role";
    const PARTS: RequestParts<WriteOptions> = RequestParts {
        head: |body| head::read(body.iter()),
        system: |reader, cx| read_system(reader.raw()?, cx),
        list: read_messages,
        written: |options, purpose, write| written(options, purpose, |it| write(it)),
    };

    fn write_head(head: &RequestHead, _: &[Message], body: &mut Body) -> Report {
        body.write_optional("model", head.model.as_ref(), |it, text| it.str(text));
        body.write_optional("max_tokens", head.max_tokens, |it, n| it.u64(n));
        body.hold("messages");
        let mut report = Report::new();
        if head.max_tokens.is_none() {
            let code = Code::new("convert::missing-max-tokens");
            report.push(Diagnostic::error(code, "`max_tokens` is missing, which the API demands"));
        }
        report.append(head::write(head, body));
        report
    }
}

/// What is held as the message.
const HELD: &[&str] = &["content"];

/// A message that the API answered with.
///
/// ```
/// use msg_anthropic::{ReadOptions, messages};
///
/// let json = br#"{"id":"msg_1","type":"message","role":"assistant","model":"m",
///     "content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"output_tokens":1}}"#;
/// let (document, _) = messages::read(json, &ReadOptions::new())?;
/// let messages::Document::Response(response) = document else {
///     unreachable!("an object with content and role is a response")
/// };
/// assert_eq!(response.messages[0].text(), "Hi");
/// assert_eq!(response.id().as_deref(), Some("msg_1"));
/// let maker = response.messages[0].provenance();
/// assert_eq!(maker.and_then(|it| it.model.as_deref()), Some("m"));
/// assert_eq!(response.usage().and_then(|it| it.output), Some(1));
/// # Ok::<(), msg_anthropic::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MessagesResponse {
    /// What the model said: one message.
    pub messages: Vec<Message>,
    /// The other members, raw and in their places.
    pub body: Body,
}

impl MessagesResponse {
    /// The response that says what a stream said, of whatever format it was: for a proxy that answers its client whole.
    /// Of several choices it is the first.
    ///
    /// ```
    /// use msg_anthropic::{ANTHROPIC, MessagesResponse};
    /// use msg_codec::{StreamOptions, StreamReader};
    ///
    /// let mut reader = StreamReader::new(&[ANTHROPIC], StreamOptions::default());
    /// let body = br#"{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"Hi"}]}"#;
    /// reader.feed(body, &mut |_| {});
    /// let response = MessagesResponse::of(&reader.finish(&mut |_| {}));
    /// assert_eq!(response.id().as_deref(), Some("msg_1"));
    /// assert_eq!(response.messages[0].text(), "Hi");
    /// ```
    #[must_use]
    pub fn of(res: &Assembled) -> Self {
        let first = res.choices.first().map(|it| it.message.clone());
        Self::new(first.unwrap_or_else(|| Message::new(Role::Assistant)), &EventOptions::of(res))
    }

    /// A response that says this message, as the API answers a request that is not streamed: for a proxy.
    /// Why the model stopped follows from its calls where the options do not say.
    ///
    /// ```
    /// use msg_anthropic::{EventOptions, MessagesResponse, WriteOptions, messages::Document};
    /// use msg_core::Message;
    ///
    /// let options = EventOptions::default().with_id("msg_1").with_model("m");
    /// let response = MessagesResponse::new(Message::assistant("Hi"), &options);
    /// let mut out = Vec::new();
    /// let report = Document::Response(response).write(&WriteOptions::new(), &mut out);
    /// assert!(report.is_empty());
    /// assert_eq!(
    ///     String::from_utf8_lossy(&out),
    ///     concat!(
    ///         r#"{"id":"msg_1","type":"message","role":"assistant","model":"m","#,
    ///         r#""content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","stop_sequence":null,"#,
    ///         r#""usage":{"input_tokens":0,"output_tokens":0}}"#,
    ///     ),
    /// );
    /// ```
    #[must_use]
    pub fn new(message: Message, options: &EventOptions) -> Self {
        let mut body = Body::new(HELD);
        for name in ["id", "type", "role", "model"] {
            let text = match name {
                "id" => &options.id,
                "type" => "message",
                "role" => "assistant",
                _ => &options.model,
            };
            body.set(name, RawJson::string(text));
        }
        body.hold("content");
        let reason = events::stop_reason(options, &message);
        body.set(
            "stop_reason",
            reason.map_or_else(|| RawJson::written(|it| it.null()), RawJson::string),
        );
        body.write_member("stop_sequence", |it| it.null());
        body.write_member("usage", |it| it.raw(&events::usage_text(options)));
        Self { messages: vec![message], body }
    }

    /// The provider's id of the message.
    #[must_use]
    pub fn id(&self) -> Option<String> {
        self.body.parse("id")
    }

    /// The model that answered.
    #[must_use]
    pub fn model(&self) -> Option<String> {
        self.body.parse("model")
    }

    /// Why it stopped, in Anthropic's word.
    #[must_use]
    pub fn stop_reason(&self) -> Option<String> {
        self.body.parse("stop_reason")
    }

    /// What it cost.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.body.usage("usage")
    }

    pub(crate) fn write_with(&self, writer: &mut Writer<'_>, out: &mut Vec<u8>) {
        self.body.write(out, |it, name, _| {
            it.key(name).value(|out| writer.response(&self.messages, out));
        });
    }
}

impl MessageBody for MessagesResponse {
    type Options = WriteOptions;

    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        let offset = reader.next_offset();
        let (body, content) = Body::read(reader, HELD, cx, |it, _| Ok(it.raw()?))?;
        let role = body.get("role").and_then(|it| text_of(it.text()));
        let Some((role, _)) = role else {
            return Err(Error::Shape { message: None, expected: MessagesForm::EXPECTED, offset });
        };
        let mut messages = read_message(Role::from(&*role), content.unwrap_or("[]"), cx)?;
        body.note_model("model", &mut messages);
        Ok(Self { messages, body })
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

    /// A response is one message.
    fn has_room(&self, messages: usize) -> bool {
        messages == 1
    }
}
