//! The documents of Converse (BR-1): a list, a request whose messages begin with `system`, a response with one message,
//! and a single message; all other members are raw and in place. Also the options of writing, how the blocks are
//! distinguished, and the types of their members (MS-29). The content of a block keeps its source text if canonical
//! writing would differ (BR-14). The formats of media are those in the service model, with their media types (BR-8).

use std::borrow::Cow;

use msg_codec::{
    Assembled, DataUrl, Error, Layout, MediaKind,
    codec::{
        self, Body, Context, Found, Mended, MessageBody, Parts, Purpose, RequestForm, RequestParts,
        Want, Wants,
    },
};
use msg_core::{Message, Origin, Report, Usage, request::RequestHead};
use msg_json::{Kind, Reader, to_text};
use serde::{Deserialize, Serialize, Serializer};

use crate::read::{Depth, read_messages, read_one};
use crate::stream::{Converse, stop_reason, write_usage};
use crate::write::{Writer, written};
use crate::{ReadOptions, head};

pub use msg_codec::{LaterSystem, SealedReasoning};

/// A document with Converse messages.
pub type Document = codec::Document<ConverseRequest>;

/// Reads a document of Converse messages (BR-1 to BR-12), and reports its problems. Fails only if it is not JSON or not
/// a conversation. Linear in the input.
///
/// # Errors
/// [`Error::Read`] with message and byte, or [`Error::TooLarge`].
pub fn read(json: &[u8], options: &ReadOptions) -> Result<(Document, Report), Error> {
    Document::read(json, options)
}

/// Appends messages in the form that is sent to Bedrock, `{"system"?,"messages"}` (BR-1, BR-13), and reports what the
/// format cannot hold (MS-24). Linear in the output.
pub fn write(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
    ConverseRequest::write_conversation(messages, options, out)
}

/// A request of Converse.
///
/// `from_head` makes a request from settings and messages (BR-24), and reports what has no place.
///
/// ```
/// use msg_bedrock::{ConverseRequest, Message, RequestHead};
///
/// let head = RequestHead::new().with_max_tokens(9);
/// let (request, report) = ConverseRequest::from_head(&head, vec![Message::user("Hi")]);
/// assert!(report.is_empty());
/// assert_eq!(
///     serde_json::to_string(&request)?,
///     r#"{"messages":[{"role":"user","content":[{"text":"Hi"}]}],"inferenceConfig":{"maxTokens":9}}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
pub type ConverseRequest = codec::Request<Converse>;

impl RequestForm for Converse {
    type Options = WriteOptions;
    type Response = ConverseResponse;

    const ORIGIN: Origin = BEDROCK;
    const HELD: &'static [&'static str] = &["messages", "system"];
    const RESPONSE: &'static str = "output";
    const EXPECTED: &'static str =
        "a list of messages, an object with messages, one with output.message, or a message";
    const TELL_RESPONSE: &'static [(&'static str, Kind)] =
        &[("output", Kind::Object), ("content", Kind::Array)];
    const PARTS: RequestParts<WriteOptions> = RequestParts {
        head: |body| head::read(body.iter()),
        system: read_system,
        list: read_messages,
        written: |options, purpose, write| written(options, purpose, |it| write(it)),
    };

    fn write_head(head: &RequestHead, messages: &[Message], body: &mut Body) -> Report {
        body.write_optional("modelId", head.model.as_ref(), |it, text| it.str(text));
        body.hold("messages");
        let has_calls = messages.iter().any(|it| it.tool_calls().next().is_some());
        head::write(head, has_calls, body)
    }
}

/// Reads instructions; `None` if they are empty.
fn read_system<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Option<Message>, msg_core::Error> {
    let offset = reader.next_offset();
    let bad = msg_core::Error::Shape { message: None, expected: Converse::EXPECTED, offset };
    crate::read::read_system(reader.raw()?, cx).ok_or(bad)
}

const OUTPUT: &[&str] = &["output"];
const MESSAGE: &[&str] = &["message"];

/// A response of Bedrock, or a single message.
#[derive(Debug, Clone, PartialEq)]
pub struct ConverseResponse {
    /// The answer: one message, or two if a user message begins with results.
    pub messages: Vec<Message>,
    /// The members beside `output`; empty for a single message.
    pub body: Body,
    /// The members of `output`; `None` for a single message.
    output: Option<Body>,
    /// The number of messages read.
    n_read: usize,
}

impl ConverseResponse {
    /// The response for the result of a stream of any format: for a proxy with a client that does not stream. Uses the
    /// first choice.
    ///
    /// ```
    /// use msg_bedrock::{BEDROCK, ConverseResponse};
    /// use msg_codec::{StreamOptions, StreamReader};
    ///
    /// let mut reader = StreamReader::new(&[BEDROCK], StreamOptions::default());
    /// reader.feed(b"{\"contentBlockDelta\":{\"contentBlockIndex\":0,\"delta\":{\"text\":\"Hi\"}}}\n", &mut |_| {});
    /// reader.feed(b"{\"messageStop\":{\"stopReason\":\"end_turn\"}}\n", &mut |_| {});
    /// let response = ConverseResponse::of(&reader.finish(&mut |_| {}));
    /// assert_eq!(response.stop_reason().as_deref(), Some("end_turn"));
    /// assert_eq!(response.messages[0].text(), "Hi");
    /// ```
    #[must_use]
    pub fn of(res: &Assembled) -> Self {
        let (mut body, mut output) = (Body::new(OUTPUT), Body::new(MESSAGE));
        body.hold("output");
        output.hold("message");
        let first = res.choices.first();
        let reason = first.and_then(|it| it.finish.as_ref()).and_then(stop_reason);
        body.write_optional("stopReason", reason, |it, word| it.str(word));
        body.write_optional("usage", res.usage.as_ref(), write_usage);
        let messages: Vec<_> = first.map(|it| it.message.clone()).into_iter().collect();
        let n_read = messages.len();
        Self { messages, body, output: Some(output), n_read }
    }

    /// The stop reason, in Bedrock's words.
    #[must_use]
    pub fn stop_reason(&self) -> Option<String> {
        self.body.parse("stopReason")
    }

    /// The usage (BR-27).
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.body.usage("usage")
    }

    /// Whether it is a single message without a response.
    #[must_use]
    pub fn is_message(&self) -> bool {
        self.output.is_none()
    }

    fn write_with(&self, writer: &mut Writer<'_>, out: &mut Vec<u8>) {
        let Some(output) = &self.output else { return writer.single(&self.messages, out) };
        self.body.write(out, |it, name, _| {
            it.key(name).value(|out| {
                output.write(out, |it, name, _| {
                    it.key(name).value(|out| writer.single(&self.messages, out));
                });
            });
        });
    }
}

impl Serialize for ConverseResponse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize_with(&WriteOptions::default(), serializer)
    }
}

impl MessageBody for ConverseResponse {
    type Options = WriteOptions;

    fn read_body<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
    ) -> Result<Self, msg_core::Error> {
        let offset = reader.next_offset();
        if !Body::has_member(reader.clone(), "output", Kind::Object)? {
            let messages = read_one(reader, cx)?;
            let (body, n_read) = (Body::new(OUTPUT), messages.len());
            return Ok(Self { messages, body, output: None, n_read });
        }
        let (body, found) = Body::read(reader, OUTPUT, cx, |it, cx| {
            if it.peek()? != Kind::Object {
                return Ok(it.raw().map(|_| None)?);
            }
            let (output, messages) = Body::read(it, MESSAGE, cx, |it, cx| match it.peek()? {
                Kind::Object => read_one(it, cx).map(Some),
                _ => Ok(it.raw().map(|_| None)?),
            })?;
            Ok(messages.flatten().map(|it| (output, it)))
        })?;
        let Some((output, messages)) = found.flatten() else {
            let expected = Converse::EXPECTED;
            return Err(msg_core::Error::Shape { message: None, expected, offset });
        };
        let n_read = messages.len();
        Ok(Self { messages, body, output: Some(output), n_read })
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
        messages == self.n_read
    }
}

/// What to do with cache points (BR-9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// Keep them, also those of Anthropic and of chat messages.
    #[default]
    Carry,
    /// Leave them out.
    Drop,
}

/// What to do with reasoning without a signature (BR-11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unsigned {
    /// Leave it out: the API refuses it for Claude.
    #[default]
    Drop,
    /// Keep it.
    Keep,
}

/// Options of writing messages.
///
/// ```
/// use msg_bedrock::{WriteOptions, converse};
/// use msg_core::Message;
///
/// let mut out = Vec::new();
/// converse::write(&[Message::user("a")], &WriteOptions::new(), &mut out);
/// assert_eq!(out, br#"{"messages":[{"role":"user","content":[{"text":"a"}]}]}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WriteOptions {
    /// Whether to keep the shape of the source.
    pub layout: Layout,
    /// What to do with later system messages; `keep` in the same format, else `user`, by default.
    pub later_system: Option<LaterSystem>,
    /// What to do with cache points.
    pub cache: Cache,
    /// What to do with reasoning.
    pub thinking: SealedReasoning,
    /// What to do with unsigned reasoning; `keep` in the same format, else `drop`, by default.
    pub unsigned: Option<Unsigned>,
}

impl WriteOptions {
    /// The default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The canonical form of BR-14, with all other options at their defaults.
    #[must_use]
    pub fn canonical() -> Self {
        Self { layout: Layout::Canonical, ..Self::default() }
    }

    /// Sets an option by its name and the word of its value. False for an unknown option.
    ///
    /// # Errors
    /// [`Error::Option`] if the option does not have this value.
    pub fn set(&mut self, name: &str, word: &str) -> Result<bool, Error> {
        match name {
            "layout" => self.layout = Error::option_word("layout", word, "keep or canonical")?,
            "later_system" => {
                self.later_system =
                    Some(Error::option_word("later_system", word, "user, keep or hoist")?);
            }
            "cache" => self.cache = Error::option_word("cache", word, "carry or drop")?,
            "thinking" => self.thinking = Error::option_word("thinking", word, "keep or none")?,
            "unsigned" => {
                self.unsigned = Some(Error::option_word("unsigned", word, "drop or keep")?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

pub(crate) const BEDROCK: Origin = Origin::Bedrock;

/// The members of which a block has one (BR-3).
pub(crate) const UNION: [&str; 14] = [
    "text",
    "image",
    "document",
    "video",
    "audio",
    "toolUse",
    "toolResult",
    "guardContent",
    "cachePoint",
    "reasoningContent",
    "citationsContent",
    "searchResult",
    "toolAddition",
    "toolRemoval",
];

pub(crate) const CACHE_POINT: &str = "cachePoint";
pub(crate) const GUARD: &str = "guardContent";
pub(crate) const CITATIONS: &str = "citationsContent";

// The required types of the members of blocks (MS-29), as tables: how a value of another kind is interpreted.

/// The intended block for one with a value of another kind; `name` is its place.
pub(crate) fn mend(name: &str, source: &str, depth: Depth) -> Option<Mended> {
    let Found::Known(wants) = (if depth == Depth::Result { in_result } else { block })(source)
    else {
        return None;
    };
    Want::Object(wants).mend(name, source)
}

/// The intended message for one whose content is neither a list, a text nor null.
pub(crate) fn mend_message(source: &str) -> Option<Mended> {
    // Lists are repaired block by block, and a text is read as one.
    static MESSAGE: Wants = Wants::new(&[("content", Want::Or(Kind::Array, &BUT_TEXT))], &[]);
    static BUT_TEXT: Want = Want::Or(Kind::String, &Want::Content(&CONTENT));
    static CONTENT: Parts = Parts { of: block, may_be_text: false, may_be_value: false, ..RESULT };
    Want::Object(&MESSAGE).mend("", source)
}

static TEXT: Wants = Wants::new(&[("text", Want::Text)], &[&["text"]]);

/// The required types of a block, by its union member.
fn block(source: &str) -> Found {
    static CALL: Wants =
        Wants::new(&[("toolUseId", Want::Text), ("name", Want::Name)], &[&["name"]]);
    static USE: Wants = Wants::new(&[("toolUse", Want::Object(&CALL))], &[&["toolUse"]]);
    static ANSWER: Wants = Wants::new(
        &[("toolUseId", Want::Text), ("content", Want::Content(&RESULT))],
        &[&["toolUseId"]],
    );
    static RESULT_BLOCK: Wants =
        Wants::new(&[("toolResult", Want::Object(&ANSWER))], &[&["toolResult"]]);
    match kind(source) {
        Some("text") => Found::Known(&TEXT),
        Some("toolUse") => Found::Known(&USE),
        Some("toolResult") => Found::Known(&RESULT_BLOCK),
        Some(_) => Found::Unknown,
        None => Found::NoPart,
    }
}

/// Results do not nest.
fn in_result(source: &str) -> Found {
    match kind(source) {
        Some("text") => Found::Known(&TEXT),
        Some(_) => Found::Unknown,
        None => Found::NoPart,
    }
}

static RESULT: Parts = Parts {
    may_be_bare: true,
    may_be_text: true,
    may_be_null: true,
    may_be_value: true,
    ..Parts::new(in_result, |text| to_text(|it| it.object(|it| it.key("text").str(text))))
};

/// The only member of the union that a block has.
fn kind(source: &str) -> Option<&'static str> {
    let (mut reader, mut found) = (Reader::from_text(source), None);
    reader.begin_object().ok()?;
    while let Some(key) = reader.next_key().ok()? {
        let is_null = matches!(reader.peek(), Ok(Kind::Null));
        reader.raw().ok()?;
        let kinds = UNION.into_iter().chain(["json"]);
        if let Some(kind) = kinds.filter(|_| !is_null).find(|it| *it == key.text) {
            found = Some(if found.is_some() { "" } else { kind });
        }
    }
    found
}

/// The kinds of media blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Medium {
    Image,
    Document,
    Video,
    Audio,
}

impl Medium {
    pub(crate) const ALL: [Self; 4] = [Self::Image, Self::Document, Self::Video, Self::Audio];

    /// The member of the union.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Document => "document",
            Self::Video => "video",
            Self::Audio => "audio",
        }
    }

    /// The formats and their media types.
    fn table(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Image => IMAGES,
            Self::Document => DOCUMENTS,
            Self::Video => VIDEOS,
            Self::Audio => AUDIOS,
        }
    }

    /// The media type for a format of the API.
    pub(crate) fn media_type(self, format: &str) -> Option<&'static str> {
        self.table().iter().find(|it| it.0 == format).map(|it| it.1)
    }

    /// The media type for a word that is not a format of the API: an alias, a media type, the type of the data, or any
    /// other type of this kind of media. `None` if nothing reveals it.
    pub(crate) fn meant(self, word: &str, data: Option<&str>) -> Option<Cow<'static, str>> {
        let word = word.trim().to_ascii_lowercase();
        let name = word.rsplit(['/', '.']).next().unwrap_or_default();
        let other = OTHER_NAMES.iter().find(|it| it.0 == name).map_or(name, |it| it.1);
        let by_name = || of_type(&word).filter(|it| it.0 == self).map(|it| it.1);
        if let Some(known) = self.media_type(by_name().unwrap_or(other)) {
            return Some(known.into());
        }
        if let Some(of_data) = data.and_then(DataUrl::type_of_data).filter(|it| self.has(it)) {
            return Some(of_data.into());
        }
        let is_token = |it: &str| {
            it.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'+' | b'.'))
        };
        if name.is_empty() || !word.split('/').all(is_token) {
            return None;
        }
        let of_extension = || DataUrl::type_of_extension(name);
        Some(match (word.contains('/'), of_extension().filter(|it| self.has(it))) {
            (true, _) => word.into(),
            (_, Some(it)) => it.into(),
            _ if self == Self::Document => format!("application/{name}").into(),
            _ => format!("{}/{name}", self.name()).into(),
        })
    }

    /// A word for this media type; `None` if it has a format, or is of another kind.
    pub(crate) fn word_for(self, media_type: &str) -> Option<&str> {
        let subtype = media_type.rsplit('/').next().unwrap_or_default();
        let extension = media_type.rsplit(['/', '-']).next().unwrap_or_default();
        let means = |it: &&str| self.meant(it, None).is_some_and(|it| it == media_type);
        let words = [subtype, extension, media_type];
        words.into_iter().filter(|_| of_type(media_type).is_none()).find(means)
    }

    /// Whether media of this type are of this kind.
    fn has(self, media_type: &str) -> bool {
        let kind = match self {
            Self::Image => MediaKind::Image,
            Self::Document => MediaKind::Document,
            Self::Video => MediaKind::Video,
            Self::Audio => MediaKind::Audio,
        };
        MediaKind::of(media_type) == kind
    }
}

/// Aliases of document formats.
const OTHER_NAMES: [(&str, &str); 10] = [
    ("jpg", "jpeg"),
    ("pjpeg", "jpeg"),
    ("x-png", "png"),
    ("x-wav", "wav"),
    ("wave", "wav"),
    ("plain", "txt"),
    ("text", "txt"),
    ("markdown", "md"),
    ("htm", "html"),
    ("3gp", "three_gp"),
];

/// The block for a media type without parameters, and its format there.
pub(crate) fn of_type(media_type: &str) -> Option<(Medium, &'static str)> {
    const OTHERS: [(&str, &str); 3] =
        [("image/jpg", "image/jpeg"), ("audio/x-wav", "audio/wav"), ("audio/mpeg", "audio/mp3")];
    let essence = media_type.split(';').next()?.trim();
    let other = OTHERS.iter().find(|it| it.0.eq_ignore_ascii_case(essence));
    let essence = other.map_or(essence, |it| it.1);
    let find = |kind: Medium| {
        let mut table = kind.table().iter();
        table.find(|it| it.1.eq_ignore_ascii_case(essence)).map(|it| (kind, it.0))
    };
    Medium::ALL.into_iter().find_map(find)
}

/// The service's name for a media type: `docx` for Word documents, `mkv` for `video/x-matroska`.
///
/// ```
/// assert_eq!(msg_bedrock::media_format("video/x-matroska"), Some("mkv"));
/// assert_eq!(msg_bedrock::media_format("model/gltf+json"), None);
/// ```
pub fn media_format(media_type: &str) -> Option<&'static str> {
    of_type(media_type).map(|it| it.1)
}

/// The media types that the service calls `format`, in all kinds of blocks; for an unknown name, the types that it
/// probably means.
///
/// ```
/// assert!(msg_bedrock::media_types("mp4").eq(["video/mp4", "audio/mp4"]));
/// assert_eq!(msg_bedrock::media_types("JPG").next().as_deref(), Some("image/jpeg"));
/// ```
pub fn media_types(format: &str) -> impl Iterator<Item = Cow<'static, str>> {
    let is_known = Medium::ALL.iter().any(|it| it.media_type(format).is_some());
    Medium::ALL.into_iter().filter_map(move |it| match is_known {
        true => it.media_type(format).map(Cow::Borrowed),
        false => it.meant(format, None),
    })
}

/// The block for a link by the extension of its path.
pub(crate) fn of_url(url: &str) -> Option<(Medium, &'static str)> {
    let name = url.split(['?', '#']).next()?.rsplit('/').next()?;
    let (_, extension) = name.rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    let extension = match extension.as_str() {
        "jpg" => "jpeg",
        "htm" => "html",
        "3gp" => "three_gp",
        it => it,
    };
    let find =
        |kind: Medium| kind.table().iter().find(|it| it.0 == extension).map(|it| (kind, it.0));
    Medium::ALL.into_iter().find_map(find)
}

const IMAGES: &[(&str, &str)] =
    &[("png", "image/png"), ("jpeg", "image/jpeg"), ("gif", "image/gif"), ("webp", "image/webp")];

const DOCUMENTS: &[(&str, &str)] = &[
    ("pdf", "application/pdf"),
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("html", "text/html"),
    ("txt", "text/plain"),
    ("md", "text/markdown"),
];

const VIDEOS: &[(&str, &str)] = &[
    ("mkv", "video/x-matroska"),
    ("mov", "video/quicktime"),
    ("mp4", "video/mp4"),
    ("webm", "video/webm"),
    ("flv", "video/x-flv"),
    ("mpeg", "video/mpeg"),
    ("mpg", "video/mpg"),
    ("wmv", "video/x-ms-wmv"),
    ("three_gp", "video/3gpp"),
];

const AUDIOS: &[(&str, &str)] = &[
    ("mp3", "audio/mp3"),
    ("opus", "audio/opus"),
    ("wav", "audio/wav"),
    ("aac", "audio/aac"),
    ("flac", "audio/flac"),
    ("mp4", "audio/mp4"),
    ("ogg", "audio/ogg"),
    ("mkv", "audio/mkv"),
    ("mka", "audio/mka"),
    ("x-aac", "audio/x-aac"),
    ("m4a", "audio/m4a"),
    ("mpeg", "audio/mpeg"),
    ("mpga", "audio/mpga"),
    ("pcm", "audio/pcm"),
    ("webm", "audio/webm"),
];
