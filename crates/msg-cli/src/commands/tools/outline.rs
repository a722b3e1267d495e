//! What `msg tools` prints for people: the segments, the arguments of a call as an outline with a line a member and
//! texts of several lines as blocks. It is for the eye; what has to be exact is the JSON form.

use std::fmt::Write;

use msg_core::RawJson;
use msg_xml::{CallOrigin, Parsed, SegmentKind};
use serde_json::value::RawValue;

use crate::render;

/// Levels that are laid out; what lies deeper stays JSON. It keeps the work linear, for each level is read again.
const LEVELS: usize = 16;

/// The segments, each under a line that says what it is and where it was.
pub(super) fn segments(parsed: &Parsed) -> String {
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

/// The members of an object in their order, values as they are spelled.
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

/// An item of a list: the members of an object begin on the line of the dash.
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

/// A text of several lines that can be shown as it is.
fn lines(json: &str) -> Option<String> {
    let text: String = serde_json::from_str(json).ok()?;
    let fits =
        text.contains('\n') && !text.contains(|c: char| c.is_control() && c != '\n' && c != '\t');
    fits.then_some(text)
}

fn quoted(key: &str) -> String {
    render::safe(&serde_json::Value::from(key).to_string())
}

/// The lines of a text, indented; tabs stay.
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
