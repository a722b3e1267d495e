//! The flags of `msg tools`; a line's `options` are `msg-document`'s.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use msg_document::ToolsOptions;
use msg_xml::{ParseOptions, ToolSet};
use serde::Serialize;

use crate::exit::Failure;
use crate::input::side_file;
use crate::options::Flags;

// No doc comment: clap would show it as the text of the command.
#[derive(Debug, Clone, clap::Args, Serialize)]
pub(crate) struct ReadArgs {
    /// What becomes of thinking.
    #[arg(long, value_name = "WHAT", default_value = "extract", value_parser = ["extract", "drop", "off"])]
    thinking: String,
    /// The message begins inside thinking: the template has opened the tag.
    #[arg(long)]
    implicit_thinking: bool,
    /// What becomes of calls in code fences.
    #[arg(long, value_name = "WHEN", default_value = "fallback", value_parser = ["fallback", "never", "always"])]
    fenced_tools: String,
    /// Read only calls of these dialects and `<tool>` blocks: invoke, hermes, glm, qwen, cline, dsml, minimax, harmony,
    /// kimi, deepseek, llama, pythonic, mistral, fenced; or all, or none [default: all, with --jsonl none].
    #[arg(long, value_name = "A,B")]
    dialects: Option<String>,
    /// A TOML file that describes further dialects; each is on.
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    dialect_file: Vec<PathBuf>,
    /// The registered tools: names, or a JSON file of definitions.
    #[arg(long, value_name = "FILE|A,B")]
    #[serde(skip)]
    tools: Option<String>,
    /// Types of parameters: tool definitions, or an object from tool to JSON Schema.
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
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
    /// The options of these flags, with what the files hold that they name.
    ///
    /// Without `--dialects` one text is read with all of them, and lines with those that they name.
    pub(crate) fn load(&self, max_bytes: u64, is_lines: bool) -> Result<ToolsOptions, Failure> {
        let mut flags = self.clone();
        flags.dialects = match self.dialects.as_deref() {
            None if !is_lines => Some("all".to_owned()),
            Some("none") => Some(String::new()),
            given => given.map(str::to_owned),
        };
        let mut res: ToolsOptions = Flags::of(&flags).options()?;
        let read = Arc::make_mut(&mut res.read);
        if let Some(tools) = &self.tools {
            read.tools = load_tools(tools, max_bytes)?;
        }
        if let Some(path) = &self.schema {
            let expected = "tool definitions, or an object of JSON Schemas";
            read.schema = Some(Arc::new(parse_file(path, max_bytes, expected)?));
        }
        self.add_dialects(read, max_bytes)?;
        Ok(res)
    }

    fn add_dialects(&self, read: &mut ParseOptions, max_bytes: u64) -> Result<(), Failure> {
        for path in &self.dialect_file {
            let text = side_file(path, max_bytes)?;
            let bad =
                |error: msg_xml::Error| Failure::Usage(format!("{}: {error}", path.display()));
            read.dialects.add_toml(&text).map_err(bad)?;
        }
        Ok(())
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
