//! How model text is read: the options of `msg tools`, from flags and from a line's `options`.

use std::sync::Arc;

use msg_core::FinishReason;
use msg_xml::{Dialects, Fenced, ParseOptions, SchemaSet, ThinkingMode, ToolDefinition, ToolSet};
use serde::{Deserialize, Deserializer};

use crate::refusal::Refusal;

/// How model text is read.
///
/// ```
/// use msg_document::{ToolsOptions, options_from_json};
///
/// let options: ToolsOptions = options_from_json(br#"{"dialects":"hermes","thinking":"drop"}"#)?;
/// assert_eq!(options.read.thinking, msg_xml::ThinkingMode::Drop);
/// # Ok::<(), msg_document::Refusal>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ToolsOptions {
    /// What markup means.
    pub read: Arc<ParseOptions>,
    /// Why the model stopped; length and its like mean that the text was cut.
    pub finish: Option<FinishReason>,
    /// Bytes that are fed at a time; 0 feeds all at once. The answer is the same.
    pub chunk: usize,
    /// Give the events of the stream too.
    pub events: bool,
}

impl ToolsOptions {
    /// Markup means this.
    #[must_use]
    pub fn with_read(mut self, read: ParseOptions) -> Self {
        self.read = Arc::new(read);
        self
    }

    /// The names of registered tools, from JSON: a list of names or of definitions, or names with commas in a text.
    ///
    /// Fails for anything else.
    pub fn tool_names(json: &str) -> Result<ToolSet, Refusal> {
        let bad = |it| {
            let text = format!("expected a list of tool names or definitions: {it}");
            Refusal::bad_option(text)
        };
        Ok(serde_json::from_str::<Tools>(json).map_err(bad)?.names())
    }
}

impl<'de> Deserialize<'de> for ToolsOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let own = Own::deserialize(deserializer)?;
        own.over(&ToolsOptions::default()).map_err(serde::de::Error::custom)
    }
}

/// What an object of options says, where it says it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Own {
    pub(super) thinking: Option<ThinkingMode>,
    /// Take text before a lone end of thinking for thinking.
    implicit_thinking: Option<bool>,
    fenced_tools: Option<Fenced>,
    dialects: Option<Names>,
    tools: Option<Tools>,
    schema: Option<SchemaSet>,
    /// Why the model stopped: `length` means that the text was cut.
    finish_reason: Option<String>,
    /// Bytes that are fed at a time; 0 feeds all at once. The answer is the same.
    chunk: Option<usize>,
    /// The most bytes of a block of a call.
    max_tool_bytes: Option<usize>,
    /// The deepest nesting of arguments.
    max_depth: Option<usize>,
    /// Blocks and fences that may be read twice.
    max_retries: Option<usize>,
    /// Give the events of the stream too.
    events: Option<bool>,
}

/// A list, or one text with commas.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Names {
    List(Vec<String>),
    Text(String),
}

impl Names {
    fn iter(&self) -> Vec<&str> {
        match self {
            Names::List(list) => list.iter().map(String::as_str).collect(),
            Names::Text(text) => {
                text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
            }
        }
    }
}

/// Names, or definitions.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Tools {
    Names(Names),
    Definitions(Vec<Tool>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Tool {
    Name(String),
    Definition(ToolDefinition),
}

impl Tools {
    fn names(&self) -> ToolSet {
        match self {
            Tools::Names(names) => names.iter().into_iter().collect(),
            Tools::Definitions(list) => list
                .iter()
                .map(|tool| match tool {
                    Tool::Name(name) => name.as_str(),
                    Tool::Definition(definition) => definition.name.as_str(),
                })
                .collect(),
        }
    }
}

impl Own {
    /// These options, and the others where these say nothing.
    pub(super) fn over(self, base: &ToolsOptions) -> Result<ToolsOptions, Refusal> {
        let mut read = ParseOptions::clone(&base.read);
        if let Some(names) = &self.dialects {
            let dialects = Dialects::by_names(names.iter());
            read.dialects = dialects.map_err(|it| Refusal::bad_option(it.to_string()))?;
        }
        if let Some(tools) = &self.tools {
            read.tools = tools.names();
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
