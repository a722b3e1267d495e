//! Reading the types of the agent form with serde, in all the spellings of MS-12.
//!
//! The types have no place for unknown members (MS-11), so that a document that has some is refused
//! here, by the name of the first: nothing is lost in silence. [`read`](super::read) and
//! [`AgentStateSnapshot`](super::AgentStateSnapshot) keep them. The order of arguments is what
//! `serde_json::Value` makes of it.

use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Map, Value};

use super::{
    AgentMessage, ContentPart, MessageContent, MessageRole, ToolInvocation, ToolResultContent,
};

impl<'de> Deserialize<'de> for MessageRole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        role(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for AgentMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        strictly(deserializer, message)
    }
}

impl<'de> Deserialize<'de> for MessageContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        strictly(deserializer, content)
    }
}

impl<'de> Deserialize<'de> for ContentPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        strictly(deserializer, part)
    }
}

impl<'de> Deserialize<'de> for ToolResultContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        strictly(deserializer, result)
    }
}

impl<'de> Deserialize<'de> for ToolInvocation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        strictly(deserializer, call)
    }
}

/// Members that were found and have no place, by their paths.
type Unknown = Vec<String>;

/// Reads a value with one of the functions below; refuses members that have no place.
fn strictly<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    read: fn(Value, &mut Unknown) -> Result<T, String>,
) -> Result<T, D::Error> {
    let mut unknown = Unknown::new();
    let res = read(Value::deserialize(deserializer)?, &mut unknown).map_err(D::Error::custom)?;
    match unknown.first() {
        None => Ok(res),
        Some(name) => Err(D::Error::custom(format!(
            "the agent types have no place for the member `{name}`; `agent::read` and \
             `AgentStateSnapshot` keep it"
        ))),
    }
}

/// An agent message, and the members that its type has no place for.
pub(super) fn message(value: Value, unknown: &mut Unknown) -> Result<AgentMessage, String> {
    let mut members = object(value, "an agent message")?;
    let role = match required(&mut members, "role")? {
        Value::String(it) => role(&it)?,
        _ => return Err("`role` is no string".to_owned()),
    };
    let content = content(required(&mut members, "content")?, unknown)?;
    let name = text(&mut members, "name")?;
    let mut tool_call_id = text(&mut members, "tool_call_id")?;
    if let Some(Value::Object(metadata)) = members.get_mut("metadata") {
        if tool_call_id.is_none() && metadata.get("tool_call_id").is_some_and(Value::is_string) {
            tool_call_id = text(metadata, "tool_call_id")?;
        }
        unknown.extend(metadata.keys().map(|it| format!("metadata.{it}")));
        members.remove("metadata");
    }
    members.retain(|name, it| name != "metadata" || !it.is_null());
    unknown.extend(members.into_iter().map(|it| it.0));
    Ok(AgentMessage { content: by_role(role, content), role, name, tool_call_id })
}

/// What a tool says is its result, however it was spelled (MS-13).
fn by_role(role: MessageRole, content: MessageContent) -> MessageContent {
    match content {
        MessageContent::Text(content) if role == MessageRole::Tool => {
            MessageContent::ToolResult(ToolResultContent { content })
        }
        content => content,
    }
}

fn role(word: &str) -> Result<MessageRole, String> {
    MessageRole::from_word(word).ok_or_else(|| format!("unknown role {word:?}"))
}

fn content(value: Value, unknown: &mut Unknown) -> Result<MessageContent, String> {
    let mut members = match value {
        Value::String(it) => return Ok(MessageContent::Text(it)),
        Value::Object(it) => it,
        _ => return Err("content is neither a string nor an object".to_owned()),
    };
    if members.len() == 2 && members.contains_key("type") && members.contains_key("value") {
        return match (members.remove("type"), members.remove("value")) {
            (Some(Value::String(kind)), Some(Value::String(it))) if kind == "Text" => {
                Ok(MessageContent::Text(it))
            }
            (Some(Value::String(kind)), Some(it)) if kind == "Json" => Ok(json(it, unknown)),
            _ => Err("content has an unknown type".to_owned()),
        };
    }
    let (name, value) = only_member(members)?;
    match (name.as_str(), value) {
        ("Text", Value::String(it)) => Ok(MessageContent::Text(it)),
        ("ToolCalls", Value::Array(it)) => {
            let calls = it.into_iter().map(|it| call(it, unknown));
            calls.collect::<Result<_, _>>().map(MessageContent::ToolCalls)
        }
        ("ToolResult", it) => result(it, unknown).map(MessageContent::ToolResult),
        ("MultiPart", Value::Array(it)) => {
            let parts = it.into_iter().map(|it| part(it, unknown));
            parts.collect::<Result<_, _>>().map(MessageContent::MultiPart)
        }
        ("Json", it) => Ok(json(it, unknown)),
        _ => Err(format!("content {name:?} is unknown or of a wrong type")),
    }
}

fn part(value: Value, unknown: &mut Unknown) -> Result<ContentPart, String> {
    let (name, value) = only_member(object(value, "a part")?)?;
    match (name.as_str(), value) {
        ("Text", Value::String(it)) => Ok(ContentPart::Text(it)),
        ("Image", it) => image(it, unknown),
        ("ToolCall", it) => call(it, unknown).map(ContentPart::ToolCall),
        ("ToolResult", it) => result(it, unknown).map(ContentPart::ToolResult),
        ("Json", it) => Ok(ContentPart::Json(it)),
        ("Other", it) => Ok(ContentPart::Other(it)),
        _ => Err(format!("part {name:?} is unknown or of a wrong type")),
    }
}

fn image(value: Value, unknown: &mut Unknown) -> Result<ContentPart, String> {
    let mut members = object(value, "an image")?;
    let url = text(&mut members, "url")?.ok_or("missing member `url`")?;
    let detail = text(&mut members, "detail")?;
    unknown.extend(members.into_iter().map(|it| it.0));
    Ok(ContentPart::Image { url, detail })
}

fn result(value: Value, unknown: &mut Unknown) -> Result<ToolResultContent, String> {
    let mut members = object(value, "a result")?;
    let content = text(&mut members, "content")?.ok_or("missing member `content`")?;
    unknown.extend(members.into_iter().map(|it| it.0));
    Ok(ToolResultContent { content })
}

fn call(value: Value, unknown: &mut Unknown) -> Result<ToolInvocation, String> {
    let mut members = object(value, "a call")?;
    let id = either(&mut members, ["id", "tool_call_id"]);
    let name = either(&mut members, ["name", "tool_name"]);
    let arguments = either(&mut members, ["arguments", "args"]);
    let Some(Value::String(name)) = name else { return Err("a call without a name".to_owned()) };
    let id = match id {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(it)) => it,
        Some(_) => return Err("the id of a call is no string".to_owned()),
    };
    let arguments = arguments.filter(|it| !it.is_null()).unwrap_or_else(|| String::new().into());
    unknown.extend(members.into_iter().map(|it| it.0));
    Ok(ToolInvocation { id, name, arguments })
}

/// Calls, where the value is exactly `{"tool_calls":[…]}` with names; else JSON as such (MS-12).
fn json(value: Value, unknown: &mut Unknown) -> MessageContent {
    let calls = value.as_object().filter(|it| it.len() == 1).and_then(|it| it.get("tool_calls"));
    let mut in_calls = Unknown::new();
    let calls = calls.and_then(Value::as_array).map(|it| {
        it.iter().map(|it| call(it.clone(), &mut in_calls)).collect::<Result<Vec<_>, _>>()
    });
    match calls {
        Some(Ok(calls)) if !calls.is_empty() => {
            unknown.append(&mut in_calls);
            MessageContent::ToolCalls(calls)
        }
        _ => MessageContent::MultiPart(vec![ContentPart::Json(value)]),
    }
}

fn object(value: Value, what: &str) -> Result<Map<String, Value>, String> {
    match value {
        Value::Object(it) => Ok(it),
        _ => Err(format!("{what} is no object")),
    }
}

fn required(members: &mut Map<String, Value>, name: &str) -> Result<Value, String> {
    members.remove(name).ok_or_else(|| format!("missing member `{name}`"))
}

/// The member under the first of two names that is there.
fn either(members: &mut Map<String, Value>, names: [&str; 2]) -> Option<Value> {
    names.into_iter().find_map(|it| members.remove(it))
}

/// A text that may be absent or null.
fn text(members: &mut Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match members.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(it)) => Ok(Some(it)),
        Some(_) => Err(format!("`{name}` is no string")),
    }
}

fn only_member(members: Map<String, Value>) -> Result<(String, Value), String> {
    let mut members = members.into_iter();
    match (members.next(), members.next()) {
        (Some(it), None) => Ok(it),
        _ => Err("expected an object with one member".to_owned()),
    }
}
