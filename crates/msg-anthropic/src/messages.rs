//! The documents of the Messages API (AN-1): a list, a request whose messages begin with `system`, and a response with
//! one message; all other members are raw and in place. Also the write options, and the objects in documents: their
//! known members in canonical order (AN-13), their variants in real sources, the types of their members (MS-29), and
//! reasoning blocks: thinking, signed or not, or redacted (AN-7).

use std::borrow::Cow;

use msg_codec::{
    Assembled, Error, Layout,
    codec::{
        self, Body, Context, MessageBody, Parts, Purpose, RequestForm, RequestParts, Shape, Want,
        Wants, text_of,
    },
};
use msg_core::{
    Code, Diagnostic, Message, Origin, RawJson, Reasoning, Report, Role, Usage,
    request::RequestHead,
};
use msg_json::Reader;
use serde::{Deserialize, Serialize, Serializer};

use crate::read::{read_message, read_messages, read_system};
use crate::write::{Writer, written};
use crate::{EventOptions, ReadOptions, events, head};

pub use msg_codec::{LaterSystem, SealedReasoning};

/// A document with Anthropic messages: an array, an object with `messages`, or one with `content` and
/// `role`.
pub type Document = codec::Document<MessagesRequest>;

/// Reads a document of Anthropic messages (AN-1 to AN-12), and reports its problems. Fails only if it is not
/// JSON or not a conversation. Linear in the input, with one allocation per text.
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
/// [`Error::Read`] with message and byte, or [`Error::TooLarge`].
pub fn read(json: &[u8], options: &ReadOptions) -> Result<(Document, Report), Error> {
    Document::read(json, options)
}

/// Appends messages in the form that is sent to Anthropic, `{"system"?,"messages"}` (AN-1, AN-4, AN-20),
/// and reports what the format cannot hold (MS-24). Linear in the output.
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
/// `from_head` makes a request from settings and messages (AN-21), and reports what has no place.
///
/// ```
/// use msg_anthropic::{Message, MessagesRequest, RequestHead};
///
/// let head = RequestHead::new().with_max_tokens(9).with_stop(["x"]);
/// let chat = vec![Message::system("Be brief."), Message::user("hi")];
/// let (request, report) = MessagesRequest::from_head(&head, chat);
/// assert!(report.is_empty());
/// assert_eq!(
///     serde_json::to_string(&request)?,
///     concat!(
///         r#"{"max_tokens":9,"system":"Be brief.","messages":[{"role":"user","content":"hi"}],"#,
///         r#""stop_sequences":["x"]}"#,
///     ),
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// The API requires `max_tokens`: without it in the head, the report has an error
/// (`convert::missing-max-tokens`).
pub type MessagesRequest = codec::Request<MessagesForm>;

/// The parts of a request of the Messages API.
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

/// The member held as the message.
const HELD: &[&str] = &["content"];

/// A response of the API.
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
    /// The answer, one message.
    pub messages: Vec<Message>,
    /// The other members, raw and in place.
    pub body: Body,
}

impl MessagesResponse {
    /// The response for the result of a stream of any format: for a proxy with a client that does not stream. Uses the
    /// first choice.
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

    /// A response with this message, as for a request that is not streamed: for a proxy. Without a finish
    /// reason in the options, it follows from the calls of the message.
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

    /// The stop reason, in Anthropic's words.
    #[must_use]
    pub fn stop_reason(&self) -> Option<String> {
        self.body.parse("stop_reason")
    }

    /// The usage.
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

impl Serialize for MessagesResponse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize_with(&WriteOptions::default(), serializer)
    }
}

impl MessageBody for MessagesResponse {
    type Options = WriteOptions;

    fn read_body<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
    ) -> Result<Self, msg_core::Error> {
        let offset = reader.next_offset();
        let (body, content) = Body::read(reader, HELD, cx, |it, _| Ok(it.raw()?))?;
        let role = body.get("role").and_then(|it| text_of(it.text()));
        let Some((role, _)) = role else {
            return Err(msg_core::Error::Shape {
                message: None,
                expected: MessagesForm::EXPECTED,
                offset,
            });
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

    /// A response has one message.
    fn has_room(&self, messages: usize) -> bool {
        messages == 1
    }
}

/// What to do with `cache_control` (AN-9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheControl {
    /// Keep it, also that of chat messages.
    #[default]
    Carry,
    /// Leave it out.
    Drop,
}

/// Options of writing messages.
///
/// ```
/// use msg_anthropic::{LaterSystem, WriteOptions, messages};
/// use msg_core::Message;
///
/// let chat = [Message::user("a"), Message::system("b")];
/// let options = WriteOptions::new().with_later_system(LaterSystem::Hoist);
/// let mut out = Vec::new();
/// messages::write(&chat, &options, &mut out);
/// assert_eq!(out, br#"{"system":"b","messages":[{"role":"user","content":"a"}]}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WriteOptions {
    /// Whether to keep the shape of the source.
    pub layout: Layout,
    /// What to do with later system messages.
    pub later_system: LaterSystem,
    /// What to do with `cache_control`.
    pub cache_control: CacheControl,
    /// What to do with thinking.
    pub thinking: SealedReasoning,
    /// The `max_tokens` of a request whose source has none (AN-21).
    pub max_tokens: Option<u64>,
}

impl WriteOptions {
    /// The default options: keep the layout, lose nothing that the format can express.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The canonical form of AN-13, with all other options at their defaults.
    #[must_use]
    pub fn canonical() -> Self {
        Self::new().with_layout(Layout::Canonical)
    }

    msg_core::setters! {
        /// Sets whether to keep the shape of the source.
        with_layout(layout: Layout);
        /// Sets what to do with later system messages.
        with_later_system(later_system: LaterSystem);
        /// Sets what to do with `cache_control`.
        with_cache_control(cache_control: CacheControl);
        /// Sets what to do with thinking.
        with_thinking(thinking: SealedReasoning);
        /// Sets the `max_tokens` of a request whose source has none.
        with_max_tokens(max_tokens: u64) max_tokens = Some(max_tokens);
    }

    /// Sets an option by the name and the word of its value in JSON options. False for an unknown
    /// option.
    ///
    /// # Errors
    /// [`Error::Option`] if the option does not have this value.
    ///
    /// ```
    /// use msg_anthropic::WriteOptions;
    ///
    /// let mut options = WriteOptions::new();
    /// assert!(options.set("layout", "canonical")?);
    /// assert_eq!(options, WriteOptions::canonical());
    /// assert!(!options.set("preview", "80")?);
    /// assert!(options.set("thinking", "some").is_err());
    /// # Ok::<(), msg_anthropic::Error>(())
    /// ```
    pub fn set(&mut self, name: &str, word: &str) -> Result<bool, Error> {
        match name {
            "layout" => self.layout = Error::option_word("layout", word, "keep or canonical")?,
            "later_system" => {
                self.later_system =
                    Error::option_word("later_system", word, "user, keep or hoist")?;
            }
            "cache_control" => {
                self.cache_control = Error::option_word("cache_control", word, "carry or drop")?;
            }
            "thinking" => self.thinking = Error::option_word("thinking", word, "keep or none")?,
            "max_tokens" => {
                let wrong = Error::Option { name: "max_tokens", expected: "a number" };
                self.max_tokens = Some(word.parse().map_err(|_| wrong)?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

pub(crate) const ANTHROPIC: Origin = Origin::Anthropic;

/// A content block: `type` comes first in all.
pub(crate) mod block {
    use super::Shape;

    pub(crate) const TYPE: u8 = 1;
    /// The first member after `type`: text, thinking, data, source, id.
    pub(crate) const BODY: u8 = 2;
    pub(crate) const SIGNATURE: u8 = 3;
    pub(crate) const TITLE: u8 = 3;

    pub(crate) const TEXT: Shape = Shape::new(&["type", "text"]);
    pub(crate) const THINKING: Shape = Shape::new(&["type", "thinking", "signature"]);
    pub(crate) const REDACTED: Shape = Shape::new(&["type", "data"]);
    pub(crate) const IMAGE: Shape = Shape::new(&["type", "source"]);
    pub(crate) const DOCUMENT: Shape = Shape::new(&["type", "source", "title"]);

    /// The text was a bare string instead of a block.
    pub(crate) const TYPE_BARE: u8 = 1;
    /// `signature` was `""`, or null.
    pub(crate) const SIGNATURE_EMPTY: u8 = 1;
    pub(crate) const SIGNATURE_NULL: u8 = 2;
}

/// A `tool_use` block.
pub(crate) mod call {
    use super::Shape;

    pub(crate) const ID: u8 = 2;
    pub(crate) const NAME: u8 = 3;
    pub(crate) const INPUT: u8 = 4;

    pub(crate) const SHAPE: Shape = Shape::new(&["type", "id", "name", "input"]);
}

/// A `tool_result` block.
pub(crate) mod result {
    use super::Shape;

    pub(crate) const CALL_ID: u8 = 2;
    pub(crate) const CONTENT: u8 = 3;
    pub(crate) const IS_ERROR: u8 = 4;

    pub(crate) const SHAPE: Shape = Shape::new(&["type", "tool_use_id", "content", "is_error"]);

    /// `content` was an array of one plain text, or of nothing.
    pub(crate) const CONTENT_ARRAY: u8 = 1;
    /// `content` was null.
    pub(crate) const CONTENT_NULL: u8 = 2;
}

/// The `source` of an image or a document.
pub(crate) mod source {
    use super::Shape;

    pub(crate) const TYPE: u8 = 1;
    pub(crate) const MEDIA_TYPE: u8 = 2;
    pub(crate) const DATA: u8 = 3;

    pub(crate) const INLINE: Shape = Shape::new(&["type", "media_type", "data"]);
    pub(crate) const URL: Shape = Shape::new(&["type", "url"]);
    pub(crate) const FILE: Shape = Shape::new(&["type", "file_id"]);

    /// `type` was `base64` for data that would be written as `text`, or not at all.
    pub(crate) const TYPE_BASE64: u8 = 1;
    /// `type` was `url` although the URL contains the data.
    pub(crate) const TYPE_URL: u8 = 2;
}

// The required types of the members of messages and blocks (MS-29), as tables: how a value of another kind is
// interpreted.

/// A message.
pub(crate) const MESSAGE: Want = Want::Object(&MESSAGE_MEMBERS);
/// The `content` of a message or a response, and `system`.
pub(crate) const CONTENT: Want = Want::Content(&BLOCKS);

static MESSAGE_MEMBERS: Wants = Wants::new(&[("content", CONTENT)], &[]);

static BLOCKS: Parts = Parts {
    may_be_bare: true,
    may_be_text: true,
    may_be_null: true,
    ..Parts::new(|source| Parts::by_type(source, block), text)
};

/// Results do not nest.
static RESULT_BLOCKS: Parts = Parts {
    may_be_bare: true,
    may_be_text: true,
    may_be_null: true,
    may_be_value: true,
    ..Parts::new(
        |source| Parts::by_type(source, |kind| block(kind).filter(|_| kind != "tool_result")),
        text,
    )
};

fn text(text: &str) -> String {
    Parts::typed_text("text", text)
}

fn block(kind: &str) -> Option<&'static Wants> {
    static TEXT: Wants = Wants::new(&[("text", Want::Text)], &[&["text"]]);
    static THINKING: Wants =
        Wants::new(&[("thinking", Want::Text), ("signature", Want::Opaque)], &[&["thinking"]]);
    static REDACTED: Wants = Wants::new(&[("data", Want::Opaque)], &[&["data"]]);
    static IMAGE: Wants = Wants::new(&[("source", Want::Typed(source))], &[&["source"]]);
    static DOCUMENT: Wants = Wants::new(
        &[("source", Want::Typed(source)), ("title", Want::Text), ("context", Want::Text)],
        &[&["source"]],
    );
    static TOOL_USE: Wants = Wants::new(&[("id", Want::Text), ("name", Want::Text)], &[]);
    static TOOL_RESULT: Wants = Wants::new(
        &[
            ("tool_use_id", Want::Text),
            ("content", Want::Content(&RESULT_BLOCKS)),
            ("is_error", Want::Flag),
        ],
        &[],
    );
    Some(match kind {
        "text" => &TEXT,
        "thinking" => &THINKING,
        "redacted_thinking" => &REDACTED,
        "image" => &IMAGE,
        "document" => &DOCUMENT,
        "tool_use" => &TOOL_USE,
        "tool_result" => &TOOL_RESULT,
        _ => return None,
    })
}

fn source(kind: &str) -> Option<&'static Wants> {
    static INLINE: Wants =
        Wants::new(&[("media_type", Want::Opaque), ("data", Want::Opaque)], &[&["data"]]);
    static URL: Wants = Wants::new(&[("url", Want::Opaque)], &[&["url"]]);
    static FILE: Wants = Wants::new(&[("file_id", Want::Opaque)], &[&["file_id"]]);
    Some(match kind {
        "base64" | "text" => &INLINE,
        "url" => &URL,
        "file" => &FILE,
        _ => return None,
    })
}

/// A reasoning part as a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Thought<'m> {
    /// `thinking`: a visible text and its signature.
    Open { text: Cow<'m, str>, signature: Option<&'m str> },
    /// `redacted_thinking`: the encrypted payload.
    Sealed(&'m str),
}

impl<'m> Thought<'m> {
    /// The block of a part. An empty signature counts as missing.
    pub(crate) fn of(it: &'m Reasoning) -> Self {
        let signature = it.signature.as_deref().filter(|it| !it.is_empty());
        match (signature, it.redacted.as_deref()) {
            (None, Some(data)) => Self::Sealed(data),
            (signature, _) => Self::Open { text: it.display_text(), signature },
        }
    }

    /// Whether the provider accepts it back.
    pub(crate) fn is_signed(&self) -> bool {
        !matches!(self, Self::Open { signature: None, .. })
    }

    /// The members of the part that the block cannot hold.
    pub(crate) fn lost(&self, it: &Reasoning) -> impl Iterator<Item = &'static str> {
        let is_sealed = matches!(self, Self::Sealed(_));
        let found = [
            ("text", is_sealed && it.text.is_some()),
            ("summary", it.summary.as_ref().is_some_and(|it| !it.is_empty())),
            ("redacted", !is_sealed && it.redacted.is_some()),
            ("encrypted", it.encrypted.is_some()),
        ];
        found.into_iter().filter(|it| it.1).map(|it| it.0)
    }
}
