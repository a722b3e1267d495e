//! What running a code cell or a call gave, as cells (MF-56). Nothing is run here.

use crate::document::{CellRef, Document};
use crate::error::Error;
use crate::model::cell::Cell;
use crate::model::content::{BASE64, Status, is_text_type};
use crate::model::kinds::CellKind;
use crate::render::{NewCell, Place};
use crate::syntax::fences::whole_fence;
use crate::syntax::grammar;
use base64::Engine as _;

/// What running a code cell or a call gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunResult {
    /// What went to standard output and error, in order: the name of the stream and a piece of it.
    pub streams: Vec<(String, String)>,
    /// The value, or the text of a call's result.
    pub text: Option<String>,
    /// The value as bytes.
    pub data: Option<Vec<u8>>,
    /// The media type of text or data; `text/plain` if absent.
    pub mime_type: Option<String>,
    /// How it ended; else by `exit_code` and `error`.
    pub status: Option<String>,
    /// The exit code of a process.
    pub exit_code: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// How long it took: `0.5s`, `500ms`.
    pub duration: Option<String>,
    /// When it ended, RFC 3339.
    pub time: Option<String>,
    /// The language, if it is not the cell's.
    pub lang: Option<String>,
}

/// The cells that record a result below the cell `of`.
///
/// # Errors
/// [`Error::Refused`]: `no-such-cell` if `of` is neither a code cell nor a call, `bad-cell` for a
/// stream that is neither `stdout` nor `stderr`.
///
/// ```
/// use msg_file::{CellRef, Document, Mode, RunResult, run_cells};
/// let doc = Document::parse(&b"# %% [^1]\n\n[^1]: [code]\n\n```sh\nls\n```\n"[..], Mode::MessageFile)?;
/// let result = RunResult { streams: vec![("stdout".into(), "a\nb".into())], ..RunResult::default() };
/// let cells = run_cells(&doc, &CellRef::from("1"), &result)?;
/// assert_eq!(cells[0].body, b"stdout> a\nstdout> b");
/// # Ok::<(), msg_file::Error>(())
/// ```
pub fn run_cells(doc: &Document, of: &CellRef, result: &RunResult) -> Result<Vec<NewCell>, Error> {
    let none =
        || Error::refused("msgfile::no-such-cell", "there is no code cell or call of that id");
    let parent = doc.cell(of).ok_or_else(none)?;
    let of = CellRef::Ordinal(parent.ordinal());
    match parent.kind() {
        CellKind::Code(_) => executed(parent, of, doc.cells().len(), result),
        CellKind::ToolCall(_) => Ok(vec![called(of, result)]),
        _ => Err(none()),
    }
}

const PLAIN: &str = "text/plain";
const BYTES: &str = "application/octet-stream";

impl RunResult {
    fn status(&self) -> String {
        let code = self.exit_code.as_deref().map(Status::of);
        match (&self.status, code, &self.error) {
            (Some(status), ..) => status.clone(),
            (None, None | Some(Status::Success), None) => "success".to_owned(),
            _ => "failure".to_owned(),
        }
    }

    /// The media type; of bytes that nobody named one for, that of any bytes.
    fn mime(&self) -> &str {
        let absent = if self.data.is_some() { BYTES } else { PLAIN };
        self.mime_type.as_deref().filter(|m| !m.trim().is_empty()).unwrap_or(absent)
    }

    /// A cell with the attributes in their order; `mime` and `encoding` where they are to be said.
    fn cell(
        &self,
        ty: &str,
        of: CellRef,
        mime: Option<&str>,
        encoding: Option<&str>,
        no_eol: &str,
    ) -> NewCell {
        let mut cell = NewCell { place: Place::Of(of), ..NewCell::output(ty, "") };
        let status = self.status();
        let attrs = [
            ("time", self.time.as_deref()),
            ("status", Some(status.as_str())),
            ("duration", self.duration.as_deref()),
            ("mime_type", mime),
            ("encoding", encoding),
            ("no_eol", Some(no_eol).filter(|n| !n.is_empty())),
            ("exit_code", self.exit_code.as_deref()),
            ("error", self.error.as_deref()),
        ];
        for (key, value) in attrs {
            if let Some(value) = value {
                cell = cell.with_attr(key, value);
            }
        }
        cell
    }
}

/// The result of a call.
fn called(of: CellRef, result: &RunResult) -> NewCell {
    let mime = result.mime();
    let text = result
        .text
        .clone()
        .unwrap_or_else(|| result.streams.iter().map(|s| s.1.as_str()).collect());
    let fenced = whole_fence(text.as_bytes()).is_some();
    let as_text = result.data.is_none() && !fenced && is_text_type(&mime.to_ascii_lowercase());
    let said = Some(mime).filter(|m| *m != PLAIN);
    if as_text {
        return NewCell {
            body: text.into_bytes(),
            exact: true,
            ..result.cell("tool", of, said, None, "")
        };
    }
    let data = result.data.clone().unwrap_or_else(|| text.into_bytes());
    NewCell {
        body: wrapped(&data),
        exact: true,
        ..result.cell("tool", of, said, base64_of(mime), "")
    }
}

/// `encoding` is said where the type would be read as text.
fn base64_of(mime: &str) -> Option<&'static str> {
    is_text_type(&mime.to_ascii_lowercase()).then_some("base64")
}

/// Base64 in lines of 76 characters.
fn wrapped(data: &[u8]) -> Vec<u8> {
    let text = BASE64.encode(data).into_bytes();
    text.chunks(76).collect::<Vec<_>>().join(&b'\n')
}

/// The execution of a code cell, and displays below it for what its body cannot hold.
fn executed(
    parent: &Cell,
    of: CellRef,
    cells: usize,
    result: &RunResult,
) -> Result<Vec<NewCell>, Error> {
    let lang = result.lang.clone().filter(|l| !l.is_empty()).or_else(|| parent.code_block().lang);
    let lang =
        lang.filter(|l| crate::render::check_type(l).is_ok()).unwrap_or_else(|| "lang".to_owned());
    let (body, no_eol) = stream_lines(&result.streams)?;
    let mime = result.mime();
    let alone = body.is_empty();
    // The streams stand in the execution; data and other types beside them in a display below it.
    let displays = |cell: NewCell| {
        let first = result.cell(&lang, of.clone(), Some(PLAIN), None, &no_eol);
        let below = NewCell { place: Place::Of(CellRef::Ordinal(cells + 1)), ..cell };
        vec![NewCell { body: body.clone(), ..first }, below]
    };
    let display = |mime: &str, encoding| {
        let cell = NewCell::output(lang.clone(), "").with_attr("mime_type", mime);
        match encoding {
            Some(encoding) => cell.with_attr("encoding", encoding),
            None => cell,
        }
    };
    let text_type = is_text_type(&mime.to_ascii_lowercase());
    let data = match (&result.data, &result.text) {
        (Some(data), None) => Some(data.clone()),
        (None, Some(text)) if !text_type => Some(text.clone().into_bytes()),
        _ => None,
    };
    if let Some(data) = data {
        let (body, encoding) = (wrapped(&data), base64_of(mime));
        return Ok(if alone {
            vec![NewCell { body, ..result.cell(&lang, of.clone(), Some(mime), encoding, "") }]
        } else {
            displays(NewCell { body, ..display(mime, encoding) })
        });
    }
    let Some(text) = result.text.as_deref().filter(|t| !t.is_empty()) else {
        let plain = result.cell(&lang, of, Some(if alone { mime } else { PLAIN }), None, &no_eol);
        return Ok(vec![NewCell { body, ..plain }]);
    };
    // Where both are given, the media type is that of the data.
    let mime_of_text = if result.data.is_some() { PLAIN } else { mime };
    let mut all = if mime_of_text != PLAIN && alone {
        vec![NewCell {
            body: text.as_bytes().to_vec(),
            exact: true,
            ..result.cell(&lang, of.clone(), Some(mime), None, "")
        }]
    } else if mime_of_text != PLAIN
        || looks_like_stream(text)
        || (alone && whole_fence(text.as_bytes()).is_some())
    {
        displays(NewCell {
            body: text.as_bytes().to_vec(),
            exact: true,
            ..display(mime_of_text, None)
        })
    } else {
        let mut both = body.clone();
        if !both.is_empty() {
            both.extend_from_slice(b"\n\n");
        }
        both.extend_from_slice(text.as_bytes());
        vec![NewCell { body: both, ..result.cell(&lang, of.clone(), Some(PLAIN), None, &no_eol) }]
    };
    if let Some(data) = &result.data {
        let below = Place::Of(CellRef::Ordinal(cells + 1));
        all.push(NewCell { body: wrapped(data), place: below, ..display(mime, base64_of(mime)) });
    }
    Ok(all)
}

fn looks_like_stream(text: &str) -> bool {
    text.lines().any(|l| grammar::stream_line(l.as_bytes()).is_some())
}

/// Lines of the streams in the order in which they were completed, left-overs last, and the names of
/// the streams that do not end with a newline.
fn stream_lines(streams: &[(String, String)]) -> Result<(Vec<u8>, String), Error> {
    let mut open: [(&str, String); 2] = [("stdout", String::new()), ("stderr", String::new())];
    let mut lines: Vec<String> = Vec::new();
    for (name, chunk) in streams {
        let Some((name, rest)) = open.iter_mut().find(|(n, _)| n == name) else {
            return Err(Error::refused(
                "msgfile::bad-cell",
                format!("{name:?} is no stream, only stdout and stderr are"),
            ));
        };
        for piece in chunk.split_inclusive('\n') {
            rest.push_str(piece);
            if let Some(line) = rest.strip_suffix('\n') {
                lines.push(stream_line(name, line));
                rest.clear();
            }
        }
    }
    let mut no_eol = Vec::new();
    for (name, rest) in open.iter().filter(|(_, rest)| !rest.is_empty()) {
        lines.push(stream_line(name, rest));
        no_eol.push(*name);
    }
    Ok((lines.join("\n").into_bytes(), no_eol.join(",")))
}

fn stream_line(name: &str, content: &str) -> String {
    if content.is_empty() { format!("{name}>") } else { format!("{name}> {content}") }
}
