//! Texts that stand for outputs: data in brackets, executions with their heading line (MF-30, MF-32).

use crate::model::cell::Cell;
use crate::model::content::{BASE64, Encoding, Status, is_text_type};
use crate::model::kinds::CellKind;
use base64::Engine as _;
use msg_core::{Content, Image, Part};

/// What stands for data that is no text: `[MIME, N bytes]`, `[MIME in FILE]`, `[MIME, unreadable]`.
pub(super) fn bracket(cell: &Cell) -> String {
    let mime = cell.mime_type();
    match (cell.attr("output_file"), cell.data()) {
        (Some(path), _) => format!("[{mime} in {path}]"),
        (None, Some(data)) => format!("[{mime}, {} bytes]", data.len()),
        (None, None) => format!("[{mime}, unreadable]"),
    }
}

/// The text of an output, data decoded or bracketed.
pub(super) fn output_text(cell: &Cell) -> String {
    if cell.has_attr("output_file") {
        return bracket(cell);
    }
    if cell.encoding() == Encoding::Utf8 {
        return cell.content().into_owned();
    }
    match cell.data() {
        Some(data) if is_text_type(&cell.mime_type()) => {
            String::from_utf8_lossy(&data).into_owned()
        }
        _ => bracket(cell),
    }
}

/// The parts of an execution's message (MF-32). `summary` stands for the content where it is given.
pub(super) fn execution(cell: &Cell, summary: Option<String>) -> Vec<Part> {
    let head = heading(cell);
    if summary.is_none()
        && let Some(url) = image_url(cell)
    {
        return vec![Part::text(head), Part::Image(Image::from_url(url))];
    }
    let content = summary.unwrap_or_else(|| {
        let empty = cell.body().is_empty() && cell.content().is_empty();
        if empty && !cell.has_attr("output_file") { String::new() } else { output_text(cell) }
    });
    let content = if content.is_empty() { "(no output)" } else { &content };
    vec![Part::text(format!("{head}\n{content}"))]
}

/// `Output of REF (LANG, STATUS, exit code N):`
fn heading(cell: &Cell) -> String {
    let mut notes: Vec<String> = cell.type_name().map(|t| t.into_owned()).into_iter().collect();
    if let Some(status) = cell.attr("status") {
        notes.push(match Status::of(&status) {
            Status::Other => status.into_owned(),
            known => known.as_str().to_owned(),
        });
    }
    if let Some(code) = cell.attr("exit_code") {
        notes.push(format!("exit code {code}"));
    }
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    format!("Output of {}{notes}:", cell.reference())
}

fn image_url(cell: &Cell) -> Option<String> {
    let mime = cell.mime_type();
    let inline = mime.starts_with("image/")
        && cell.encoding() == Encoding::Base64
        && !cell.has_attr("output_file");
    let data = inline.then(|| cell.data()).flatten().filter(|d| !d.is_empty())?;
    Some(format!("data:{mime};base64,{}", BASE64.encode(data)))
}

/// The content of the results that answer one call, and the one among them that gives name and status.
pub(super) fn results(used: &[&Cell], text: impl Fn(&Cell) -> String) -> Content {
    let texts: Vec<String> = used.iter().map(|c| text(c)).collect();
    Content::from(texts.join("\n\n"))
}

/// Whether a result stands for one that is still to come.
pub(super) fn is_pending(cell: &Cell) -> bool {
    cell.status() == Some(Status::Pending)
}

/// The text of a result: its content, or the `error` attribute where there is none.
pub(super) fn result_text(cell: &Cell) -> String {
    let text = output_text(cell);
    if text.is_empty() { cell.attr("error").unwrap_or_default().into_owned() } else { text }
}

/// The number of a result or display, for ordering.
pub(super) fn number(cell: &Cell) -> u32 {
    match &cell.kind {
        CellKind::ToolResult(it) | CellKind::ExecDisplay(it) => it.n.unwrap_or(0),
        _ => 0,
    }
}
