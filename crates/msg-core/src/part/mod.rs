//! The parts of a message (MS-3): one struct a kind, one enum over them. What a provider accepts is
//! no concern of this module.
//!
//! ```text
//! {"type":"text","text":"hi"}                                         Text
//! {"type":"tool_call","id":"a","name":"ls","arguments":"{}"}          ToolCall
//! {"type":"tool_result","call_id":"a","content":"ok"}                 ToolResult
//! {"type":"other","format":"anthropic","value":{…}}                   Other: carried as it came
//! ```

mod from;
mod media;
mod other;
mod pairing;
mod pixels;
mod reasoning;
mod text;
mod tool;

pub use media::{Audio, File, Image};
pub use other::{Other, Place};
pub use pairing::{PairSide, Pairing};
pub use reasoning::Reasoning;
pub use text::Text;
pub use tool::{CallKind, ToolCall, ToolResult};

use crate::Extra;

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
