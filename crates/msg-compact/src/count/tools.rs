//! What tool definitions cost (CP-56): OpenAI's published rule for functions.

use msg_core::RawJson;
use serde::Deserialize;
use serde_json::Value;

use super::TokenCounter;

/// A tool as it is offered to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does, for the model; may be empty.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Option<RawJson>,
}

/// Tokens of the tools' definitions; 0 without tools.
pub(super) fn tokens<C: TokenCounter + ?Sized>(counter: &C, tools: &[ToolSpec]) -> u64 {
    if tools.is_empty() {
        return 0;
    }
    tools.iter().map(|it| tool(counter, it)).sum::<u64>() + ALL_TOOLS
}

/// Once for any number of tools.
const ALL_TOOLS: u64 = 12;
/// Once for a tool that has properties.
const PROPERTIES: u64 = 3;
/// For each property.
const PROPERTY: u64 = 3;
/// For each item of an `enum`.
const ENUM_ITEM: u64 = 3;

/// Members of a property whose schema counts as its JSON text.
const NESTED: [&str; 5] = ["items", "properties", "anyOf", "oneOf", "allOf"];

#[derive(Deserialize)]
struct Schema {
    #[serde(default)]
    properties: serde_json::Map<String, Value>,
}

fn tool<C: TokenCounter + ?Sized>(counter: &C, tool: &ToolSpec) -> u64 {
    let head = format!("{}:{}", tool.name, without_stop(&tool.description));
    let schema = tool.parameters.as_ref().and_then(|it| it.parse::<Schema>().ok());
    let properties = schema.map(|it| it.properties).unwrap_or_default();
    let fixed = if properties.is_empty() { 0 } else { PROPERTIES };
    let each = properties.iter().map(|(name, it)| property(counter, name, it));
    counter.tool_overhead() + counter.text(&head) + fixed + each.sum::<u64>()
}

fn property<C: TokenCounter + ?Sized>(counter: &C, name: &str, schema: &Value) -> u64 {
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let line = format!("{name}:{}:{}", type_name(schema), without_stop(description));
    let nested = NESTED.iter().filter_map(|it| schema.get(it));
    let nested: u64 = nested.map(|it| counter.text(&it.to_string())).sum();
    (PROPERTY + counter.text(&line) + nested + enum_items(counter, schema))
        .saturating_sub(if schema.get("enum").is_some_and(Value::is_array) { 3 } else { 0 })
}

fn enum_items<C: TokenCounter + ?Sized>(counter: &C, schema: &Value) -> u64 {
    let items = schema.get("enum").and_then(Value::as_array);
    let text = |it: &Value| match it {
        Value::String(text) => counter.text(text),
        other => counter.text(&other.to_string()),
    };
    items.into_iter().flatten().map(|it| ENUM_ITEM + text(it)).sum()
}

fn type_name(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(one)) => one.clone(),
        Some(Value::Array(several)) => {
            several.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|")
        }
        _ => "any".to_owned(),
    }
}

fn without_stop(description: &str) -> &str {
    description.strip_suffix('.').unwrap_or(description)
}
