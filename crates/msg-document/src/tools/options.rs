//! The options of `msg tools`, from flags and from a line's `options`.

use std::sync::Arc;

use msg_core::FinishReason;
use msg_formats::Refusal;
use msg_xml::{Dialects, Fenced, ParseOptions, SchemaSet, ThinkingMode, ToolDefinition, ToolSet};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::value::RawValue;

/// Options for reading model text.
///
/// ```
/// use msg_document::{ToolsOptions, options_from_json};
///
/// let options: ToolsOptions = options_from_json(br#"{"dialects":"hermes","thinking":"drop"}"#)?;
/// assert_eq!(options.read.thinking, msg_xml::ThinkingMode::Drop);
/// # Ok::<(), msg_document::Refusal>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolsOptions {
    /// How markup is interpreted.
    pub read: Arc<ParseOptions>,
    /// Why the model stopped; `length` and similar reasons mean that the text was cut off.
    pub finish: Option<FinishReason>,
    /// The number of bytes per feed; 0 feeds everything at once. The answer is the same.
    pub chunk: usize,
    /// Also return the events of the stream.
    pub events: bool,
}

impl ToolsOptions {
    msg_core::setters! {
        new;
        /// Sets how markup is interpreted.
        with_read(read: ParseOptions) read = Arc::new(read);
    }

    /// Reads the names of registered tools from JSON: a list of names, a list of definitions, or a text with names
    /// separated by commas.
    ///
    /// Fails for anything else.
    pub fn tool_names(json: &str) -> Result<ToolSet, Refusal> {
        let read: Result<Tools, _> = serde_json::from_str(json);
        let bad = |it: serde_json::Error| Refusal::bad_option(it.to_string());
        Ok(read.map_err(bad)?.0.into_iter().collect())
    }
}

impl<'de> Deserialize<'de> for ToolsOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let own = Own::deserialize(deserializer)?;
        own.over(&ToolsOptions::default()).map_err(D::Error::custom)
    }
}

/// The members of an object of options; `None` for those that it lacks.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Own {
    pub(super) thinking: Option<ThinkingMode>,
    /// Treat text before an unmatched end of thinking as thinking.
    implicit_thinking: Option<bool>,
    fenced_tools: Option<Fenced>,
    dialects: Option<Names>,
    tools: Option<Tools>,
    schema: Option<SchemaSet>,
    /// Why the model stopped: `length` means that the text was cut.
    finish_reason: Option<String>,
    /// The number of bytes per feed; 0 feeds everything at once. The answer is the same.
    chunk: Option<usize>,
    /// The maximum size of the block of a call, in bytes.
    max_tool_bytes: Option<usize>,
    /// The maximum depth of arguments.
    max_depth: Option<usize>,
    /// The number of blocks and fences that may be read twice.
    max_retries: Option<usize>,
    /// Also return the events of the stream.
    events: Option<bool>,
}

/// Names: a list, or one string with commas.
#[derive(Debug)]
struct Names(Vec<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = names_of(deserializer, |it| serde_json::from_str(it).ok());
        names.ok_or_else(|| D::Error::custom("expected the names of dialects")).map(Names)
    }
}

/// The names of tools: as [`Names`], or a list of definitions.
#[derive(Debug)]
struct Tools(Vec<String>);

impl<'de> Deserialize<'de> for Tools {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = |it: &str| match it.starts_with('{') {
            true => serde_json::from_str::<ToolDefinition>(it).map(|it| it.name).ok(),
            false => serde_json::from_str(it).ok(),
        };
        let names = names_of(deserializer, name);
        let expected = "expected a list of tool names or definitions";
        names.ok_or_else(|| D::Error::custom(expected)).map(Tools)
    }
}

/// The names in a string with commas, or the `name` of each element of a list. Keeps the schema of an element as raw
/// text, which an untagged enum could not read.
fn names_of<'de, D: Deserializer<'de>>(
    deserializer: D,
    name: impl Fn(&str) -> Option<String>,
) -> Option<Vec<String>> {
    let json = Box::<RawValue>::deserialize(deserializer).ok()?;
    if let Ok(text) = serde_json::from_str::<String>(json.get()) {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        return Some(names.map(str::to_owned).collect());
    }
    let elements: Vec<Box<RawValue>> = serde_json::from_str(json.get()).ok()?;
    elements.iter().map(|it| name(it.get())).collect()
}

impl Own {
    /// These options over the base options.
    pub(super) fn over(self, base: &ToolsOptions) -> Result<ToolsOptions, Refusal> {
        let mut read = ParseOptions::clone(&base.read);
        if let Some(names) = &self.dialects {
            let dialects = Dialects::by_names(names.0.iter().map(String::as_str));
            read.dialects = dialects.map_err(|it| Refusal::bad_option(it.to_string()))?;
        }
        if let Some(tools) = self.tools {
            read.tools = tools.0.into_iter().collect();
        }
        read.thinking = self.thinking.unwrap_or(read.thinking);
        read.implicit_thinking = self.implicit_thinking.unwrap_or(read.implicit_thinking);
        read.fenced_tools = self.fenced_tools.unwrap_or(read.fenced_tools);
        read.schema = self.schema.map(Arc::new).or(read.schema);
        let limits = &mut read.limits;
        limits.max_tool_bytes = self.max_tool_bytes.unwrap_or(limits.max_tool_bytes);
        limits.max_depth = self.max_depth.unwrap_or(limits.max_depth);
        limits.max_retries = self.max_retries.unwrap_or(limits.max_retries);
        let finish = self.finish_reason.as_deref().map(FinishReason::from);
        Ok(ToolsOptions {
            read: Arc::new(read),
            finish: finish.or_else(|| base.finish.clone()),
            chunk: self.chunk.unwrap_or(base.chunk),
            events: self.events.unwrap_or(base.events),
        })
    }
}
