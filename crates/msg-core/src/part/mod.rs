//! The parts of a message (MS-3): one struct per kind, one enum over them. They do not know what a provider accepts;
//! payloads, URLs, signatures and sealed reasoning are carried byte for byte and never decoded.
//!
//! ```text
//! {"type":"text","text":"hi"}                                         Text
//! {"type":"tool_call","id":"a","name":"ls","arguments":"{}"}          ToolCall
//! {"type":"tool_result","call_id":"a","content":"ok"}                 ToolResult
//! {"type":"other","format":"anthropic","value":{…}}                   Other: carried as it came
//! ```
//!
//! Also tool calls with their arguments, and tool results with their content (MS-3, MS-4, MS-5). Arguments keep the
//! exact text and parse it on demand; nothing is repaired. `msg-chainast` checks whether a call has a result.

use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, OnceLock},
};

use msg_json::TextState;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::message::join_texts;
use crate::{Extra, Origin, RawJson, setters};

pub use opaque::{PairSide, Pairing};

mod opaque;

/// One part of a message (MS-3).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// Plain text; `""` is kept.
    Text(Text),
    /// The model's reasoning, with its signature or sealed payload.
    Reasoning(Reasoning),
    /// An image by URL or file id.
    Image(Image),
    /// Sound: a model's reply by id, or input in base64.
    Audio(Audio),
    /// A document.
    File(File),
    /// A tool call that the model makes.
    ToolCall(ToolCall),
    /// The result of a tool call.
    ToolResult(ToolResult),
    /// A model's refusal, in its words.
    Refusal(Text),
    /// Raw JSON of a known format that has no place in this model.
    Other(Other),
}

impl Part {
    /// A text part.
    pub fn text(text: impl Into<String>) -> Self {
        Part::Text(Text::new(text))
    }

    /// A refusal part.
    pub fn refusal(text: impl Into<String>) -> Self {
        Part::Refusal(Text::new(text))
    }

    /// The text, if this is a text part.
    pub fn as_text(&self) -> Option<&str> {
        if let Part::Text(it) = self { Some(&it.text) } else { None }
    }

    /// The text of a text part, or the JSON text of a JSON value; `None` for other parts.
    pub fn said(&self) -> Option<&str> {
        match self {
            Part::Text(it) => Some(&it.text),
            Part::Other(it) if it.format == Origin::Json => Some(it.value.text()),
            _ => None,
        }
    }

    /// The call, if this is a tool call.
    pub fn as_tool_call(&self) -> Option<&ToolCall> {
        if let Part::ToolCall(it) = self { Some(it) } else { None }
    }

    /// The result, if this is a tool result.
    pub fn as_tool_result(&self) -> Option<&ToolResult> {
        if let Part::ToolResult(it) = self { Some(it) } else { None }
    }

    /// The reasoning, if this is a reasoning part.
    pub fn as_reasoning(&self) -> Option<&Reasoning> {
        if let Part::Reasoning(it) = self { Some(it) } else { None }
    }

    /// Whether this is an image, audio or file part.
    pub fn is_media(&self) -> bool {
        matches!(self, Part::Image(_) | Part::Audio(_) | Part::File(_))
    }

    /// The native name of this kind of part: `text`, `tool_call` …
    pub fn kind(&self) -> &'static str {
        match self {
            Part::Text(_) => "text",
            Part::Reasoning(_) => "reasoning",
            Part::Image(_) => "image",
            Part::Audio(_) => "audio",
            Part::File(_) => "file",
            Part::ToolCall(_) => "tool_call",
            Part::ToolResult(_) => "tool_result",
            Part::Refusal(_) => "refusal",
            Part::Other(_) => "other",
        }
    }

    /// The kind in words for people: [`Part::kind`], or the type that the source names, such as `hologram`, if that is
    /// one word.
    pub fn kind_of_source(&self) -> Cow<'static, str> {
        let is_word = |it: &String| {
            let is_of_word =
                |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'.');
            (1..=40).contains(&it.len()) && it.bytes().all(is_of_word)
        };
        let kind = match self {
            Part::Other(it) if it.format != Origin::Json => {
                it.value.member_text("type").filter(is_word)
            }
            _ => None,
        };
        kind.map_or(Cow::Borrowed(self.kind()), Cow::Owned)
    }

    /// The members that the source had and this model does not know.
    pub fn extra(&self) -> &Extra {
        match self {
            Part::Text(it) | Part::Refusal(it) => &it.extra,
            Part::Reasoning(it) => &it.extra,
            Part::Image(it) => &it.extra,
            Part::Audio(it) => &it.extra,
            Part::File(it) => &it.extra,
            Part::ToolCall(it) => &it.extra,
            Part::ToolResult(it) => &it.extra,
            Part::Other(it) => &it.extra,
        }
    }

    /// Mutable access to [`Part::extra`].
    pub fn extra_mut(&mut self) -> &mut Extra {
        match self {
            Part::Text(it) | Part::Refusal(it) => &mut it.extra,
            Part::Reasoning(it) => &mut it.extra,
            Part::Image(it) => &mut it.extra,
            Part::Audio(it) => &mut it.extra,
            Part::File(it) => &mut it.extra,
            Part::ToolCall(it) => &mut it.extra,
            Part::ToolResult(it) => &mut it.extra,
            Part::Other(it) => &mut it.extra,
        }
    }
}

// Text and refusal parts (MS-3).

/// A run of text: a text part, or the words of a refusal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Text {
    /// The text, exact.
    pub text: String,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
}

impl Text {
    /// A text without extra members.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), extra: Extra::default() }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text::new(text)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text::new(text)
    }
}

// Reasoning parts (MS-3). Signatures and sealed payloads are carried byte for byte and never read.

/// A model's reasoning.
///
/// `redacted` is Anthropic's opaque block, `encrypted` is OpenAI's; a `signature` binds `text` to
/// the conversation before it. All of them are opaque: send them back unchanged, or leave them out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reasoning {
    /// The text, if the provider shows it.
    pub text: Option<String>,
    /// The provider's summaries; an empty list is kept.
    pub summary: Option<Vec<String>>,
    /// The provider's signature of `text`.
    pub signature: Option<String>,
    /// Reasoning that the provider gave only in sealed form.
    pub redacted: Option<String>,
    /// Reasoning that the provider encrypted.
    pub encrypted: Option<String>,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
}

impl Reasoning {
    /// Reasoning without a signature.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    setters! {
        /// With the provider's signature of the text.
        with_signature(signature: impl Into<String>) signature = Some(signature.into());
    }

    /// The text to show: the reasoning, else the summaries joined by a blank line (MS-3).
    ///
    /// ```
    /// use msg_core::Reasoning;
    ///
    /// let summary = Some(vec!["First.".to_owned(), "Then.".to_owned()]);
    /// let it = Reasoning { summary, ..Reasoning::default() };
    /// assert_eq!(it.display_text(), "First.\n\nThen.");
    /// ```
    pub fn display_text(&self) -> Cow<'_, str> {
        if let Some(text) = &self.text {
            return Cow::Borrowed(text);
        }
        match self.summary.as_deref() {
            None | Some([]) => Cow::Borrowed(""),
            Some([one]) => Cow::Borrowed(one),
            Some(more) => Cow::Owned(more.join("\n\n")),
        }
    }

    /// Whether a provider can verify it: it has a signature, or a redacted or encrypted payload,
    /// that is not empty.
    pub fn is_signed(&self) -> bool {
        [&self.signature, &self.redacted, &self.encrypted]
            .into_iter()
            .any(|it| it.as_deref().is_some_and(|it| !it.is_empty()))
    }
}

// Images, audio and files (MS-3). Payloads and URLs stay text as they came; nothing is decoded.

/// An image, either by `url` (also a `data:` URL) or by `file_id`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Image {
    /// Its address, or the `data:` URL that contains it, unchanged.
    pub url: Option<String>,
    /// The provider's id of an uploaded image.
    pub file_id: Option<String>,
    /// The MIME type, if the source states it beside the URL.
    pub media_type: Option<String>,
    /// How closely the model looks at it: `low`, `high`, `auto` …
    pub detail: Option<String>,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
}

impl Image {
    /// An image by URL.
    pub fn from_url(url: impl Into<String>) -> Self {
        Self { url: Some(url.into()), ..Self::default() }
    }

    /// An image by its bytes in base64, as a `data:` URL.
    ///
    /// ```
    /// use msg_core::Image;
    ///
    /// let it = Image::from_base64("image/png", "iVBORw0KGgo=").with_detail("low");
    /// assert_eq!(it.url.as_deref(), Some("data:image/png;base64,iVBORw0KGgo="));
    /// ```
    pub fn from_base64(media_type: &str, base64: &str) -> Self {
        Self::from_url(format!("data:{media_type};base64,{base64}"))
    }

    setters! {
        /// With how closely the model shall look.
        with_detail(detail: impl Into<String>) detail = Some(detail.into());
    }
}

/// Sound: a reply of a model by `id`, or input in base64.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Audio {
    /// The id of a model's spoken reply.
    pub id: Option<String>,
    /// Base64 of the sound.
    pub data: Option<String>,
    /// `wav`, `mp3` …
    pub format: Option<String>,
    /// The words that were spoken.
    pub transcript: Option<String>,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
}

impl Audio {
    /// Sound in base64, of a format such as `wav` or `mp3`.
    pub fn from_base64(format: impl Into<String>, base64: impl Into<String>) -> Self {
        Self { data: Some(base64.into()), format: Some(format.into()), ..Self::default() }
    }
}

/// A document, by id, by URL or inline.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct File {
    /// The provider's id of an uploaded file.
    pub file_id: Option<String>,
    /// Where it is.
    pub url: Option<String>,
    /// Base64 of its bytes, or a `data:` URL.
    pub data: Option<String>,
    /// Its name.
    pub filename: Option<String>,
    /// MIME type.
    pub media_type: Option<String>,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
}

impl File {
    /// A document by URL.
    pub fn from_url(url: impl Into<String>) -> Self {
        Self { url: Some(url.into()), ..Self::default() }
    }

    /// A document by the provider's id of an uploaded file.
    pub fn from_id(file_id: impl Into<String>) -> Self {
        Self { file_id: Some(file_id.into()), ..Self::default() }
    }

    /// A document by its bytes in base64.
    ///
    /// ```
    /// use msg_core::File;
    ///
    /// let it = File::from_base64("application/pdf", "JVBERi0=").with_filename("a.pdf");
    /// assert_eq!(it.filename.as_deref(), Some("a.pdf"));
    /// ```
    pub fn from_base64(media_type: impl Into<String>, base64: impl Into<String>) -> Self {
        Self { data: Some(base64.into()), media_type: Some(media_type.into()), ..Self::default() }
    }

    setters! {
        /// With its name.
        with_filename(filename: impl Into<String>) filename = Some(filename.into());
    }
}

// Parts that this model has no kind for (MS-3): raw JSON with the format it is of.

/// Raw JSON of one format, kept to be written again in that format.
#[derive(Debug, Clone, PartialEq)]
pub struct Other {
    /// The format whose JSON this is: `openai`, `responses`, `anthropic`, `json`, `native` …
    pub format: Origin,
    /// Its place in a message of that format.
    pub place: Option<Place>,
    /// The JSON itself.
    pub value: RawJson,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
}

impl Other {
    /// Raw JSON of a format, without a place.
    pub fn new(format: Origin, value: RawJson) -> Self {
        Self { format, place: None, value, extra: Extra::default() }
    }
}

/// The place of an [`Other`] in its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Among the content parts.
    Content,
    /// Among the tool calls.
    ToolCalls,
    /// An item of its own in a list of items.
    Item,
}

impl Place {
    /// The native name: `content`, `tool_calls`, `item`.
    pub fn as_str(self) -> &'static str {
        match self {
            Place::Content => "content",
            Place::ToolCalls => "tool_calls",
            Place::Item => "item",
        }
    }

    /// The place with this native name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Place::Content, Place::ToolCalls, Place::Item].into_iter().find(|it| it.as_str() == name)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

// A part from its content, so that a message takes either: `with_part(call)`, `with_part("text")`.

macro_rules! part_from {
    ($($kind:ident),*) => {
        $(impl From<$kind> for Part {
            fn from(it: $kind) -> Self {
                Part::$kind(it)
            }
        })*
    };
}

part_from!(Text, Reasoning, Image, Audio, File, ToolCall, ToolResult, Other);

impl From<String> for Part {
    fn from(text: String) -> Self {
        Part::text(text)
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Part::text(text)
    }
}

/// A tool call of a model.
///
/// ```
/// use msg_core::ToolCall;
/// use msg_json::TextState;
///
/// let call = ToolCall::new("call_1", "read", r#"{"path": "a"#);
/// assert_eq!(call.arguments.text(), r#"{"path": "a"#);
/// assert_eq!(call.arguments.state(), TextState::Incomplete);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolCall {
    /// The opaque id that the result names; `""` if the source gave none.
    pub id: String,
    /// Whether it is a function call or a call with free text.
    pub kind: CallKind,
    /// The tool's name.
    pub name: String,
    /// The arguments, exactly as the model produced them.
    pub arguments: Arguments,
    /// The provider's signature of the reasoning that led to this call.
    pub signature: Option<String>,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
}

impl ToolCall {
    /// A function call.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<Arguments>,
    ) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into(), ..Self::default() }
    }

    /// Whether the model goes on without the result (`async` of the Responses API, OA-14). The result may then
    /// come after later messages.
    ///
    /// ```
    /// use msg_core::{Origin, RawJson, ToolCall};
    ///
    /// let mut call = ToolCall::new("c1", "weather", "{}");
    /// assert!(!call.is_async());
    /// call.extra.insert(Origin::Responses, "item", RawJson::new(r#"{"async":true}"#)?);
    /// assert!(call.is_async());
    /// # Ok::<(), msg_json::JsonError>(())
    /// ```
    pub fn is_async(&self) -> bool {
        let item = self.extra.get(&Origin::Responses, "item");
        item.and_then(|it| it.member("async")).is_some_and(|it| it.text() == "true")
    }
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolResult {
    /// The id of the call that this answers; `""` if the source gave none.
    pub call_id: String,
    /// The kind of the call that this answers.
    pub kind: CallKind,
    /// The tool's name, if the source gives it.
    pub name: Option<String>,
    /// The output, never re-encoded: JSON output stays the same text (MS-5).
    pub content: Content,
    /// Whether the tool failed.
    pub is_error: bool,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
}

impl ToolResult {
    /// A result for the call with this id.
    pub fn new(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self { call_id: call_id.into(), content: content.into(), ..Self::default() }
    }

    setters! {
        /// With the name of the tool.
        with_name(name: impl Into<String>) name = Some(name.into());
        /// Marks it as the result of a failed tool.
        with_error() is_error = true;
    }
}

/// The kind of a tool call (MS-3).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CallKind {
    /// A function with JSON arguments.
    #[default]
    Function,
    /// A tool that takes free text.
    Custom,
    /// The source gave no kind; native `""`.
    Unspecified,
    /// Another kind, as the source spelled it.
    Other(Box<str>),
}

impl CallKind {
    /// The name of this kind: `function`, `custom`, `""` if unspecified.
    pub fn as_str(&self) -> &str {
        match self {
            CallKind::Function => "function",
            CallKind::Custom => "custom",
            CallKind::Unspecified => "",
            CallKind::Other(text) => text,
        }
    }
}

impl From<&str> for CallKind {
    fn from(word: &str) -> Self {
        match word {
            "function" => CallKind::Function,
            "custom" => CallKind::Custom,
            "" => CallKind::Unspecified,
            other => CallKind::Other(other.into()),
        }
    }
}

impl fmt::Display for CallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

// The arguments of a tool call: the exact text, and on demand the value (MS-4). Nothing is mended
// here.

/// The arguments of a tool call, byte for byte as the model produced them, valid JSON or not.
///
/// ```
/// use msg_core::Arguments;
/// use msg_json::TextState;
///
/// let it = Arguments::from(r#"{"city": "Oslo"}"#);
/// assert_eq!(it.state(), TextState::Object);
/// assert_eq!(it.value().expect("the text is JSON")["city"], "Oslo");
/// assert_eq!(Arguments::from("{city:1}").state(), TextState::Invalid);
/// ```
#[derive(Default)]
pub struct Arguments {
    text: String,
    parsed: OnceLock<Box<Result<Value, ArgumentsError>>>,
}

/// Why [`Arguments::value`] or [`Arguments::parse`] failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("arguments do not parse: {reason}")]
pub struct ArgumentsError {
    /// The message of the parser, with line and column.
    pub reason: String,
}

impl Arguments {
    /// The exact text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Consumes it and returns the text.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Classifies the text. One pass, no allocation; nesting beyond 512 levels counts as invalid
    /// (CA-55).
    pub fn state(&self) -> TextState {
        msg_json::classify(&self.text)
    }

    /// The parsed value; parsed once and cached. Numbers are those of serde_json; use
    /// [`Arguments::text`] if their spelling matters.
    ///
    /// # Errors
    /// The text is not JSON, nests deeper than 128 levels, or contains half of a surrogate pair.
    pub fn value(&self) -> Result<&Value, ArgumentsError> {
        let parsed = self.parsed.get_or_init(|| Box::new(self.parse()));
        parsed.as_ref().as_ref().map_err(Clone::clone)
    }

    /// Deserialises the text without caching the result.
    ///
    /// # Errors
    /// The error of serde_json for the text.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ArgumentsError> {
        serde_json::from_str(&self.text).map_err(|it| ArgumentsError { reason: it.to_string() })
    }
}

impl From<String> for Arguments {
    fn from(text: String) -> Self {
        Self { text, parsed: OnceLock::new() }
    }
}

impl From<&str> for Arguments {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

/// The text that `serde_json` writes of a value.
impl From<Value> for Arguments {
    fn from(value: Value) -> Self {
        Self::from(value.to_string())
    }
}

impl Clone for Arguments {
    /// Copies the text. The copy is parsed again on demand.
    fn clone(&self) -> Self {
        Self::from(self.text.clone())
    }
}

impl PartialEq for Arguments {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Arguments {}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arguments({:?})", self.text)
    }
}

// The content of a tool result: a list of parts that is a single text most of the time.

/// The output of a tool, as parts.
///
/// ```
/// use msg_core::Content;
///
/// let content = Content::from("42");
/// assert_eq!(content.as_text(), Some("42"));
/// assert_eq!(Content::default().as_text(), Some(""));
/// ```
#[derive(Clone)]
pub struct Content(Parts);

/// The owner of the parts.
#[derive(Clone)]
enum Parts {
    /// A list of its own.
    Own(Vec<Part>),
    /// A list that several contents share; copied on the first change.
    Shared(Arc<[Part]>),
}

impl Content {
    /// The text, if the content is empty or a single text part without extra members.
    pub fn as_text(&self) -> Option<&str> {
        match self.parts() {
            [] => Some(""),
            [Part::Text(one)] if one.extra.is_empty() => Some(&one.text),
            _ => None,
        }
    }

    /// The text parts, concatenated; borrowed if there is at most one.
    pub fn text(&self) -> Cow<'_, str> {
        join_texts(self.parts().iter().filter_map(Part::as_text))
    }

    /// The texts of the content, and the JSON text of each JSON value in it, concatenated.
    ///
    /// ```
    /// use msg_core::{Content, Origin, Other, Part, RawJson};
    ///
    /// let json = Part::Other(Other::new(Origin::Json, RawJson::new(r#"{"temp":20}"#)?));
    /// let content = Content::from(vec![Part::text("now: "), json]);
    /// assert_eq!((&*content.text(), &*content.said()), ("now: ", r#"now: {"temp":20}"#));
    /// # Ok::<(), msg_json::JsonError>(())
    /// ```
    pub fn said(&self) -> Cow<'_, str> {
        join_texts(self.parts().iter().filter_map(Part::said))
    }

    /// The parts, in order.
    pub fn parts(&self) -> &[Part] {
        match &self.0 {
            Parts::Own(it) => it,
            Parts::Shared(it) => it,
        }
    }

    /// Mutable access to the parts.
    pub fn parts_mut(&mut self) -> &mut Vec<Part> {
        if let Parts::Shared(it) = &self.0 {
            self.0 = Parts::Own(it.to_vec());
        }
        match &mut self.0 {
            Parts::Own(it) => it,
            Parts::Shared(_) => unreachable!("because a copy was just made"),
        }
    }

    /// Consumes it and returns the parts.
    pub fn into_parts(self) -> Vec<Part> {
        match self.0 {
            Parts::Own(it) => it,
            Parts::Shared(it) => it.to_vec(),
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Content").field(&self.parts()).finish()
    }
}

impl PartialEq for Content {
    /// No parts and one empty text are equal: the formats cannot distinguish them.
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts() || (self.as_text() == Some("") && other.as_text() == Some(""))
    }
}

impl From<Vec<Part>> for Content {
    fn from(parts: Vec<Part>) -> Self {
        Self(Parts::Own(parts))
    }
}

/// One content for many results, such as the placeholder for missing results. The parts are shared,
/// and copied on the first change.
///
/// ```
/// use msg_core::{Content, Part};
/// use std::sync::Arc;
///
/// let lost: Arc<[Part]> = Arc::new([Part::text("no answer")]);
/// let mut one = Content::from(Arc::clone(&lost));
/// one.parts_mut().clear();
/// assert_eq!(Content::from(lost).as_text(), Some("no answer"));
/// ```
impl From<Arc<[Part]>> for Content {
    fn from(parts: Arc<[Part]>) -> Self {
        Self(Parts::Shared(parts))
    }
}

impl FromIterator<Part> for Content {
    fn from_iter<I: IntoIterator<Item = Part>>(parts: I) -> Self {
        Self::from(parts.into_iter().collect::<Vec<_>>())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::from(vec![Part::text(text)])
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}
