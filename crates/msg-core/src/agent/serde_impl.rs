//! Reading the types of the agent form with serde, in all the spellings of MS-12.
//!
//! Through [`Message`], except for the content: its variant stays the one that the source named.
//! Unknown members have no place in the types and are dropped.

use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

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
        #[derive(Deserialize)]
        struct Members {
            role: MessageRole,
            content: MessageContent,
            name: Option<String>,
            tool_call_id: Option<String>,
            metadata: Option<Value>,
        }
        let it = Members::deserialize(deserializer)?;
        let id = it.metadata.as_ref().and_then(|it| it.get("tool_call_id")?.as_str());
        let tool_call_id = it.tool_call_id.or_else(|| id.map(str::to_owned));
        let (role, name) = (it.role, it.name);
        let content = match it.content {
            // What a tool says is its result, however it was spelled (MS-13).
            MessageContent::Text(content) if role == MessageRole::Tool => {
                MessageContent::ToolResult(ToolResultContent { content })
            }
            content => content,
        };
        Ok(Self { role, content, name, tool_call_id })
    }
}

impl<'de> Deserialize<'de> for MessageContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        content(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for ContentPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        part(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for ToolResultContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Members {
            content: String,
        }
        Members::deserialize(deserializer).map(|it| Self { content: it.content })
    }
}

impl<'de> Deserialize<'de> for ToolInvocation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Members {
            #[serde(default, alias = "tool_call_id")]
            id: Option<String>,
            #[serde(alias = "tool_name")]
            name: String,
            #[serde(default, alias = "args")]
            arguments: Option<Value>,
        }
        let it = Members::deserialize(deserializer)?;
        let arguments = it.arguments.unwrap_or_else(|| Value::String(String::new()));
        Ok(Self { id: it.id.unwrap_or_default(), name: it.name, arguments })
    }
}

fn content(value: Value) -> Result<MessageContent, String> {
    let mut members = match value {
        Value::String(it) => return Ok(MessageContent::Text(it)),
        Value::Object(it) => it,
        _ => return Err("content is neither a string nor an object".to_owned()),
    };
    if let (2, Some(kind), Some(value)) =
        (members.len(), members.remove("type"), members.remove("value"))
    {
        return match (kind.as_str(), value) {
            (Some("Text"), Value::String(it)) => Ok(MessageContent::Text(it)),
            (Some("Json"), it) => Ok(json(it)),
            _ => Err("content has an unknown type".to_owned()),
        };
    }
    let (name, value) = only_member(members)?;
    match name.as_str() {
        "Text" => from(value).map(MessageContent::Text),
        "ToolCalls" => from(value).map(MessageContent::ToolCalls),
        "ToolResult" => from(value).map(MessageContent::ToolResult),
        "MultiPart" => from(value).map(MessageContent::MultiPart),
        "Json" => Ok(json(value)),
        _ => Err(format!("unknown content {name:?}")),
    }
}

fn part(value: Value) -> Result<ContentPart, String> {
    let Value::Object(members) = value else { return Err("part is no object".to_owned()) };
    let (name, value) = only_member(members)?;
    match name.as_str() {
        "Text" => from(value).map(ContentPart::Text),
        "Image" => image(&value).ok_or_else(|| "image without a url".to_owned()),
        "ToolCall" => from(value).map(ContentPart::ToolCall),
        "ToolResult" => from(value).map(ContentPart::ToolResult),
        "Json" => Ok(ContentPart::Json(value)),
        "Other" => Ok(ContentPart::Other(value)),
        _ => Err(format!("unknown part {name:?}")),
    }
}

fn image(value: &Value) -> Option<ContentPart> {
    let url = value.get("url")?.as_str()?.to_owned();
    let detail = value.get("detail").and_then(Value::as_str).map(str::to_owned);
    Some(ContentPart::Image { url, detail })
}

/// Calls, where the value is exactly `{"tool_calls":[…]}` with names; else JSON as such (MS-12).
fn json(value: Value) -> MessageContent {
    let calls = value.as_object().filter(|it| it.len() == 1).and_then(|it| it.get("tool_calls"));
    let calls: Option<Vec<ToolInvocation>> =
        calls.and_then(|it| serde_json::from_value(it.clone()).ok());
    match calls {
        Some(calls) if !calls.is_empty() => MessageContent::ToolCalls(calls),
        _ => MessageContent::MultiPart(vec![ContentPart::Json(value)]),
    }
}

fn only_member(members: serde_json::Map<String, Value>) -> Result<(String, Value), String> {
    let mut members = members.into_iter();
    match (members.next(), members.next()) {
        (Some(it), None) => Ok(it),
        _ => Err("expected an object with one member".to_owned()),
    }
}

fn from<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|it| it.to_string())
}
