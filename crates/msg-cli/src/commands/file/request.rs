//! The input of a subcommand: a line of `--jsonl`, or a file and flags. Also the JSON and flags of what to write:
//! cells, messages (MF-52) and results.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use msg_core::{Code, Diagnostic, RawJson};
use msg_file::{
    AppendEntry, CellMarker, CellRef, Error, FileLimits, MessageFile, Mode, NewCell, NewId,
    RunResult,
};
use msg_openai::{ReadOptions, chat};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::input::{Input, LimitArgs, Sources};
use crate::jsonl;
use crate::jsonl::{Answer, LineArgs};
use crate::output::Output;

// No doc comment on the flattened struct: clap would use it as the help of the command.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct FileArgs {
    /// The message file; `-` is standard input, and so is nothing when input is piped.
    #[arg(value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// Answer in JSON.
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) limit: LimitArgs,
    #[command(flatten)]
    pub(super) lines: LineArgs,
}

/// The options of a line.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Options {
    pub(super) roundtrip: bool,
    pub(super) agent: Option<String>,
    pub(super) open: bool,
    pub(super) force: bool,
    pub(super) nonces: Option<Vec<String>>,
}

/// A line of `--jsonl` (MF-48).
#[derive(Debug, Deserialize)]
struct Line<'a> {
    text: Option<String>,
    input_b64: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    options: Option<&'a RawValue>,
    #[serde(borrow)]
    cells: Option<Vec<&'a RawValue>>,
    result: Option<ResultForm>,
}

/// A request about one document.
pub(super) struct Request {
    pub(super) bytes: Vec<u8>,
    pub(super) name: String,
    pub(super) options: Options,
    /// For `append`: cells and messages, as JSON.
    pub(super) cells: Option<Vec<String>>,
    /// For `run-result`.
    pub(super) result: Option<ResultForm>,
}

/// An answer, or the diagnostic in its place.
pub(super) type Answered = Result<Answer, Box<Diagnostic>>;

impl Request {
    fn of_line(line: &[u8]) -> Result<Self, Box<Diagnostic>> {
        let line: Line<'_> =
            serde_json::from_slice(line).map_err(|it| bad_line(&it.to_string()))?;
        let bytes = match (line.text, line.input_b64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(it)) => {
                BASE64_STANDARD.decode(it).map_err(|it| bad_line(&it.to_string()))?
            }
            _ => return Err(bad_line("expected one of text and input_b64")),
        };
        Ok(Request {
            bytes,
            name: line.name.unwrap_or_else(|| "x.msg.md".to_owned()),
            options: line.options.map(options).transpose()?.unwrap_or_default(),
            cells: line.cells.map(|it| it.iter().map(|it| it.get().to_owned()).collect()),
            result: line.result,
        })
    }

    /// The kind of file that the name indicates.
    pub(super) fn mode(&self) -> Mode {
        Mode::of(Path::new(&self.name))
    }

    /// The document.
    pub(super) fn document(&self) -> Result<MessageFile, Box<Diagnostic>> {
        MessageFile::read(self.bytes.as_slice(), self.mode(), &FileLimits::default())
            .map_err(refused)
    }
}

/// The options of a line; unknown ones are refused, as in other commands.
fn options(json: &RawValue) -> Result<Options, Box<Diagnostic>> {
    serde_json::from_str(json.get()).map_err(|it| {
        let text = format!("options are not understood: {it}");
        Box::new(Diagnostic::error(Code::new("cli::bad-option"), text))
    })
}

/// The error for an invalid line.
pub(super) fn bad_line(what: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(
        Code::new("cli::bad-line"),
        format!("the line is not understood: {what}"),
    ))
}

/// A refusal of the library as a diagnostic.
pub(super) fn refused(error: Error) -> Box<Diagnostic> {
    Box::new(error.diagnostic())
}

/// The same for a file: the failure of the run.
pub(in crate::commands) fn failed(error: Error, name: &str) -> Failure {
    failed_by(&error.diagnostic(), name)
}

/// A refusal of the file `name`.
pub(in crate::commands) fn failed_by(it: &Diagnostic, name: &str) -> Failure {
    Failure::Refused(format!("{name}: {} [{}]", it.message(), it.code))
}

impl FileArgs {
    /// Answers every line with `job`.
    pub(super) fn run_lines(
        &self,
        cx: &Context,
        job: impl Fn(Request) -> Answered + Sync,
    ) -> Result<Status, Failure> {
        let mut input = self.open()?;
        input.expect_lines()?;
        let job = |_: u64, line: &[u8]| Ok(job(Request::of_line(line)?)?);
        jsonl::run(cx, &self.lines, input, (&mut Output::stdout(), None), &jsonl::as_it_is, job)
    }

    /// Answers each line with `job`, or the file: as JSON with `job`, otherwise with `show` for people.
    pub(super) fn run(
        &self,
        cx: &Context,
        options: Options,
        job: impl Fn(Request) -> Answered + Sync,
        show: impl FnOnce(Request) -> Result<Status, Failure>,
    ) -> Result<Status, Failure> {
        if self.lines.jsonl {
            return self.run_lines(cx, job);
        }
        let request = self.request(options)?;
        if self.json { self.print_json(request, job) } else { show(request) }
    }

    fn open(&self) -> Result<Input, Failure> {
        self.lines.asked()?;
        Sources::find(self.file.as_slice(), self.limit.max_bytes)?.open_one()
    }

    /// The file as a request.
    pub(super) fn request(&self, options: Options) -> Result<Request, Failure> {
        let mut input = self.open()?;
        let bytes = input.read_all()?;
        let name = if input.path.is_some() { input.name } else { "x.msg.md".to_owned() };
        Ok(Request { bytes, name, options, cells: None, result: None })
    }

    /// The path of the file to change.
    pub(super) fn path(&self) -> Result<&Path, Failure> {
        let named = self.file.as_deref().filter(|it| it.as_os_str() != "-");
        named.ok_or_else(|| Failure::Usage("name the file to change".to_owned()))
    }

    /// Answers one request with `job` and prints the answer as JSON.
    pub(super) fn print_json(
        &self,
        request: Request,
        job: impl Fn(Request) -> Answered,
    ) -> Result<Status, Failure> {
        let name = request.name.clone();
        let answer = job(request).map_err(|it| failed_by(&it, &name))?;
        print(&answer.json)?;
        Ok(answer.status)
    }
}

/// Prints a line.
pub(super) fn print(line: &[u8]) -> Result<(), Failure> {
    let mut out = Output::stdout();
    out.write(line)?;
    out.write(b"\n")?;
    out.finish()
}

// The JSON and flags of what to write: cells, messages (MF-52) and results (MF-56).

/// A cell: the flags of `append`, and the optional members of a line.
#[derive(Debug, Clone, Default, clap::Args, Deserialize)]
#[serde(default)]
pub(super) struct CellForm {
    #[arg(skip)]
    role: Option<Value>,
    /// message or output [default: message; output with --of and for tool and summary].
    #[arg(long, conflicts_with = "jsonl")]
    kind: Option<String>,
    /// The type: markdown, code, an agent's name, tool, a language.
    #[arg(long = "type", value_name = "TYPE", conflicts_with = "jsonl")]
    #[serde(rename = "type")]
    ty: Option<String>,
    /// The title.
    #[arg(long, conflicts_with = "jsonl")]
    title: Option<String>,
    /// The id [default: the next number].
    #[arg(long, conflicts_with_all = ["of", "jsonl"])]
    id: Option<String>,
    /// The cell that it belongs to: a call, a result, an execution or a summary of it.
    #[arg(long, value_name = "ID", conflicts_with = "jsonl")]
    of: Option<String>,
    /// Number of #s, 1 to 5.
    #[arg(long, conflicts_with = "jsonl")]
    level: Option<i64>,
    /// An attribute, K=V, or K for a flag; may be repeated.
    #[arg(long = "attr", value_name = "K=V", conflicts_with = "jsonl")]
    #[serde(skip)]
    attrs: Vec<String>,
    #[arg(skip)]
    attributes: Option<RawJson>,
    /// Keep white space at the edges of the body.
    #[arg(long, conflicts_with = "jsonl")]
    exact: bool,
    /// The body; else standard input.
    #[arg(long, value_name = "TEXT", conflicts_with = "jsonl")]
    pub(super) body: Option<String>,
    #[arg(skip)]
    body_b64: Option<String>,
}

impl CellForm {
    /// The cell; an absent body is empty.
    pub(super) fn cell(self) -> Result<NewCell, Box<Diagnostic>> {
        let kind = kind(self.kind.as_deref(), self.of.is_some(), self.ty.as_deref())?;
        let place = match (self.id, self.of) {
            (Some(id), _) => NewId::Id(id),
            (None, Some(of)) => NewId::Of(CellRef::from(of.as_str())),
            (None, None) => NewId::Next,
        };
        let body = match (self.body, self.body_b64) {
            (Some(body), None) => body.into_bytes(),
            (None, Some(it)) => decoded(&it)?,
            (None, None) => Vec::new(),
            _ => return Err(bad_line("body and body_b64 exclude each other")),
        };
        let level = self.level.map(|it| u8::try_from(it).unwrap_or(0));
        let attrs = match &self.attributes {
            Some(it) => attributes(it)?,
            None => self.attrs.iter().map(|it| attribute(it)).collect(),
        };
        let (ty, title, exact) = (self.ty, self.title, self.exact);
        Ok(NewCell { kind, ty, title, place, level, attrs, body, exact })
    }
}

/// Reads a cell, or a message in OpenAI form if it has a role.
pub(super) fn entry(json: &str) -> Result<AppendEntry, Box<Diagnostic>> {
    let form: CellForm = serde_json::from_str(json).map_err(|it| bad_line(&it.to_string()))?;
    match form.role {
        Some(_) => message(json),
        None => form.cell().map(AppendEntry::Cell),
    }
}

fn decoded(base64: &str) -> Result<Vec<u8>, Box<Diagnostic>> {
    BASE64_STANDARD.decode(base64).map_err(|it| bad_line(&it.to_string()))
}

/// `K=V`, or `K` for a flag.
fn attribute(text: &str) -> (String, Option<String>) {
    match text.split_once('=') {
        Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
        None => (text.to_owned(), None),
    }
}

/// A list of pairs, or the members of an object in their order.
fn attributes(json: &RawJson) -> Result<Vec<(String, Option<String>)>, Box<Diagnostic>> {
    let bad = |it: serde_json::Error| bad_line(&it.to_string());
    let Some(members) = json.members() else { return json.parse().map_err(bad) };
    members.into_iter().map(|(key, it)| Ok((key, text(it.parse().map_err(bad)?)))).collect()
}

/// `message` or `output`; if not given, it follows from the parent and the type of the cell.
pub(super) fn kind(
    name: Option<&str>,
    hangs: bool,
    ty: Option<&str>,
) -> Result<CellMarker, Box<Diagnostic>> {
    let ty = ty.unwrap_or_default().to_ascii_lowercase();
    match name {
        None if hangs || matches!(ty.as_str(), "tool" | "summary") => Ok(CellMarker::Output),
        None | Some("message") => Ok(CellMarker::Message),
        Some("output") => Ok(CellMarker::Output),
        Some(other) => {
            let text = format!("{other:?} is not a kind of cell, expected message or output");
            Err(Box::new(Diagnostic::error(Code::new("msgfile::bad-cell"), text)))
        }
    }
}

/// A value as an attribute: text unchanged, null as a flag, everything else as JSON.
fn text(value: Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(it) => Some(it),
        other => Some(other.to_string()),
    }
}

fn message(json: &str) -> Result<AppendEntry, Box<Diagnostic>> {
    let list = format!("[{json}]");
    let (document, _) =
        chat::read(list.as_bytes(), &ReadOptions::new()).map_err(|it| match it {
            msg_openai::Error::Read(it) => Box::new(it.diagnostic()),
            other => bad_line(&other.to_string()),
        })?;
    let message = match document {
        chat::Document::List(list) => list.into_iter().next(),
        _ => None,
    };
    message.map(AppendEntry::Message).ok_or_else(|| bad_line("not a message"))
}

/// The output of a code cell or call: the flags of `run-result`, and the members of a line.
#[derive(Debug, Clone, Default, clap::Args, Deserialize)]
#[serde(default)]
pub(super) struct ResultForm {
    /// The code cell or call that was run: an id or #N.
    #[arg(long, value_name = "ID", required_unless_present = "jsonl", conflicts_with = "jsonl")]
    of: Option<String>,
    /// What went to standard output.
    #[arg(long, value_name = "TEXT", conflicts_with = "jsonl")]
    stdout: Option<String>,
    /// What went to standard error.
    #[arg(long, value_name = "TEXT", conflicts_with = "jsonl")]
    stderr: Option<String>,
    #[arg(skip)]
    streams: Vec<(String, String)>,
    /// The value, or the text of a call's result.
    #[arg(long, conflicts_with = "jsonl")]
    text: Option<String>,
    #[arg(skip)]
    data_b64: Option<String>,
    /// The media type of text or data.
    #[arg(long, value_name = "TYPE", conflicts_with = "jsonl")]
    mime_type: Option<String>,
    /// How it ended; else by exit code and error.
    #[arg(long, conflicts_with = "jsonl")]
    status: Option<String>,
    /// The exit code.
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with = "jsonl", value_parser = exit_code)]
    exit_code: Option<Value>,
    /// What went wrong.
    #[arg(long, value_name = "TEXT", conflicts_with = "jsonl")]
    error: Option<String>,
    /// How long it took: 0.5s, 500ms.
    #[arg(long, conflicts_with = "jsonl", value_parser = as_text)]
    duration: Option<Value>,
    /// When it ended, RFC 3339.
    #[arg(long, conflicts_with = "jsonl")]
    time: Option<String>,
    /// The language, if it is not the cell's.
    #[arg(long, conflicts_with = "jsonl")]
    lang: Option<String>,
}

fn exit_code(text: &str) -> Result<Value, std::num::ParseIntError> {
    text.parse::<i64>().map(Value::from)
}

fn as_text(text: &str) -> Result<Value, std::convert::Infallible> {
    Ok(Value::from(text))
}

impl ResultForm {
    /// The cell that was run, and its output.
    pub(super) fn read(self) -> Result<(CellRef, RunResult), Box<Diagnostic>> {
        let whole = [("stdout", self.stdout), ("stderr", self.stderr)];
        let whole = whole.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?)));
        let result = RunResult {
            streams: whole.chain(self.streams).collect(),
            text: self.text,
            data: self.data_b64.as_deref().map(decoded).transpose()?,
            mime_type: self.mime_type,
            status: self.status,
            exit_code: self.exit_code.and_then(text),
            error: self.error,
            duration: self.duration.and_then(text),
            time: self.time,
            lang: self.lang,
        };
        Ok((CellRef::from(self.of.unwrap_or_default().as_str()), result))
    }
}
