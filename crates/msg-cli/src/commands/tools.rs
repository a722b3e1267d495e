//! `msg tools`: model text in; thinking, text and tool calls out. And the way back: calls, results and the
//! instructions that teach a model the format.
//!
//! `msg-document` reads and writes; this file has the flags and the text output.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use msg_core::{Diagnostic, RawJson};
use msg_document::{Format, Segmented, ToolsOptions, tools};
use msg_xml::{CallOrigin, Dialects, ParseOptions, Parsed, SegmentKind, ToolSet};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::commands::Command;
use crate::context::Context;
use crate::exit::{Failure, Status, refuse_if};
use crate::input::{LimitArgs, Sources, side_file};
use crate::jsonl::{Answer, LineArgs};
use crate::options::Flags;
use crate::output::{OutputArgs, PrettyArgs};
use crate::{jsonl, render};

/// Read model text: thinking, text and tool calls
///
/// The input is the text of one assistant message. With --jsonl each line is {"input":TEXT} or {"input_b64":BASE64},
/// with optional "options" (the options below, in snake case) and "stream_splits". A line {"call":…}, {"result":…} or
/// {"definitions":…} is written as text; {"result_text":…} is read.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg tools answer.txt
  msg tools --json --schema tools.json answer.txt
  msg tools --dialects harmony answer.txt
  msg tools --dialects hermes,qwen --finish-reason length answer.txt")]
pub(crate) struct Args {
    /// The text: a path, or - for standard input.
    #[arg(value_name = "FILE")]
    input: Option<PathBuf>,
    #[command(flatten)]
    limit: LimitArgs,
    #[command(flatten)]
    read: ReadArgs,
    /// The JSON form.
    #[arg(help_heading = "Output", long)]
    json: bool,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    pretty: PrettyArgs,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let is_lines = self.lines.asked()?;
        self.pretty.expect(self.json, "it needs --json")?;
        let sources = Sources::find(self.input.as_slice(), self.limit.max_bytes)?;
        let mut input = sources.open_one()?;
        let mut out = self.output.open(&sources)?;
        let base = self.read.load(self.limit.max_bytes, is_lines)?;
        if is_lines {
            input.expect_lines()?;
            let job = |_: u64, line: &[u8]| base.answer_line(line).map(Answer::from);
            let status =
                jsonl::run(cx, &self.lines, input, (&mut out, None), &jsonl::as_it_is, job)?;
            return out.finish().map(|()| status);
        }
        refuse_if(base.events && !self.json, "--events needs --json or --jsonl")?;
        let bytes = input.read_all()?;
        say_what_it_is(cx, &input.name, &bytes);
        let res = tools(&bytes, &base);
        let members =
            base.read.schema.as_ref().map_or_else(Vec::new, |schema| res.parsed.check(schema));
        self.print(cx, &input.name, &bytes, res, members, out)
    }
}

/// Advice about foreign syntax is written for a model; for people, names the option that reads it.
fn name_the_dialect(list: &mut [Diagnostic], bytes: &[u8]) {
    let Some(it) = list.iter_mut().find(|it| it.code.as_str() == "xml::foreign-tool-syntax") else {
        return;
    };
    let reads = |name: &&str| {
        let dialects = Dialects::by_names([*name]).expect("because it is one of the names");
        let read = ParseOptions::new().with_dialects(dialects);
        msg_xml::parse(bytes, None, &read).calls().next().is_some()
    };
    it.fix = Some(match Dialects::NAMES.into_iter().find(reads) {
        Some(name) => format!("this looks like {name}; use `--dialects {name}`").into(),
        None => "use `--dialects all` to read every dialect".into(),
    });
}

/// Notes that a conversation is read as one text, which is rarely intended.
fn say_what_it_is(cx: &Context, name: &str, bytes: &[u8]) {
    let is_json =
        bytes.trim_ascii_start().starts_with(b"{") || bytes.trim_ascii_start().starts_with(b"[");
    let Some(format) = Format::recognise(bytes, name).ok().filter(|it| is_json && it.is_json())
    else {
        return;
    };
    if msg_json::validate(&String::from_utf8_lossy(bytes)).is_ok() && !cx.quiet {
        cx.note(&format!(
            "msg: {name} is a conversation ({format}), and is read here as the text of one answer; `msg check --calls xml` reads calls in its messages\n"
        ));
    }
}

impl Args {
    /// `members`, the reports of the separate schema step, are only for people: `errors` has none of them.
    fn print(
        &self,
        cx: &Context,
        name: &str,
        bytes: &[u8],
        res: Segmented,
        members: Vec<Diagnostic>,
        mut out: crate::output::Output,
    ) -> Result<Status, Failure> {
        if self.json {
            out.write_json(res.to_json(), &self.pretty)?;
        } else {
            out.write(segments(&res.parsed).as_bytes())?;
        }
        out.finish()?;
        let status = Status::of(res.is_clean());
        let mut list = res.parsed.diagnostics;
        list.extend(members);
        name_the_dialect(&mut list, bytes);
        if !self.json && !cx.quiet && !list.is_empty() {
            list.sort_by_key(|it| it.at.start);
            cx.note(&render::in_source(&list, name, bytes, cx.color_err));
        }
        Ok(status)
    }
}

// The flags of `msg tools`; a line's `options` are `msg-document`'s.

// No doc comment: clap would show it as the text of the command.
#[derive(Debug, Clone, clap::Args, Serialize)]
pub(crate) struct ReadArgs {
    /// How to handle thinking.
    #[arg(long, value_name = "WHAT", default_value = "extract", value_parser = ["extract", "drop", "off"])]
    thinking: String,
    /// The text begins inside thinking, because the template opened the tag.
    #[arg(long)]
    implicit_thinking: bool,
    /// How to handle calls in code fences.
    #[arg(long, value_name = "WHEN", default_value = "fallback", value_parser = ["fallback", "never", "always"])]
    fenced_tools: String,
    #[arg(long, value_name = "A,B", help = format!(
        "Read only calls of these dialects and `<tool>` blocks: {}; or all, or none [default: all, with --jsonl none]",
        Dialects::NAMES.join(", ")
    ))]
    dialects: Option<String>,
    /// Read further dialects from a TOML file, and enable them.
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    dialect_file: Vec<PathBuf>,
    /// The registered tools: names, or definitions in a JSON file.
    #[arg(long, value_name = "FILE|A,B")]
    #[serde(skip)]
    tools: Option<String>,
    /// Types of parameters: tool definitions, or an object from tool to JSON Schema.
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    schema: Option<PathBuf>,
    /// Why the model stopped; `length` and the like mean that the text was cut off.
    #[arg(long, value_name = "R")]
    finish_reason: Option<String>,
    /// Feed N bytes at a time; 0 feeds everything at once. The result is the same.
    #[arg(long, value_name = "N", default_value_t = 0)]
    chunk: usize,
    /// The largest block that is kept, in bytes.
    #[arg(long, value_name = "N", value_parser = crate::words::count)]
    max_tool_bytes: Option<usize>,
    /// The deepest nesting of parameters.
    #[arg(long, value_name = "N")]
    max_depth: Option<usize>,
    /// Add the events of the stream to the JSON form.
    #[arg(long)]
    events: bool,
}

impl ReadArgs {
    /// The options of these flags, with the content of the files that they name.
    ///
    /// Without `--dialects`, a single text is read with all dialects, and lines with those that they name.
    pub(crate) fn load(&self, max_bytes: u64, is_lines: bool) -> Result<ToolsOptions, Failure> {
        let mut flags = self.clone();
        if flags.dialects.is_none() && !is_lines {
            flags.dialects = Some("all".to_owned());
        }
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
    serde_json::from_str(&text).map_err(|error| {
        Failure::Usage(format!("{}: expected {expected}: {error}", path.display()))
    })
}

/// Names, or a file of definitions.
fn load_tools(value: &str, max_bytes: u64) -> Result<ToolSet, Failure> {
    let path = Path::new(value);
    // A tool cannot have such a name: a missing file must not count as one.
    let is_meant = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("json"));
    if !is_meant && !path.is_file() {
        return Ok(value.split(',').map(str::trim).filter(|name| !name.is_empty()).collect());
    }
    let names = ToolsOptions::tool_names(&side_file(path, max_bytes)?);
    names.map_err(|it| Failure::Usage(format!("{}: {it}", path.display())))
}

// The text output of `msg tools`: segments, call arguments as an outline with one line per member, and multi-line texts
// as blocks. Only for reading; the JSON form is exact.

/// How many levels are laid out; deeper ones stay JSON. This keeps the work linear, because each level is read again.
const LEVELS: usize = 16;

/// The segments, each under a heading with its kind and place.
fn segments(parsed: &Parsed) -> String {
    let mut out = String::new();
    for segment in &parsed.segments {
        if !out.is_empty() {
            out.push('\n');
        }
        let (title, body) = match &segment.kind {
            SegmentKind::Text(text) => ("text".to_owned(), block(text, 1)),
            SegmentKind::Thinking { text, .. } => ("thinking".to_owned(), block(text, 1)),
            SegmentKind::Call(call) => (
                title("call", Some(call.tool_name()), call.server_name(), call.origin()),
                arguments(call.arguments().text()),
            ),
            SegmentKind::Partial(call) => (
                title("incomplete call", call.tool_name(), call.server_name(), call.origin()),
                arguments(call.arguments().text()),
            ),
        };
        let (start, end) = (segment.span.start, segment.span.end);
        let _ = write!(out, "{title}, bytes {start} to {end}\n{body}");
    }
    out
}

/// `call read at github (hermes, fenced)`.
fn title(kind: &str, tool: Option<&str>, server: &str, origin: &CallOrigin) -> String {
    let mut out = format!("{kind} {}", render::safe(tool.unwrap_or("without a name")));
    if server != "local" {
        let _ = write!(out, " at {}", render::safe(server));
    }
    let notes: Vec<&str> = [
        origin.format.as_deref(),
        origin.fenced.then_some("fenced"),
        origin.recovered.then_some("recovered"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !notes.is_empty() {
        let _ = write!(out, " ({})", notes.join(", "));
    }
    out
}

fn arguments(json: &str) -> String {
    let mut out = String::new();
    match members_of(json) {
        Some(list) => members(&list, 1, &mut out),
        None => out = block(json, 1),
    }
    out
}

/// The members of an object in order, with values as spelled.
fn members_of(json: &str) -> Option<Vec<(String, RawJson)>> {
    RawJson::new(json).ok()?.members()
}

fn members(list: &[(String, RawJson)], level: usize, out: &mut String) {
    for (key, value) in list {
        indent(level, out);
        let plain =
            !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
        if plain {
            out.push_str(key);
        } else {
            out.push_str(&quoted(key));
        }
        out.push(':');
        after_mark(value.text(), level, out);
    }
}

/// A value after `key:` or `-`, with its line end.
fn after_mark(json: &str, level: usize, out: &mut String) {
    if level < LEVELS {
        if let Some(list) = members_of(json).filter(|it| !it.is_empty()) {
            out.push('\n');
            return members(&list, level + 1, out);
        }
        if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(json)
            && !items.is_empty()
        {
            out.push('\n');
            return items.iter().for_each(|item| entry(item.get(), level + 1, out));
        }
        if let Some(text) = lines(json) {
            let end = match text.strip_suffix('\n') {
                None => " |-\n",
                Some(rest) if rest.ends_with('\n') => " |+\n",
                Some(_) => " |\n",
            };
            out.push_str(end);
            out.push_str(&block(&text, level + 1));
            return;
        }
    }
    let _ = writeln!(out, " {}", render::safe(json));
}

/// A list item: the members of an object begin on the line of the dash.
fn entry(json: &str, level: usize, out: &mut String) {
    match members_of(json) {
        Some(list) if !list.is_empty() && level < LEVELS => {
            let start = out.len() + 2 * level;
            members(&list, level + 1, out);
            out.replace_range(start..start + 2, "- ");
        }
        _ => {
            indent(level, out);
            out.push('-');
            after_mark(json, level, out);
        }
    }
}

/// The text of a multi-line string that can be shown verbatim.
fn lines(json: &str) -> Option<String> {
    let text: String = serde_json::from_str(json).ok()?;
    let fits =
        text.contains('\n') && !text.contains(|c: char| c.is_control() && c != '\n' && c != '\t');
    fits.then_some(text)
}

fn quoted(key: &str) -> String {
    render::safe(&serde_json::Value::from(key).to_string())
}

/// The lines of a text, indented; tabs are kept.
fn block(text: &str, level: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if !line.is_empty() {
            indent(level, &mut out);
        }
        let cells: Vec<String> = line.split('\t').map(render::safe).collect();
        let _ = writeln!(out, "{}", cells.join("\t"));
    }
    out
}

fn indent(level: usize, out: &mut String) {
    (0..level).for_each(|_| out.push_str("  "));
}
