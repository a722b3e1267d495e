//! Tool calls with their arguments, and tool results with their content (MS-3, MS-4, MS-5). Arguments keep the exact
//! text and parse it on demand; nothing is mended. Whether a call has a result is checked in `msg-chainast`.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use msg_json::TextState;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Extra, Part, message::join_texts};

/// A call that a model wants made.
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
    /// Opaque id that the result names; `""` if the source gave none.
    pub id: String,
    /// Function call or free text.
    pub kind: CallKind,
    /// The tool's name.
    pub name: String,
    /// The exact text that the model produced.
    pub arguments: Arguments,
    /// The provider's signature of the thought that led to this call.
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
}

/// What a call gave back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolResult {
    /// The id of the call that this answers; `""` if the source gave none.
    pub call_id: String,
    /// The kind of the call that this answers.
    pub kind: CallKind,
    /// The tool's name, where the source gives it.
    pub name: Option<String>,
    /// What came back, never re-encoded: a JSON output stays the text that it was (MS-5).
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
    /// The word for this kind: `function`, `custom`, `""` for an unspecified one.
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

/// The argument text of a tool call, byte for byte as the model produced it, valid JSON or not.
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

/// Why [`Arguments::value`] or [`Arguments::parse`] gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("arguments do not parse: {reason}")]
pub struct ArgumentsError {
    /// What the parser said, with line and column.
    pub reason: String,
}

impl Arguments {
    /// The exact text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Gives the text away.
    pub fn into_text(self) -> String {
        self.text
    }

    /// What the text is. One pass over it, no allocation; nesting over 512 counts as invalid
    /// (CA-55).
    pub fn state(&self) -> TextState {
        msg_json::classify(&self.text)
    }

    /// The parsed value; parsed once and kept. Numbers become what serde_json makes of them, so
    /// take [`Arguments::text`] where their spelling counts.
    ///
    /// # Errors
    /// The text is not JSON, nests deeper than 128, or holds half of a surrogate pair.
    pub fn value(&self) -> Result<&Value, ArgumentsError> {
        let parsed = self.parsed.get_or_init(|| Box::new(self.parse()));
        parsed.as_ref().as_ref().map_err(Clone::clone)
    }

    /// Reads the text into a type, without keeping anything.
    ///
    /// # Errors
    /// What serde_json says of the text.
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

impl Clone for Arguments {
    /// Copies the text; the copy parses anew when asked.
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

/// What a tool gave back, as parts.
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

/// Who holds the parts.
#[derive(Clone)]
enum Parts {
    /// This content alone.
    Own(Vec<Part>),
    /// Every content that was made of the same list; whoever changes it makes a copy first.
    Shared(Arc<[Part]>),
}

impl Content {
    /// The text, if the content is one plain text part (one without extra members) or nothing.
    pub fn as_text(&self) -> Option<&str> {
        match self.parts() {
            [] => Some(""),
            [Part::Text(one)] if one.extra.is_empty() => Some(&one.text),
            _ => None,
        }
    }

    /// The text parts joined with nothing between them; borrowed when there is at most one.
    pub fn text(&self) -> Cow<'_, str> {
        join_texts(self.parts().iter().filter_map(Part::as_text))
    }

    /// What the content says: its texts, and the JSON text of each JSON value in it, joined with nothing between them.
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

    /// The parts, to change.
    pub fn parts_mut(&mut self) -> &mut Vec<Part> {
        if let Parts::Shared(it) = &self.0 {
            self.0 = Parts::Own(it.to_vec());
        }
        match &mut self.0 {
            Parts::Own(it) => it,
            Parts::Shared(_) => unreachable!("because a copy was just made"),
        }
    }

    /// Gives the parts away.
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
    /// Nothing and one empty text are the same content: the formats cannot tell them apart.
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts() || (self.as_text() == Some("") && other.as_text() == Some(""))
    }
}

impl From<Vec<Part>> for Content {
    fn from(parts: Vec<Part>) -> Self {
        Self(Parts::Own(parts))
    }
}

/// One content for many results, such as the placeholder for results that never came: the parts are
/// shared, and copied by whoever changes them.
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
