//! What an application stores of a conversation: turns with identified parts, times and the state
//! of every tool (MS-19).
//!
//! A turn is richer than a message; [`lower`](crate::turns::lower) makes messages of it,
//! [`from_messages`] makes turns of messages. Nothing here runs a tool, reads a clock or draws an id.
//!
//! ```text
//! {"id":"m2","role":"assistant","parts":[{"id":"t","type":"text","text":"hi"}],"timestamp":1704067202.0,"finished":true}
//! ```

mod from_messages;
mod lifecycle;
mod read;

use std::fmt;

use msg_core::reading::deserialize;
use msg_core::{Extra, Members, RawJson};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use crate::turn::lifecycle::TurnBuilder;
pub use crate::turn::read::write;
pub use from_messages::{from_messages, write_messages};
pub use lifecycle::{ToolStatus, TurnError};
pub use read::{read, read_document};

/// One entry of a stored conversation (MS-19).
///
/// ```
/// use msg_forms::{Turn, TurnPart, TurnRole, turns};
/// let mut turn = Turn::new("msg_1", TurnRole::User);
/// turn.parts.push(TurnPart::text("text_1", "Hello"));
/// let mut json = Vec::new();
/// turns::write(&[turn.clone()], &mut json);
/// assert_eq!(turns::read(&json)?.0, [turn]);
/// # Ok::<(), msg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Turn {
    /// Unique id; `""` if the source had none.
    pub id: String,
    /// Whose turn it is.
    pub role: TurnRole,
    /// What it consists of, in order.
    pub parts: Vec<TurnPart>,
    /// When it was created, in seconds since 1970, as the caller's clock said.
    pub timestamp: f64,
    /// Whether it is complete.
    pub finished: bool,
    /// Why it ended: `stop`, `length`, `tool_calls` …; `""` if unknown.
    pub finish_reason: String,
    /// What the model thought.
    pub reasoning_content: String,
    /// The application's own members.
    pub metadata: Members,
    /// Members that the source had and this type does not know.
    pub extra: Extra,
}

impl Turn {
    /// A turn without parts.
    pub fn new(id: impl Into<String>, role: impl Into<TurnRole>) -> Self {
        Self { id: id.into(), role: role.into(), ..Self::default() }
    }

    /// The non-empty text parts joined with `separator`, as [`lower`](crate::turns::lower) sends them.
    pub fn text(&self, separator: &str) -> String {
        let mut res = String::new();
        for text in self.texts().filter(|it| !it.is_empty()) {
            if !res.is_empty() {
                res.push_str(separator);
            }
            res.push_str(text);
        }
        res
    }

    /// The texts of the text parts, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|it| match it {
            TurnPart::Text(it) => Some(it.text.as_str()),
            _ => None,
        })
    }

    /// The tool parts, in order.
    pub fn tools(&self) -> impl Iterator<Item = &ToolPart> {
        self.parts.iter().filter_map(|it| match it {
            TurnPart::Tool(it) => Some(it),
            _ => None,
        })
    }

    /// The tool parts, in order, to take their steps (MS-21).
    pub fn tools_mut(&mut self) -> impl Iterator<Item = &mut ToolPart> {
        self.parts.iter_mut().filter_map(|it| match it {
            TurnPart::Tool(it) => Some(it),
            _ => None,
        })
    }
}

/// Whose turn it is (MS-19). The match is exact: case counts, and no other spelling is taken.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TurnRole {
    /// Instructions to the model.
    System,
    /// The person.
    #[default]
    User,
    /// The model.
    Assistant,
    /// Any other text, kept; such turns are not sent (OA-6).
    Other(Box<str>),
}

impl TurnRole {
    /// The text in JSON.
    pub fn as_str(&self) -> &str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Other(it) => it,
        }
    }
}

impl From<&str> for TurnRole {
    fn from(text: &str) -> Self {
        match text {
            "system" => Self::System,
            "user" => Self::User,
            "assistant" => Self::Assistant,
            _ => Self::Other(text.into()),
        }
    }
}

impl fmt::Display for TurnRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One part of a turn (MS-19).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TurnPart {
    /// Text of the person or the model.
    Text(TextPart),
    /// A tool call and its run.
    Tool(ToolPart),
    /// A part of another type, verbatim: a JSON object. User turns hold native image, audio and
    /// file parts here.
    Other(RawJson),
}

impl TurnPart {
    /// A text part.
    pub fn text(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Text(TextPart { id: id.into(), text: text.into(), extra: Extra::default() })
    }
}

/// Text of a turn (MS-19).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextPart {
    /// Id of the part; `""` if the source had none.
    pub id: String,
    /// The text.
    pub text: String,
    /// Members that the source had and this type does not know.
    pub extra: Extra,
}

/// A tool call of a turn and its run (MS-19). The lifecycle methods are the only legal way from
/// one [`ToolStatus`] to the next (MS-21).
#[derive(Debug, Clone, PartialEq)]
pub struct ToolPart {
    /// Id of the call; `""` if the source had none.
    pub id: String,
    /// Name of the tool.
    pub tool: String,
    /// The arguments as a JSON value, exact in numbers and order of members.
    pub input: RawJson,
    /// What the tool gave back so far.
    pub output: String,
    /// Where the run is.
    pub status: ToolStatus,
    /// When it began to run, in seconds since 1970; 0 if it did not.
    pub start_time: f64,
    /// When it ended; 0 if it did not.
    pub end_time: f64,
    /// The application's own members.
    pub metadata: Members,
    /// The model's exact argument text, where it is not what lowering would make of `input`: other
    /// spacing, invalid JSON. It wins over `input` (OA-9).
    pub input_text: Option<String>,
    /// The number of this call in the stream that is still producing it. Not part of the JSON.
    pub stream_index: Option<u32>,
    /// Members that the source had and this type does not know.
    pub extra: Extra,
}

impl Default for ToolPart {
    fn default() -> Self {
        Self {
            id: String::new(),
            tool: String::new(),
            input: empty_object(),
            output: String::new(),
            status: ToolStatus::Pending,
            start_time: 0.0,
            end_time: 0.0,
            metadata: Members::default(),
            input_text: None,
            stream_index: None,
            extra: Extra::default(),
        }
    }
}

impl ToolPart {
    /// A pending call without arguments.
    pub fn new(id: impl Into<String>, tool: impl Into<String>) -> Self {
        Self { id: id.into(), tool: tool.into(), ..Self::default() }
    }

    /// Sets the arguments from the model's exact text: `input` is its value, or `{}` where it is not
    /// JSON, and `input_text` is set where lowering would spell `input` differently (MS-19).
    ///
    /// ```
    /// use msg_forms::ToolPart;
    /// let mut tool = ToolPart::new("call_1", "read");
    /// tool.set_arguments(r#"{"path": "a"}"#);
    /// assert_eq!((tool.input.text(), &tool.input_text), (r#"{"path": "a"}"#, &None));
    /// tool.set_arguments(r#"{"path":"#);
    /// assert_eq!((tool.input.text(), tool.input_text.as_deref()), ("{}", Some(r#"{"path":"#)));
    /// ```
    pub fn set_arguments(&mut self, text: impl Into<String>) {
        let text = text.into();
        // A stored `input` of null means that there is none.
        let input = RawJson::new(text.as_str()).ok().filter(|it| it.text() != "null");
        self.input = input.unwrap_or_else(empty_object);
        self.input_text = Some(text).filter(|it| *it != spaced(&self.input));
    }

    /// The argument text that goes to a model (OA-9): `input_text`, else `input` in the spacing
    /// `", "` and `": "`.
    pub fn arguments(&self) -> String {
        match &self.input_text {
            Some(it) => it.clone(),
            None => spaced(&self.input),
        }
    }
}

/// The JSON with `", "` and `": "` between its tokens, the reference's spelling (OA-9).
pub(crate) fn spaced(json: &RawJson) -> String {
    let mut out = Vec::new();
    msg_json::write_spaced(&mut out, json.text());
    String::from_utf8(out).expect("tokens of UTF-8 text are UTF-8")
}

pub(crate) fn empty_object() -> RawJson {
    RawJson::new("{}").expect("because it is JSON")
}

// `Serialize` and `Deserialize` of turns: the stored form (MS-19), for `serde_json`.

impl Serialize for Turn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawJson::written(|it| it.value(|out| read::write_turn(self, out))).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Turn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer, read::read_turn)
    }
}

impl Serialize for ToolStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ToolStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|it| Self::from(it.as_str()))
    }
}
