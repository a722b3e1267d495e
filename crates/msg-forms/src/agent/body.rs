//! The content of an agent message as it was read, before its role says what it means (MS-13).

use msg_core::reading::Source;
use msg_core::{Origin, Other, Part, RawJson, Report, ToolCall, ToolResult};
use msg_json::Reader;

/// The content of an agent message, whichever way it was spelled.
pub(super) enum Body {
    Text(String),
    ToolCalls(Vec<ToolCall>),
    ToolResult(ToolResult),
    MultiPart(Vec<Part>),
    Json(RawJson),
}

impl Body {
    /// The parts of a message that is no tool message.
    pub(super) fn into_parts(self) -> Vec<Part> {
        match self {
            Self::Text(it) => vec![Part::text(it)],
            Self::ToolCalls(it) => it.into_iter().map(Part::ToolCall).collect(),
            Self::ToolResult(it) => vec![Part::ToolResult(it)],
            Self::MultiPart(it) => it,
            Self::Json(it) => match calls_in(&it) {
                Some(calls) => calls.into_iter().map(Part::ToolCall).collect(),
                None => vec![Part::Other(Other::new(Origin::Json, it))],
            },
        }
    }

    /// The one result of a tool message.
    pub(super) fn into_result(self) -> ToolResult {
        match self {
            Self::Text(it) => ToolResult::new("", it),
            Self::ToolResult(it) => it,
            Self::Json(it) => ToolResult::new("", it.text()),
            other => ToolResult::new("", other.into_parts()),
        }
    }
}

/// The calls of a value that is exactly `{"tool_calls":[…]}`, each with a name (MS-12).
fn calls_in(value: &RawJson) -> Option<Vec<ToolCall>> {
    let mut reader = Reader::from_text(value.text());
    reader.begin_object().ok()?;
    if reader.next_key().ok()??.text != "tool_calls" {
        return None;
    }
    let mut report = Report::with_cap(0);
    let mut source = Source::new(reader, &mut report);
    let calls = super::read::read_calls(&mut source).ok()?;
    let is_all = source.next_key().ok()?.is_none();
    (is_all && !calls.is_empty()).then_some(calls)
}
