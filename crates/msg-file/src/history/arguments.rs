//! Name and arguments of a call from its payload, and back (MF-31, MF-38).

use crate::cell::Cell;
use crate::scan::whole_fence;
use msg_core::ToolCall;
use msg_core::json::{TextState, classify, write_str};

/// Name and argument text of a call cell.
pub(crate) fn of(cell: &Cell) -> (String, String) {
    let payload = cell.payload();
    let name = cell.attr("name").filter(|n| !n.is_empty()).map(|n| n.into_owned());
    if cell.attr("payload").as_deref() == Some("json") {
        let edge = |key| {
            let blank = |v: &str| v.chars().all(|c| matches!(c, ' ' | '\t' | '\r' | '\n'));
            cell.attr(key).filter(|v| blank(v)).unwrap_or_default()
        };
        let text = format!("{}{payload}{}", edge("lead"), edge("trail"));
        return (name.unwrap_or_else(|| UNKNOWN.to_owned()), text);
    }
    let (called, text) = read(&payload);
    (name.or(called).unwrap_or_else(|| UNKNOWN.to_owned()), text)
}

const UNKNOWN: &str = "unknown";

/// What a payload that is not marked as JSON says: a name, where it has one, and arguments.
fn read(payload: &str) -> (Option<String>, String) {
    let trimmed = payload.trim();
    if trimmed.is_empty() {
        return (None, "{}".to_owned());
    }
    if classify(payload) == TextState::Object {
        return (None, payload.to_owned());
    }
    let mut wrapped = b"{\"input\":".to_vec();
    write_str(&mut wrapped, payload);
    wrapped.push(b'}');
    (None, String::from_utf8(wrapped).expect("because JSON was written from a string"))
}

/// How a call's arguments stand in a body.
pub(crate) struct Payload {
    pub(crate) body: String,
    /// The body is the argument text as it stands, and is to be marked so.
    pub(crate) verbatim: bool,
}

/// The body of a call cell: in a fence where that reads back to the same text.
pub(crate) fn payload(call: &ToolCall) -> Payload {
    let text = call.arguments.text();
    let fenced = fence("json", text);
    let exact = !text.is_empty()
        && whole_fence(fenced.as_bytes()).is_some_and(|(_, inner)| inner == text.as_bytes());
    Payload { body: if exact { fenced } else { text.to_owned() }, verbatim: true }
}

/// A text in a fence that nothing in it closes.
fn fence(info: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest.max(2) + 1);
    format!("{ticks}{info}\n{text}\n{ticks}")
}
