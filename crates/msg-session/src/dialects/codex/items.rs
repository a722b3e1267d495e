//! Responses items, as far as the rules of a Codex session need them (SE-52, SE-53).

use std::borrow::Cow;

use crate::finding::Place;
use crate::json::{Object, Value};

/// An item of the active path.
pub(super) struct Item<'a> {
    pub(super) record: usize,
    /// Index in the replacement history that it stands in.
    pub(super) block: Option<usize>,
    pub(super) place: Place,
    pub(super) value: Value<'a>,
    pub(super) object: Object<'a>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    UserMessage,
    AssistantMessage,
    Message,
    Call(Family),
    /// A call that the server answers itself.
    ServerCall,
    Output(Family),
    Reasoning,
    Compaction,
    Other,
}

/// Which outputs answer which calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Family {
    Function,
    Custom,
    ToolSearch,
}

impl Family {
    /// The type of the output.
    pub(super) fn output(self) -> &'static str {
        match self {
            Family::Function => "function_call_output",
            Family::Custom => "custom_tool_call_output",
            Family::ToolSearch => "tool_search_output",
        }
    }
}

impl<'a> Item<'a> {
    pub(super) fn new(
        (record, block): (usize, Option<usize>),
        place: Place,
        value: Value<'a>,
    ) -> Option<Self> {
        let object = value.object()?;
        let place = block.map_or(place, |it| place.with_block(it));
        Some(Self { record, block, place, value, kind: kind(&object), object })
    }

    /// The id that joins call and output, not empty.
    pub(super) fn call_id(&self) -> Option<(Value<'a>, Cow<'a, str>)> {
        let id = self.object.get("call_id")?;
        id.text().filter(|it| !it.is_empty()).map(|it| (id, it))
    }

    /// Whether it holds what only the account that got it can decrypt.
    pub(super) fn is_encrypted(&self) -> bool {
        matches!(self.kind, Kind::Reasoning | Kind::Compaction)
            && self.object.text("encrypted_content").is_some_and(|it| !it.is_empty())
    }
}

fn kind(item: &Object<'_>) -> Kind {
    let Some(kind) = item.text("type") else { return Kind::Other };
    match &*kind {
        "message" => match item.text("role").as_deref() {
            Some("user") => Kind::UserMessage,
            Some("assistant") => Kind::AssistantMessage,
            _ => Kind::Message,
        },
        "function_call" | "local_shell_call" => Kind::Call(Family::Function),
        "custom_tool_call" => Kind::Call(Family::Custom),
        "tool_search_call" if item.text("execution").is_some_and(|it| it == "server") => {
            Kind::ServerCall
        }
        "tool_search_call" => Kind::Call(Family::ToolSearch),
        "function_call_output" => Kind::Output(Family::Function),
        "custom_tool_call_output" => Kind::Output(Family::Custom),
        "tool_search_output" if item.text("execution").is_some_and(|it| it == "server") => {
            Kind::Other
        }
        "tool_search_output" => Kind::Output(Family::ToolSearch),
        "reasoning" => Kind::Reasoning,
        "compaction" | "context_compaction" => Kind::Compaction,
        other if other.ends_with("_call") => Kind::ServerCall,
        _ => Kind::Other,
    }
}
