//! Reading the types of the agent form with serde: the spellings of MS-12 that a derived reader does not
//! know.
//!
//! The types have no place for unknown members (MS-11), so that a document that has some is refused
//! here, by the name of the first: nothing is lost in silence. [`read`](super::read) and
//! [`AgentStateSnapshot`](super::AgentStateSnapshot) keep them. The order of arguments is what
//! `serde_json::Value` makes of it.

use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Error, Map, Value};

use super::{
    AgentMessage, ContentPart, MessageContent, MessageRole, ToolInvocation, ToolResultContent,
};

impl<'de> Deserialize<'de> for MessageRole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        Self::from_word(&word).ok_or_else(|| D::Error::custom(format!("unknown role {word:?}")))
    }
}

impl<'de> Deserialize<'de> for AgentMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Of a member that is there twice the last value wins (MS-8).
        let value = Value::deserialize(deserializer)?;
        let stored = Stored::deserialize(value).and_then(Stored::into_message);
        stored.map_err(|it| {
            D::Error::custom(format!(
                "{it} (`agent::read` and `AgentStateSnapshot` keep members that the agent types have \
                 no place for)"
            ))
        })
    }
}

/// A message as it is stored.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    role: MessageRole,
    content: MessageContent,
    name: Option<String>,
    tool_call_id: Option<String>,
    metadata: Option<Map<String, Value>>,
}

impl Stored {
    /// The message, with the id of its metadata and what it says as a result, if it is a tool's (MS-13).
    fn into_message<E: serde::de::Error>(self) -> Result<AgentMessage, E> {
        let Self { role, content, name, mut tool_call_id, metadata } = self;
        let mut metadata = metadata.unwrap_or_default();
        if tool_call_id.is_none() && metadata.get("tool_call_id").is_some_and(Value::is_string) {
            let id = metadata.remove("tool_call_id");
            tool_call_id = id.and_then(|it| it.as_str().map(str::to_owned));
        }
        if let Some(name) = metadata.keys().next() {
            return Err(E::custom(format!("unknown member `metadata.{name}`")));
        }
        let content = match content {
            MessageContent::Text(content) if role == MessageRole::Tool => {
                MessageContent::ToolResult(ToolResultContent { content })
            }
            content => content,
        };
        Ok(AgentMessage { role, content, name, tool_call_id })
    }
}

impl<'de> Deserialize<'de> for MessageContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        content(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A content that is an object of one member.
#[derive(Deserialize)]
enum Tagged {
    Text(String),
    ToolCalls(Vec<ToolInvocation>),
    ToolResult(ToolResultContent),
    MultiPart(Vec<ContentPart>),
    Json(Value),
}

fn content(mut value: Value) -> Result<MessageContent, Error> {
    if let Value::String(text) = value {
        return Ok(MessageContent::Text(text));
    }
    // The released SDK says `{"type":"Text","value":…}` for `{"Text":…}`.
    if let Some(members) = value.as_object_mut().filter(|it| it.len() == 2)
        && let Some(kind @ ("Text" | "Json")) = members.get("type").and_then(Value::as_str)
        && let (kind, Some(it)) = (kind.to_owned(), members.remove("value"))
    {
        *members = Map::from_iter([(kind, it)]);
    }
    Ok(match Tagged::deserialize(value)? {
        Tagged::Text(it) => MessageContent::Text(it),
        Tagged::ToolCalls(it) => MessageContent::ToolCalls(it),
        Tagged::ToolResult(it) => MessageContent::ToolResult(it),
        Tagged::MultiPart(it) => MessageContent::MultiPart(it),
        Tagged::Json(it) => match calls_in(&it) {
            Some(calls) => MessageContent::ToolCalls(Vec::deserialize(calls)?),
            None => MessageContent::MultiPart(vec![ContentPart::Json(it)]),
        },
    })
}

/// The calls of a value that is exactly `{"tool_calls":[…]}`, each with a name (MS-12).
fn calls_in(value: &Value) -> Option<&Value> {
    let members = value.as_object().filter(|it| it.len() == 1)?;
    let calls = members.get("tool_calls")?;
    let name = |it: &Value| it.get("name").or(it.get("tool_name")).is_some_and(Value::is_string);
    let all_named = calls.as_array().is_some_and(|it| !it.is_empty() && it.iter().all(name));
    all_named.then_some(calls)
}

/// A value, or the empty text for null.
pub(super) fn or_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + From<&'static str>,
{
    Option::deserialize(deserializer).map(|it| it.unwrap_or_else(empty))
}

/// The empty text.
pub(super) fn empty<T: From<&'static str>>() -> T {
    T::from("")
}
