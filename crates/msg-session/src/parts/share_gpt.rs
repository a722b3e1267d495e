//! The turns of ShareGPT (SG-1, SG-2), for data sets and for conversations alone. There are no ids: calls are counted,
//! and results answer them in their order.

use std::collections::VecDeque;

use msg_core::{Message, Origin, Part, Role, ToolCall, ToolResult};

use crate::json::Value;

/// Reads the turns of one conversation, first to last.
///
/// ```
/// use msg_session::ShareGptTurns;
///
/// let mut turns = ShareGptTurns::default();
/// let call = turns.read("function_call", r#"{"name":"weather","arguments":{}}"#);
/// let result = turns.read("observation", "sunny");
/// assert_eq!(result.tool_results().next().map(|it| &it.call_id), call.tool_calls().next().map(|it| &it.id));
/// ```
#[derive(Debug, Clone, Default)]
pub struct ShareGptTurns {
    calls: usize,
    /// The ids of calls whose results may come.
    open: VecDeque<String>,
}

impl ShareGptTurns {
    /// The message that a turn is. A call that cannot be read is a text.
    pub fn read(&mut self, from: &str, value: &str) -> Message {
        let role = role(from);
        if is_call(from)
            && let Some(parts) = self.calls(value).filter(|it| !it.is_empty())
        {
            return Message { parts, ..Message::new(role) };
        }
        match role {
            Role::Tool => {
                let id = self.open.pop_front().unwrap_or_default();
                Message::new(role).with_part(Part::ToolResult(ToolResult::new(id, value)))
            }
            role => Message::new(role).with_text(value),
        }
    }

    /// The calls in the value of a turn, which is one object, or a list of them.
    fn calls(&mut self, value: &str) -> Option<Vec<Part>> {
        let value = Value::whole(value, 0)?;
        let list = value.array().unwrap_or_else(|| vec![value]);
        let mut calls: Vec<_> = list.into_iter().map(call).collect::<Option<_>>()?;
        for it in &mut calls {
            self.calls += 1;
            it.id = format!("call_{}", self.calls);
            self.open.push_back(it.id.clone());
        }
        Some(calls.into_iter().map(Part::ToolCall).collect())
    }
}

/// Whether the turn holds calls.
pub(crate) fn is_call(from: &str) -> bool {
    matches!(from, "function_call" | "tool_call")
}

/// Whose turn it is; every word that nobody knows is a role of its own.
pub(crate) fn role(from: &str) -> Role {
    match from {
        "system" => Role::System,
        "human" | "user" => Role::User,
        "observation" | "tool" | "function_response" | "tool_response" => Role::Tool,
        "gpt" | "assistant" | "chatgpt" | "model" | "bard" | "bing" => Role::Assistant,
        other if is_call(other) => Role::Assistant,
        other => Role::Other(other.into()),
    }
}

/// A call without its id; what else it says stays with it.
fn call(value: Value<'_>) -> Option<ToolCall> {
    let object = value.object()?;
    let arguments = object.get("arguments").map(|it| it.plain()).unwrap_or_default();
    let mut res = ToolCall::new("", object.text("name")?, arguments);
    for (name, value) in object.iter().filter(|it| !matches!(it.0, "name" | "arguments")) {
        res.extra.insert(Origin::from("sharegpt"), name, value.raw_json());
    }
    Some(res)
}
