//! What is to be written, as JSON and as flags: cells, messages (MF-52) and results (MF-56).

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use msg_core::{Code, Diagnostic, RawJson};
use msg_file::{AppendEntry, CellMarker, CellRef, NewCell, NewId, RunResult};
use msg_openai::{ReadOptions, chat};
use serde::Deserialize;
use serde_json::Value;

use super::request::bad_line;

/// A cell: the flags of `append`, and the members of a line, all optional.
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
    /// The cell below which it hangs: a call, a result, an execution or a summary of it.
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
    /// The cell; its body is empty if there is none.
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

/// `message` or `output`; what is not said follows from where the cell hangs and what it is.
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

/// A value as an attribute holds it: text as it is, null as a flag, all else as JSON.
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

/// What running a code cell or a call gave: the flags of `run-result`, and the members of a line.
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
    /// The cell that was run, and what it gave.
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
