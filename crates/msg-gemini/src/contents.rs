//! The documents of `generateContent` (GE-1): a list of contents, a request whose messages begin with
//! `systemInstruction`, and a response with one message per candidate; all other members are raw and in place. Also the
//! options of writing, with their names.

use msg_codec::{
    Assembled, Error, Layout,
    codec::{self, Body, Context, Losses, MessageBody, Purpose, RequestForm, RequestParts},
};
use msg_core::{Message, Origin, Part, Report, Role, Usage, request::RequestHead};
use msg_json::{Kind, Reader};
use serde::{Deserialize, Serialize, Serializer};

use crate::events::{finish_word, usage_metadata};
use crate::read::{read_alone_as, read_contents, read_system};
use crate::shape::GEMINI;
use crate::write::{Writer, written};
use crate::{ReadOptions, head};

pub use msg_codec::LaterSystem;

/// A document with Gemini contents: an array, an object with `contents`, or one with `candidates`.
pub type Document = codec::Document<GenerateRequest>;

/// Reads a document of Gemini contents (GE-1 to GE-11), and reports its problems. Fails only if it is
/// not JSON or not a conversation. Linear in the input, with one allocation per text.
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
/// [`Error::Read`] with message and byte, or [`Error::TooLarge`].
pub fn read(json: &[u8], options: &ReadOptions) -> Result<(Document, Report), Error> {
    Document::read(json, options)
}

/// Appends messages in the form that is sent to Gemini, `{"systemInstruction"?,"contents"}` (GE-1, GE-3,
/// GE-18), and reports what the format cannot hold (MS-24). Linear in the output.
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
    GenerateRequest::write_conversation(messages, options, out)
}

/// A request for content.
///
/// ```
/// use msg_gemini::{ReadOptions, WriteOptions, contents};
///
/// let json = br#"{"contents":"Hi","system_instruction":{"parts":[{"text":"Be brief."}]},"tools":[]}"#;
/// let (document, _) = contents::read(json, &ReadOptions::new())?;
/// let contents::Document::Request(request) = &document else {
///     unreachable!("an object with contents is a request")
/// };
/// assert_eq!(request.messages[0].text(), "Be brief.");
/// assert!(request.body.get("tools").is_some());
/// let mut out = Vec::new();
/// document.write(&WriteOptions::new(), &mut out);
/// assert_eq!(out, json);
/// # Ok::<(), msg_gemini::Error>(())
/// ```
///
/// `from_head` makes a request from settings and messages (AN-21), and reports what has no place.
///
/// ```
/// use msg_gemini::{GenerateRequest, Message, RequestHead};
///
/// let head = RequestHead::new().with_max_tokens(9).with_stream();
/// let (request, report) = GenerateRequest::from_head(&head, vec![Message::user("Hi")]);
/// assert_eq!(report.len(), 1, "streaming is another method");
/// assert_eq!(
///     serde_json::to_string(&request)?,
///     r#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"generationConfig":{"maxOutputTokens":9}}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
pub type GenerateRequest = codec::Request<Generate>;

/// Whether a request goes on with contents that the provider keeps in a cache, in which the calls of its first results
/// may be (GE-22).
#[must_use]
pub fn is_continued(request: &GenerateRequest) -> bool {
    let names = ["cachedContent", "cached_content"];
    let mut cached = names.into_iter().filter_map(|it| request.body.parse::<String>(it));
    cached.any(|it| !it.is_empty())
}

/// The parts of a request of `generateContent`.
#[derive(Debug, Clone, PartialEq)]
pub struct Generate;

impl RequestForm for Generate {
    type Options = WriteOptions;
    type Response = GenerateResponse;

    const ORIGIN: Origin = GEMINI;
    const HELD: &'static [&'static str] = &["contents", "systemInstruction", "system_instruction"];
    const KINDS: &'static [Kind] = &[Kind::Array, Kind::Object, Kind::String];
    const RESPONSE: &'static str = "candidates";
    const EXPECTED: &'static str =
        "a list of contents, an object with contents, or one with candidates";
    const PARTS: RequestParts<WriteOptions> = RequestParts {
        head: |body| head::read(body.iter()),
        system: read_system,
        list: read_contents,
        written: |options, purpose, write| written(options, purpose, |it| write(it)),
    };

    fn write_head(head: &RequestHead, _: &[Message], body: &mut Body) -> Report {
        body.hold("contents");
        head::write(head, body)
    }
}

/// The members held as messages; in each candidate, its message.
const HELD: &[&str] = &["candidates"];
const HELD_OF_CANDIDATE: &[&str] = &["content"];

/// A response of the API.
///
/// ```
/// use msg_gemini::{ReadOptions, contents};
///
/// let json = br#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason":"STOP"}],
///     "usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1},"modelVersion":"m","responseId":"r"}"#;
/// let (document, _) = contents::read(json, &ReadOptions::new())?;
/// let contents::Document::Response(response) = document else {
///     unreachable!("an object with candidates is a response")
/// };
/// assert_eq!(response.messages[0].text(), "Hi");
/// assert_eq!(response.id().as_deref(), Some("r"));
/// assert_eq!(response.usage().and_then(|it| it.output), Some(1));
/// assert_eq!(response.finish_reason(0).as_deref(), Some("STOP"));
/// # Ok::<(), msg_gemini::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GenerateResponse {
    /// The answers, one message per candidate.
    pub messages: Vec<Message>,
    /// The other members, raw and in place.
    pub body: Body,
    /// The members of each candidate.
    candidates: Vec<Candidate>,
}

impl GenerateResponse {
    /// The response for the result of a stream of any format: for a proxy with a client that does not
    /// stream.
    ///
    /// ```
    /// use msg_codec::{StreamOptions, StreamReader};
    /// use msg_gemini::{GEMINI, GenerateResponse};
    ///
    /// let mut reader = StreamReader::new(&[GEMINI], StreamOptions::default());
    /// reader.feed(br#"{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}"#, &mut |_| {});
    /// let response = GenerateResponse::of(&reader.finish(&mut |_| {}));
    /// assert_eq!(response.finish_reason(0).as_deref(), Some("STOP"));
    /// assert_eq!(response.messages[0].text(), "Hi");
    /// ```
    #[must_use]
    pub fn of(res: &Assembled) -> Self {
        let mut body = Body::new(HELD);
        body.hold("candidates");
        let usage = res.usage.as_ref();
        body.write_optional("usageMetadata", usage, |it, usage| usage_metadata(usage, it));
        let ids = [("modelVersion", &res.model), ("responseId", &res.id)];
        for (name, text) in ids {
            body.write_optional(name, text.as_ref(), |it, text| it.str(text));
        }
        let candidates = res.choices.iter().map(|choice| {
            let mut body = Body::new(HELD_OF_CANDIDATE);
            body.hold("content");
            let reason = finish_word(choice);
            body.write_optional("finishReason", reason, |it, word| it.str(&word));
            body.write_member("index", |it| it.u64(u64::from(choice.index)));
            Candidate { body, has_content: true }
        });
        let candidates = candidates.collect();
        let messages = res.choices.iter().map(|it| it.message.clone()).collect();
        Self { messages, body, candidates }
    }

    /// The provider's id of the response.
    #[must_use]
    pub fn id(&self) -> Option<String> {
        self.body.parse("responseId")
    }

    /// The model that answered.
    #[must_use]
    pub fn model(&self) -> Option<String> {
        self.body.parse("modelVersion")
    }

    /// The finish reason of a candidate, in Gemini's words.
    #[must_use]
    pub fn finish_reason(&self, candidate: usize) -> Option<String> {
        self.candidates.get(candidate)?.body.parse("finishReason")
    }

    /// The number of candidates.
    #[must_use]
    pub fn candidates(&self) -> usize {
        self.candidates.len()
    }

    /// The usage.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.body.usage("usageMetadata")
    }

    pub(crate) fn write_with<'a>(&'a self, writer: &mut Writer<'a, '_>, out: &mut Vec<u8>) {
        let new = Candidate::default();
        self.body.write(out, |it, name, _| {
            it.key(name).array(self.messages.iter().enumerate(), |out, (at, it)| {
                let candidate = self.candidates.get(at).unwrap_or(&new);
                out.value(|out| candidate.write(writer, (at, it), out));
            });
        });
    }
}

impl Serialize for GenerateResponse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize_with(&WriteOptions::default(), serializer)
    }
}

impl MessageBody for GenerateResponse {
    type Options = WriteOptions;

    fn read_body<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
    ) -> Result<Self, msg_core::Error> {
        let (body, found) = Body::read(reader, HELD, cx, |reader, cx| {
            let (mut messages, mut candidates) = (Vec::new(), Vec::new());
            reader.begin_array()?;
            while reader.next_element()? {
                let (message, candidate) = Candidate::read(reader, cx)?;
                messages.push(message);
                candidates.push(candidate);
                cx.next_message();
            }
            Ok((messages, candidates))
        })?;
        let (mut messages, candidates) = found.unwrap_or_default();
        body.note_model("modelVersion", &mut messages);
        Ok(Self { messages, body, candidates })
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

    /// A response has one message per candidate.
    fn has_room(&self, messages: usize) -> bool {
        messages == self.candidates.len()
    }
}

/// The members of a candidate.
#[derive(Debug, Clone, PartialEq)]
struct Candidate {
    body: Body,
    /// Whether `content` is the message, and not null or absent.
    has_content: bool,
}

impl Default for Candidate {
    fn default() -> Self {
        Self { body: Body::new(HELD_OF_CANDIDATE), has_content: false }
    }
}

impl Candidate {
    /// Reads a candidate and its message, which is empty without a content.
    fn read<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
    ) -> Result<(Message, Self), msg_core::Error> {
        let (message, offset) = (cx.message, reader.next_offset());
        if reader.peek()? != Kind::Object {
            let expected = "a candidate, which is an object";
            return Err(msg_core::Error::Shape { message: Some(message), expected, offset });
        }
        let (body, found) =
            Body::read(reader, HELD_OF_CANDIDATE, cx, |reader, cx| match reader.peek()? {
                Kind::Null => Ok(reader.null().map(|()| None)?),
                _ => read_alone_as(&Role::Assistant, reader, cx)
                    .map(Some)
                    .map_err(|it| it.in_message(message)),
            })?;
        let found = found.flatten();
        let has_content = found.is_some();
        let message = found.unwrap_or_else(|| Message::new(Role::Assistant));
        Ok((message, Self { body, has_content }))
    }

    /// Writes the members around a message. A candidate that had no content gets one only for a non-empty message.
    fn write<'a>(
        &self,
        writer: &mut Writer<'a, '_>,
        (at, message): (usize, &'a Message),
        out: &mut Vec<u8>,
    ) {
        let is_empty = message.parts.is_empty() && message.extra.is_empty();
        let mut body = std::borrow::Cow::Borrowed(&self.body);
        if !self.has_content && !is_empty {
            body.to_mut().hold("content");
        }
        body.write(out, |it, name, raw| match self.has_content || !is_empty {
            true => it.key(name).value(|out| writer.candidate(message, at, out)),
            // Null is kept.
            false => it.key(name).raw(raw.text()),
        });
    }
}

/// What to do with the ids of calls and results (GE-6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ids {
    /// Write them, if there are any.
    #[default]
    Keep,
    /// Leave them out: Vertex does not have them.
    Omit,
}

/// What to do with reasoning (GE-7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thoughts {
    /// Keep its text, as a thought.
    #[default]
    Keep,
    /// Leave it out.
    None,
}

impl Thoughts {
    /// Reports a part that cannot be written, and why (AN-20).
    pub(crate) fn lose(self, at: usize, it: &Part, losses: &mut Losses<'_>) {
        match it {
            Part::Reasoning(_) if self == Self::None => losses.as_asked(at, "thoughts are"),
            Part::Reasoning(_) => {
                let text = "a thought without text is sealed for another provider and left out";
                losses.warn("convert::lost-part", Some(at), text);
            }
            _ => losses.part(at, &it.kind_of_source()),
        }
    }
}

/// Which API contents are written for (GE-21).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flavor {
    /// The Gemini API.
    #[default]
    AiStudio,
    /// Vertex AI, which refuses ids.
    Vertex,
}

/// Options of writing contents.
///
/// ```
/// use msg_core::Message;
/// use msg_gemini::{LaterSystem, WriteOptions, contents};
///
/// let chat = [Message::user("a"), Message::system("b")];
/// let options = WriteOptions::new().with_later_system(LaterSystem::Hoist);
/// let mut out = Vec::new();
/// contents::write(&chat, &options, &mut out);
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     r#"{"systemInstruction":{"parts":[{"text":"b"}]},"contents":[{"role":"user","parts":[{"text":"a"}]}]}"#,
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WriteOptions {
    /// Whether to keep the shape of the source.
    pub layout: Layout,
    /// What to do with later system messages. Gemini has no role for [`LaterSystem::Keep`], which
    /// acts like [`LaterSystem::User`].
    pub later_system: LaterSystem,
    /// What to do with ids.
    pub ids: Ids,
    /// What to do with reasoning.
    pub thoughts: Thoughts,
}

impl From<Flavor> for WriteOptions {
    fn from(flavor: Flavor) -> Self {
        let ids = match flavor {
            Flavor::AiStudio => Ids::Keep,
            Flavor::Vertex => Ids::Omit,
        };
        Self::new().with_ids(ids)
    }
}

impl WriteOptions {
    /// The default options: keep the layout, lose nothing that the format can express.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The canonical form of GE-12, with all other options at their defaults.
    #[must_use]
    pub fn canonical() -> Self {
        Self::new().with_layout(Layout::Canonical)
    }

    msg_core::setters! {
        /// Sets whether to keep the shape of the source.
        with_layout(layout: Layout);
        /// Sets what to do with later system messages.
        with_later_system(later_system: LaterSystem);
        /// Sets what to do with ids.
        with_ids(ids: Ids);
        /// Sets what to do with reasoning.
        with_thoughts(thoughts: Thoughts);
    }

    /// Sets an option by the name and the word of its value in JSON options. False for an unknown
    /// option.
    ///
    /// # Errors
    /// [`Error::Option`] if the option does not have this value.
    ///
    /// ```
    /// use msg_gemini::{Flavor, WriteOptions};
    ///
    /// let mut options = WriteOptions::new();
    /// assert!(options.set("ids", "omit")?);
    /// assert_eq!(options, WriteOptions::from(Flavor::Vertex));
    /// assert!(!options.set("preview", "80")?);
    /// assert!(options.set("thoughts", "some").is_err());
    /// # Ok::<(), msg_gemini::Error>(())
    /// ```
    pub fn set(&mut self, name: &str, word: &str) -> Result<bool, Error> {
        match name {
            "layout" => self.layout = Error::option_word("layout", word, "keep or canonical")?,
            "later_system" => {
                let (name, expected) = ("later_system", "user or hoist");
                self.later_system = Error::option_word(name, word, expected)?;
                if self.later_system == LaterSystem::Keep {
                    return Err(Error::Option { name, expected });
                }
            }
            "ids" => self.ids = Error::option_word("ids", word, "keep or omit")?,
            "thoughts" => self.thoughts = Error::option_word("thoughts", word, "keep or none")?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}
