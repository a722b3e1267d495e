//! JSON forms of what is to be written: cells, messages (MF-52) and results (MF-56).

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use msg_core::{Code, Diagnostic, RawJson};
use msg_file::{CellRef, Entry, Kind, NewCell, Place, RunResult};
use msg_openai::{ReadOptions, chat};
use serde::Deserialize;
use serde_json::Value;

use super::request::bad_line;

/// A cell, all members optional.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CellForm {
    role: Option<Value>,
    kind: Option<String>,
    #[serde(rename = "type")]
    ty: Option<String>,
    title: Option<String>,
    id: Option<String>,
    of: Option<String>,
    level: Option<i64>,
    attributes: Option<RawJson>,
    body: Option<String>,
    body_b64: Option<String>,
    exact: bool,
}

/// Reads a cell, or a message in OpenAI form if it has a role.
pub(super) fn entry(json: &str) -> Result<Entry, Box<Diagnostic>> {
    let form: CellForm = serde_json::from_str(json).map_err(|it| bad_line(&it.to_string()))?;
    if form.role.is_some() {
        return message(json);
    }
    let kind = kind(form.kind.as_deref(), form.of.is_some(), form.ty.as_deref())?;
    let place = match (form.id, form.of) {
        (Some(id), _) => Place::Id(id),
        (None, Some(of)) => Place::Of(CellRef::from(of.as_str())),
        (None, None) => Place::Next,
    };
    let body = match (form.body, form.body_b64) {
        (Some(body), None) => body.into_bytes(),
        (None, Some(it)) => BASE64_STANDARD.decode(it).map_err(|it| bad_line(&it.to_string()))?,
        (None, None) => Vec::new(),
        _ => return Err(bad_line("body and body_b64 exclude each other")),
    };
    let level = form.level.map(|it| u8::try_from(it).unwrap_or(0));
    let attrs = form.attributes.as_ref().map_or(Ok(Vec::new()), attributes)?;
    Ok(Entry::Cell(NewCell {
        kind,
        ty: form.ty,
        title: form.title,
        place,
        level,
        attrs,
        body,
        exact: form.exact,
    }))
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
) -> Result<Kind, Box<Diagnostic>> {
    let ty = ty.unwrap_or_default().to_ascii_lowercase();
    match name {
        None if hangs || matches!(ty.as_str(), "tool" | "summary") => Ok(Kind::Output),
        None | Some("message") => Ok(Kind::Message),
        Some("output") => Ok(Kind::Output),
        Some(other) => {
            let text = format!("{other:?} is no kind of cell, only message and output are");
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

fn message(json: &str) -> Result<Entry, Box<Diagnostic>> {
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
    message.map(Entry::Message).ok_or_else(|| bad_line("it is no message"))
}

/// What running a code cell or a call gave.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ResultForm {
    pub(super) of: String,
    pub(super) stdout: Option<String>,
    pub(super) stderr: Option<String>,
    pub(super) streams: Vec<(String, String)>,
    pub(super) text: Option<String>,
    pub(super) data_b64: Option<String>,
    pub(super) mime_type: Option<String>,
    pub(super) status: Option<String>,
    pub(super) exit_code: Option<Value>,
    pub(super) error: Option<String>,
    pub(super) duration: Option<Value>,
    pub(super) time: Option<String>,
    pub(super) lang: Option<String>,
}

impl ResultForm {
    /// The cell that was run, and what it gave.
    pub(super) fn read(self) -> Result<(CellRef, RunResult), Box<Diagnostic>> {
        let whole = [("stdout", self.stdout), ("stderr", self.stderr)];
        let whole = whole.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?)));
        let data = self.data_b64.map(|it| BASE64_STANDARD.decode(it)).transpose();
        let result = RunResult {
            streams: whole.chain(self.streams).collect(),
            text: self.text,
            data: data.map_err(|it| bad_line(&it.to_string()))?,
            mime_type: self.mime_type,
            status: self.status,
            exit_code: self.exit_code.and_then(text),
            error: self.error,
            duration: self.duration.and_then(text),
            time: self.time,
            lang: self.lang,
        };
        Ok((CellRef::from(self.of.as_str()), result))
    }
}
