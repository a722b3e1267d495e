//! Counting tokens (CP-50): the trait of a counter, the chat rule (CP-53), and what media (CP-55) and tool
//! definitions (CP-56) cost. It contains no tokenizer. Counting a whole history and keeping the count up to date is
//! the task of `token_index`.
//!
//! ```text
//! "Grüße, 世界"   script  by the kinds of characters    o200k, cl100k  the table itself
//! ```

mod counters;
mod media;
mod runs;
mod vocabulary;

use msg_core::{Message, Part, RawJson, Role, ToolResult};
use serde::Deserialize;
use serde_json::Value;

pub use crate::count::counters::{Script, ScriptCount};
pub use counters::{Calibrated, Forge, Ratio, Wolo};
pub use media::MediaRates;

#[cfg(feature = "bpe")]
pub use crate::count::vocabulary::Bpe;

// The trait (CP-50), and a count that grows with its text.

/// Says how many tokens texts, messages and requests cost (CP-50).
///
/// A total is `request` + the sum over the messages; it is the number that every limit, trigger and
/// report of this crate uses.
///
/// ```
/// use msg_compact::{TokenCounter, count};
/// use msg_core::{Message, Role, ToolResult};
///
/// assert_eq!(count::Forge.message(&Message::user("Hello")), 5);
/// assert_eq!(count::Script::new().text("the quick brown fox"), 4);
/// ```
pub trait TokenCounter: Send + Sync {
    /// Its name, as the program takes it: `script`, `forge`, `wolo`, `o200k` …
    fn name(&self) -> &str;

    /// Tokens of a text. Linear in it.
    fn text(&self, text: &str) -> u64;

    /// Tokens of a message with what a message costs besides its text; the chat rule of CP-53 unless
    /// a counter has its own.
    fn message(&self, message: &Message) -> u64 {
        chat_message(self, message)
    }

    /// Tokens of a result's content, without the message around it.
    fn tool_output(&self, result: &ToolResult) -> u64 {
        result.content.parts().iter().map(|it| chat_part(self, it)).sum()
    }

    /// What a message of this role without a name costs besides its parts, for a counter that adds the
    /// costs of parts up: a message whose parts change needs no counting of those that stay then. None
    /// where a message is more or less than the sum of its parts, or its parts are not known to add up.
    fn frame(&self, role: &Role) -> Option<u64> {
        let _ = role;
        None
    }

    /// What a request costs besides its messages: priming the reply, and the tool definitions
    /// (CP-50, CP-56).
    fn request(&self, tools: &[ToolSpec]) -> u64 {
        REPLY_PRIMING + tool_tokens(self, tools)
    }

    /// What one tool definition costs besides its texts (CP-56).
    fn tool_overhead(&self) -> u64 {
        7
    }

    /// What images, sound and files cost (CP-55).
    fn media(&self) -> MediaRates {
        MediaRates::default()
    }

    /// How far off the counts are; none for an exact counter.
    fn error_bar(&self) -> Option<ErrorBar>;

    /// A count of this message that grows with its last text. The default keeps a copy of the
    /// message and counts it anew at each step; counters that can go on do better.
    fn growing(&self, message: &Message) -> Box<dyn Growing> {
        Box::new(Recounted { message: message.clone() })
    }
}

/// How far a counter's numbers are from the tokenizers of the providers, in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorBar {
    /// Mean error of a text.
    pub mean: f32,
    /// Nineteen of twenty texts are within this.
    pub p95: f32,
}

/// The count of a message whose last text grows, as while a stream arrives.
pub trait Growing: Send + Sync {
    /// Adds to the last text; gives the tokens of the whole message. `counter` is the one that made
    /// this count.
    fn extend(&mut self, text: &str, counter: &dyn TokenCounter) -> u64;
}

struct Recounted {
    message: Message,
}

impl Growing for Recounted {
    fn extend(&mut self, text: &str, counter: &dyn TokenCounter) -> u64 {
        extend_last_text(&mut self.message, text);
        counter.message(&self.message)
    }
}

// The chat rule (CP-53): what a message costs besides its texts.

/// Tokens with which every reply is primed (CP-50).
pub(crate) const REPLY_PRIMING: u64 = 3;

/// Tokens of a message's frame: three and one for the role (CP-54).
pub(crate) const MESSAGE: u64 = 4;

/// Tokens of a call besides its name and arguments (CP-53).
const CALL: u64 = 3;

/// Tokens of a name besides its text (CP-53).
const NAME: u64 = 1;

/// Tokens of a message by the chat rule: 4, its texts, reasoning and media, its name, its calls.
pub(crate) fn chat_message<C: TokenCounter + ?Sized>(counter: &C, message: &Message) -> u64 {
    let name = message.name.as_deref().map_or(0, |it| name_tokens(counter, it));
    MESSAGE + name + message.parts.iter().map(|it| chat_part(counter, it)).sum::<u64>()
}

pub(crate) fn chat_part<C: TokenCounter + ?Sized>(counter: &C, part: &Part) -> u64 {
    match part {
        Part::Text(it) | Part::Refusal(it) => counter.text(&it.text),
        Part::Reasoning(it) => counter.text(&it.display_text()),
        Part::ToolCall(it) => CALL + counter.text(&it.name) + counter.text(it.arguments.text()),
        Part::ToolResult(it) => {
            let name = it.name.as_deref().map_or(0, |it| name_tokens(counter, it));
            name + it.content.parts().iter().map(|it| chat_part(counter, it)).sum::<u64>()
        }
        Part::Other(it) => counter.text(it.value.text()),
        _ => counter.media().tokens(part),
    }
}

fn name_tokens<C: TokenCounter + ?Sized>(counter: &C, name: &str) -> u64 {
    if name.is_empty() { 0 } else { NAME + counter.text(name) }
}

/// Adds to the last text of a message: of its last part, or of the content of its last result. A
/// message that does not end in a text gets one.
pub(crate) fn extend_last_text(message: &mut Message, text: &str) {
    let parts = match message.parts.last_mut() {
        Some(Part::ToolResult(it)) => it.content.parts_mut(),
        _ => &mut message.parts,
    };
    match parts.last_mut() {
        Some(Part::Text(it) | Part::Refusal(it)) => it.text.push_str(text),
        _ => parts.push(Part::text(text)),
    }
}

// What tool definitions cost (CP-56): OpenAI's published rule for functions.

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
pub(crate) fn tool_tokens<C: TokenCounter + ?Sized>(counter: &C, tools: &[ToolSpec]) -> u64 {
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
