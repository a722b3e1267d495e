//! A part from what it holds, so that a message takes either: `with_part(call)`, `with_part("text")`.

use super::{Audio, File, Image, Other, Part, Reasoning, Text, ToolCall, ToolResult};

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
