//! Responses items, as far as the rules of a Codex session need them (SE-52, SE-53).

use std::borrow::Cow;

use crate::context;
use crate::excerpt::Mark;
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
    /// What the user says is nothing but context that Codex put there.
    Context,
    /// The summary of a compaction, which is sent as the user's.
    Summary,
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
        let kind = kind(&object);
        let place = block.map_or(place, |it| place.with_block(it));
        Some(Self { record, block, place, value, kind, object })
    }

    /// The summary of the compaction `payload`, in the record `record`.
    pub(super) fn summary(record: usize, place: Place, payload: &Object<'a>) -> Option<Self> {
        let value = payload.get("message")?;
        let object = payload.clone();
        Some(Self { record, block: None, place, value, object, kind: Kind::Summary })
    }

    /// The id that joins call and output, not empty.
    pub(super) fn call_id(&self) -> Option<(Value<'a>, Cow<'a, str>)> {
        let id = self.object.get("call_id")?;
        id.text().filter(|it| !it.is_empty()).map(|it| (id, it))
    }

    /// Whether Codex sends it at all.
    pub(super) fn is_sent(&self) -> bool {
        self.object.text("type").is_none_or(|it| it != "ghost_snapshot")
    }

    /// Whether a turn of the user begins with it.
    pub(super) fn is_a_turn(&self) -> bool {
        matches!(self.kind, Kind::UserMessage | Kind::Summary)
    }

    /// Whether it holds what only the account that got it can decrypt.
    pub(super) fn is_encrypted(&self) -> bool {
        matches!(self.kind, Kind::Reasoning | Kind::Compaction)
            && self.object.text("encrypted_content").is_some_and(|it| !it.is_empty())
    }
}

/// Whether all texts of a message are context.
fn is_context(message: &Object<'_>) -> bool {
    let is_context = |it: Value<'_>| match Mark::read(it.source) {
        Some(mark) => mark.is_context,
        None => it.text().is_some_and(|it| context::is_context(&it)),
    };
    let texts = message.list("content");
    !texts.is_empty() && texts.into_iter().all(|it| it.get("text").is_some_and(is_context))
}

fn kind(item: &Object<'_>) -> Kind {
    let Some(kind) = item.text("type") else { return Kind::Other };
    match &*kind {
        "message" => match item.text("role").as_deref() {
            Some("user") if is_context(item) => Kind::Context,
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
