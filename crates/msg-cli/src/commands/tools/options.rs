//! The flags of `msg tools`; a line's `options` are `msg-document`'s.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use msg_core::FinishReason;
use msg_document::ToolsOptions;
use msg_xml::{Dialects, Fenced, Options, Thinking, ToolSet};

use crate::exit::Failure;
use crate::input::side_file;

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
    #[arg(long, value_name = "N", value_parser = crate::sizes::count)]
    max_tool_bytes: Option<usize>,
    /// The deepest nesting of parameters.
    #[arg(long, value_name = "N")]
    max_depth: Option<usize>,
    /// Add the events of the stream to the JSON form.
    #[arg(long)]
    events: bool,
}

impl ReadArgs {
    pub(crate) fn load(&self, max_bytes: u64) -> Result<ToolsOptions, Failure> {
        let mut options = Options::new()
            .with_thinking(self.thinking)
            .with_fenced_tools(self.fenced_tools)
            .with_dialects(self.dialects(max_bytes)?);
        options.implicit_thinking = self.implicit_thinking;
        if let Some(tools) = &self.tools {
            options.tools = load_tools(tools, max_bytes)?;
        }
        if let Some(path) = &self.schema {
            options.schema = Some(Arc::new(parse_file(
                path,
                max_bytes,
                "tool definitions, or an object of JSON Schemas",
            )?));
        }
        let limits = &mut options.limits;
        limits.max_tool_bytes = self.max_tool_bytes.unwrap_or(limits.max_tool_bytes);
        limits.max_depth = self.max_depth.unwrap_or(limits.max_depth);
        let finish = self.finish_reason.as_deref().map(FinishReason::from);
        Ok(ToolsOptions { read: Arc::new(options), finish, chunk: self.chunk, events: self.events })
    }

    fn dialects(&self, max_bytes: u64) -> Result<Dialects, Failure> {
        let usage = |error: msg_xml::Error| Failure::Usage(error.to_string());
        let names = self.dialects.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
        let mut dialects = Dialects::by_names(names).map_err(usage)?;
        for path in &self.dialect_file {
            let text = side_file(path, max_bytes)?;
            let bad =
                |error: msg_xml::Error| Failure::Usage(format!("{}: {error}", path.display()));
            dialects.add_toml(&text).map_err(bad)?;
        }
        Ok(dialects)
    }
}

fn parse_file<T: serde::de::DeserializeOwned>(
    path: &Path,
    max_bytes: u64,
    expected: &str,
) -> Result<T, Failure> {
    let text = side_file(path, max_bytes)?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::Usage(format!("{} holds no {expected}: {error}", path.display())))
}

/// Names, or a file of definitions.
fn load_tools(value: &str, max_bytes: u64) -> Result<ToolSet, Failure> {
    let path = Path::new(value);
    // No tool is called so: a file that is not there must not count as a name.
    let is_meant = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("json"));
    if !is_meant && !path.is_file() {
        return Ok(value.split(',').map(str::trim).filter(|name| !name.is_empty()).collect());
    }
    let names = ToolsOptions::tool_names(&side_file(path, max_bytes)?);
    names.map_err(|it| Failure::Usage(format!("{}: {it}", path.display())))
}

fn named<T: serde::de::DeserializeOwned>(word: &str) -> Result<T, String> {
    serde_json::from_value(serde_json::Value::from(word)).map_err(|error| error.to_string())
}
