//! Tool definitions as a request body or a file of them has them.

use std::collections::BTreeMap;

use msg_compact::count::ToolSpec;
use msg_core::RawJson;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::json::may_have_member;

/// The `tools` of a request body; none if the document is something else or has none.
pub(super) fn tools_of(json: &[u8]) -> Option<Vec<RawJson>> {
    #[derive(Deserialize)]
    struct Body {
        #[serde(default)]
        tools: Option<Vec<RawJson>>,
    }
    let may_have = json.trim_ascii_start().first() == Some(&b'{');
    if !may_have || !may_have_member(json, "\"tools\"") {
        return None;
    }
    serde_json::from_slice::<Body>(json).ok()?.tools
}

/// The first of some values that is not a tool definition, neither a function nor a tool of a provider's own.
pub(super) fn no_tool(tools: &[RawJson]) -> Option<usize> {
    let is_typed =
        |it: &RawJson| it.parse::<Map<String, Value>>().is_ok_and(|it| it.contains_key("type"));
    tools.iter().position(|it| tool_spec(it).is_none() && !is_typed(it))
}

/// What a counter counts of tool definitions; what is none is not counted.
pub(crate) fn tool_specs(tools: Option<&[RawJson]>) -> Vec<ToolSpec> {
    tools.into_iter().flatten().filter_map(tool_spec).collect()
}

/// A tool definition: `{"type":"function","function":{…}}`, or the function alone.
fn tool_spec(raw: &RawJson) -> Option<ToolSpec> {
    #[derive(Deserialize)]
    struct Outer {
        function: Option<Function>,
        #[serde(flatten)]
        own: BTreeMap<String, Value>,
    }
    #[derive(Deserialize)]
    struct Function {
        name: String,
        #[serde(default)]
        description: Option<String>,
        #[serde(default)]
        parameters: Option<Value>,
    }
    let outer: Outer = raw.parse().ok()?;
    let function = match outer.function {
        Some(function) => function,
        None => serde_json::from_value(Value::Object(outer.own.into_iter().collect())).ok()?,
    };
    let parameters = function.parameters.and_then(|it| RawJson::new(it.to_string()).ok());
    let description = function.description.unwrap_or_default();
    Some(ToolSpec { name: function.name, description, parameters })
}
