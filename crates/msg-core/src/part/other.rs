//! Parts that this model has no kind for (MS-3): raw JSON with the format it is of.

use std::fmt;

use crate::{Extra, Origin, RawJson};

/// Raw JSON of a format, kept to go out again where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Other {
    /// The format whose JSON this is: `openai`, `responses`, `anthropic`, `json`, `native` …
    pub format: Origin,
    /// Where in a message of that format it stood.
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

/// Where an [`Other`] stood in its source.
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
