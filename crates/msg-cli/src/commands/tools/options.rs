//! The options of `msg tools`: the same as flags and as members of a line's `options`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use msg_core::FinishReason;
use msg_xml::{Dialects, Fenced, Options, SchemaSet, Thinking, ToolDefinition, ToolSet};
use serde::Deserialize;

use crate::exit::Failure;

// No doc comment: clap would show it as the text of the command.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ReadArgs {
    /// What becomes of thinking.
    #[arg(long, value_name = "extract|drop|off", default_value = "extract", value_parser = named::<Thinking>)]
    thinking: Thinking,
    /// The message begins inside thinking: the template has opened the tag.
    #[arg(long)]
    implicit_thinking: bool,
    /// What becomes of calls in code fences.
    #[arg(long, value_name = "fallback|never|always", default_value = "fallback", value_parser = named::<Fenced>)]
    fenced_tools: Fenced,
    /// Foreign syntaxes to read: invoke, hermes, glm, qwen, cline, dsml, minimax.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    dialects: Vec<String>,
    /// A TOML file that describes further dialects; each is on.
    #[arg(long, value_name = "FILE")]
    dialect_file: Vec<PathBuf>,
    /// The registered tools: names, or a JSON file of definitions.
    #[arg(long, value_name = "FILE|A,B")]
    tools: Option<String>,
    /// Types of parameters: tool definitions, or an object from tool to JSON Schema.
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Why the model stopped; length and its like mean that the text was cut.
    #[arg(long, value_name = "R")]
    finish_reason: Option<String>,
    /// Bytes fed at a time; 0 for all at once. It changes no answer.
    #[arg(long, value_name = "N", default_value_t = 0)]
    chunk: usize,
    /// The largest block that is kept, in bytes.
    #[arg(long, value_name = "N")]
    max_tool_bytes: Option<usize>,
    /// The deepest nesting of parameters.
    #[arg(long, value_name = "N")]
    max_depth: Option<usize>,
    /// Add the events of the stream to the JSON form.
    #[arg(long)]
    events: bool,
}

/// What reading needs beside the text.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) options: Arc<Options>,
    pub(crate) finish: Option<FinishReason>,
    pub(crate) chunk: usize,
    pub(crate) events: bool,
}

impl ReadArgs {
    pub(crate) fn load(&self) -> Result<Setup, Failure> {
        let mut options = Options::new()
            .with_thinking(self.thinking)
            .with_fenced_tools(self.fenced_tools)
            .with_dialects(self.dialects()?);
        options.implicit_thinking = self.implicit_thinking;
        if let Some(tools) = &self.tools {
            options.tools = load_tools(tools)?;
        }
        if let Some(path) = &self.schema {
            options.schema = Some(Arc::new(parse_file(path, "tool definitions, or an object of JSON Schemas")?));
        }
        let limits = &mut options.limits;
        limits.max_tool_bytes = self.max_tool_bytes.unwrap_or(limits.max_tool_bytes);
        limits.max_depth = self.max_depth.unwrap_or(limits.max_depth);
        let finish = self.finish_reason.as_deref().map(FinishReason::from);
        Ok(Setup { options: Arc::new(options), finish, chunk: self.chunk, events: self.events })
    }

    fn dialects(&self) -> Result<Dialects, Failure> {
        let usage = |error: msg_xml::Error| Failure::Usage(error.to_string());
        let names = self.dialects.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
        let mut dialects = Dialects::by_names(names).map_err(usage)?;
        for path in &self.dialect_file {
            let text = read_text(path)?;
            let bad = |error: msg_xml::Error| Failure::Usage(format!("{}: {error}", path.display()));
            dialects.add_toml(&text).map_err(bad)?;
        }
        Ok(dialects)
    }
}

fn read_text(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|source| Failure::read(path.display().to_string(), source))
}

fn parse_file<T: serde::de::DeserializeOwned>(path: &Path, expected: &str) -> Result<T, Failure> {
    let text = read_text(path)?;
    serde_json::from_str(&text).map_err(|error| Failure::Usage(format!("{} holds no {expected}: {error}", path.display())))
}

/// Names, or a file of definitions.
fn load_tools(value: &str) -> Result<ToolSet, Failure> {
    let path = Path::new(value);
    // No tool is called so: a file that is not there must not count as a name.
    let is_meant = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("json"));
    if !is_meant && !path.is_file() {
        return Ok(value.split(',').map(str::trim).filter(|name| !name.is_empty()).collect());
    }
    let tools: Tools = parse_file(path, "list of tool names or definitions")?;
    Ok(tools.names())
}

fn named<T: serde::de::DeserializeOwned>(word: &str) -> Result<T, String> {
    serde_json::from_value(serde_json::Value::from(word)).map_err(|error| error.to_string())
}

/// `options` of a line.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LineOptions {
    pub(crate) thinking: Option<Thinking>,
    implicit_thinking: Option<bool>,
    fenced_tools: Option<Fenced>,
    dialects: Option<Names>,
    tools: Option<Tools>,
    schema: Option<SchemaSet>,
    finish_reason: Option<String>,
    chunk: Option<usize>,
    max_tool_bytes: Option<usize>,
    max_depth: Option<usize>,
    max_retries: Option<usize>,
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
            Names::Text(text) => text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect(),
        }
    }
}

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

impl LineOptions {
    /// The program's options with what the line says in their place.
    pub(crate) fn over(self, base: &Setup) -> Result<Setup, msg_xml::Error> {
        let mut options = Options::clone(&base.options);
        if let Some(names) = &self.dialects {
            options.dialects = Dialects::by_names(names.iter())?;
        }
        if let Some(tools) = &self.tools {
            options.tools = tools.names();
        }
        options.thinking = self.thinking.unwrap_or(options.thinking);
        options.implicit_thinking = self.implicit_thinking.unwrap_or(options.implicit_thinking);
        options.fenced_tools = self.fenced_tools.unwrap_or(options.fenced_tools);
        options.schema = self.schema.map(Arc::new).or(options.schema);
        let limits = &mut options.limits;
        limits.max_tool_bytes = self.max_tool_bytes.unwrap_or(limits.max_tool_bytes);
        limits.max_depth = self.max_depth.unwrap_or(limits.max_depth);
        limits.max_retries = self.max_retries.unwrap_or(limits.max_retries);
        Ok(Setup {
            options: Arc::new(options),
            finish: self.finish_reason.as_deref().map(FinishReason::from).or_else(|| base.finish.clone()),
            chunk: self.chunk.unwrap_or(base.chunk),
            events: self.events.unwrap_or(base.events),
        })
    }
}
