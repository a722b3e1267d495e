//! Settings of a request that break the cache when they change, without those that say a default (CL-5).

use crate::family::Family;
use crate::spell::{Spelling, whole};
use crate::value::Value;

/// A setting that is not at its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    /// The name, as the providers' table has it.
    pub(crate) name: &'static str,
    /// What it says.
    pub(crate) value: String,
}

/// Where a setting is in a body, and which of its values are the default.
struct Row(&'static str, &'static [&'static str], &'static [&'static str]);

const ANTHROPIC: &[Row] = &[
    Row("speed", &["speed"], &["standard"]),
    Row("output_format", &["output_config", "format"], &["text"]),
    Row("output_format", &["output_format"], &["text"]),
    Row("tool_choice", &["tool_choice"], &["auto"]),
    Row("thinking", &["thinking"], &["disabled"]),
    Row("effort", &["output_config", "effort"], &["high"]),
];

const OPENAI: &[Row] = &[
    Row("prompt_cache_key", &["prompt_cache_key"], &[]),
    Row("service_tier", &["service_tier"], &["auto", "default"]),
    Row("response_format", &["response_format"], &["text"]),
    Row("response_format", &["text", "format"], &["text"]),
    Row("effort", &["reasoning_effort"], &[]),
    Row("effort", &["reasoning", "effort"], &[]),
    Row("verbosity", &["verbosity"], &[]),
    Row("verbosity", &["text", "verbosity"], &[]),
];

const GEMINI: &[Row] = &[
    Row("cached_content", &["cachedContent"], &[]),
    Row("cached_content", &["cached_content"], &[]),
];

const BEDROCK: &[Row] = &[
    Row("tool_choice", &["toolConfig", "toolChoice"], &["auto"]),
    Row("thinking", &["additionalModelRequestFields", "thinking"], &["disabled"]),
    Row("thinking", &["additionalModelRequestFields", "reasoning_config"], &["disabled"]),
];

/// The settings of a body that say something else than their default.
pub(crate) fn settings(body: &Value<'_>, family: Family) -> Vec<Setting> {
    let rows = match family {
        Family::Anthropic => ANTHROPIC,
        Family::OpenAi | Family::Responses => OPENAI,
        Family::Gemini => GEMINI,
        Family::Bedrock => BEDROCK,
    };
    let of_row = |Row(name, path, defaults): &Row| {
        let value = body.at(path)?;
        (!is_default(value, defaults)).then(|| setting(name, value))
    };
    let mut res: Vec<Setting> = rows.iter().filter_map(of_row).collect();
    if family == Family::Anthropic {
        res.extend(web_search(body));
        res.extend(has_citations(body).then(|| flag("citations")));
    }
    res
}

fn setting(name: &'static str, value: &Value<'_>) -> Setting {
    let mut text = String::new();
    whole(value, Spelling::Meaning, &mut text);
    Setting { name, value: text }
}

fn flag(name: &'static str) -> Setting {
    Setting { name, value: "on".to_owned() }
}

/// A default is the word, an object whose type is the word and that says nothing else, or an object with it as its only
/// member.
fn is_default(value: &Value<'_>, defaults: &[&str]) -> bool {
    let is_one = |it: Option<&str>| it.is_some_and(|it| defaults.contains(&it));
    match value.members() {
        [] => is_one(value.text()),
        [(name, it)] => (name == "type" && is_one(it.text())) || is_one(Some(&**name)),
        _ => false,
    }
}

pub(crate) fn is_web_search(tool: &Value<'_>) -> bool {
    tool.text_of("type").is_some_and(|it| it.starts_with("web_search"))
}

fn web_search(body: &Value<'_>) -> Option<Setting> {
    let mut tools = body.get("tools").map_or(&[][..], Value::list).iter();
    tools.any(is_web_search).then(|| flag("web_search"))
}

/// Whether any document of the messages has citations switched on.
fn has_citations(body: &Value<'_>) -> bool {
    let messages = body.get("messages").map_or(&[][..], Value::list);
    let mut blocks = messages.iter().filter_map(|it| it.get("content")).flat_map(Value::list);
    blocks.any(|it| it.at(&["citations", "enabled"]) == Some(&Value::Bool(true)))
}
