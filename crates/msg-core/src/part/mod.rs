//! The parts of a message (MS-3): one struct per kind, one enum over them. They do not know what a provider accepts;
//! payloads, URLs, signatures and sealed reasoning are carried byte for byte and never decoded.
//!
//! ```text
//! {"type":"text","text":"hi"}                                         Text
//! {"type":"tool_call","id":"a","name":"ls","arguments":"{}"}          ToolCall
//! {"type":"tool_result","call_id":"a","content":"ok"}                 ToolResult
//! {"type":"other","format":"anthropic","value":{…}}                   Other: carried as it came
//! ```

mod opaque;
mod tool;

use std::{borrow::Cow, fmt};

use crate::{Extra, Origin, RawJson};

pub use opaque::{PairSide, Pairing};
pub use tool::{Arguments, ArgumentsError, CallKind, Content, ToolCall, ToolResult};

/// One part of a message (MS-3).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// Plain text; `""` is kept.
    Text(Text),
    /// What a model thought, with its signature or sealed payload.
    Reasoning(Reasoning),
    /// An image by URL or file id.
    Image(Image),
    /// Sound: a model's reply by id, or base64 input.
    Audio(Audio),
    /// A document.
    File(File),
    /// A call that the model wants made.
    ToolCall(ToolCall),
    /// What a call gave back.
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

    /// The text, or the JSON text of a JSON value, if this is one of them.
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

    /// As [`Part::extra`], to change.
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

// Reasoning parts (MS-3). Signatures and sealed payloads are carried byte for byte and never read.

/// What a model thought.
///
/// `redacted` is Anthropic's opaque block, `encrypted` OpenAI's; a `signature` binds `text` to the
/// conversation before it. All of them are opaque and must go back unchanged or not at all.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reasoning {
    /// The thought, where the provider shows it.
    pub text: Option<String>,
    /// The provider's summaries of the thought; an empty list is kept as such.
    pub summary: Option<Vec<String>>,
    /// The provider's signature of `text`.
    pub signature: Option<String>,
    /// A thought that the provider gave only in sealed form.
    pub redacted: Option<String>,
    /// The thought in the provider's encryption.
    pub encrypted: Option<String>,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
}

impl Reasoning {
    /// An unsigned thought.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// What can be shown: the text, else the summaries joined with a blank line (MS-3).
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

    /// Whether a provider can verify it: it has a signature, a redacted or an encrypted payload,
    /// not empty.
    pub fn is_signed(&self) -> bool {
        [&self.signature, &self.redacted, &self.encrypted]
            .into_iter()
            .any(|it| it.as_deref().is_some_and(|it| !it.is_empty()))
    }
}

// Images, audio and files (MS-3). Payloads and URLs stay text as they came; nothing is decoded.

/// An image, by `url` (a `data:` URL included) or by `file_id`; one of the two is set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Image {
    /// Where it is, or the `data:` URL that holds it, untouched.
    pub url: Option<String>,
    /// The provider's id of an uploaded image.
    pub file_id: Option<String>,
    /// MIME type, where the source says it beside the URL.
    pub media_type: Option<String>,
    /// How closely the model shall look: `low`, `high`, `auto` …
    pub detail: Option<String>,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
}

impl Image {
    /// An image by URL.
    pub fn from_url(url: impl Into<String>) -> Self {
        Self { url: Some(url.into()), ..Self::default() }
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
    /// What was said.
    pub transcript: Option<String>,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
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

// Parts that this model has no kind for (MS-3): raw JSON with the format it is of.

/// Raw JSON of a format, kept to go out again where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Other {
    /// The format whose JSON this is: `openai`, `responses`, `anthropic`, `json`, `native` …
    pub format: Origin,
    /// Where it was in a message of that format.
    pub place: Option<Place>,
    /// The JSON itself.
    pub value: RawJson,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
}

impl Other {
    /// Raw JSON of a format, at no particular place.
    pub fn new(format: Origin, value: RawJson) -> Self {
        Self { format, place: None, value, extra: Extra::default() }
    }
}

/// Where an [`Other`] was in its source.
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

    /// The place that has this native name.
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
