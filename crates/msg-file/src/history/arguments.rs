//! Name and arguments of a call from its payload, and back (MF-31, MF-38).

use crate::model::cell::Cell;
use crate::syntax::fences::whole_fence;
use msg_core::ToolCall;
use msg_json::{TextState, classify, write_compact, write_str};
use msg_xml::{Call, Dialects, Fenced, Options, Segment, SegmentKind};
use std::sync::LazyLock;

/// Name and argument text of a call cell.
pub(crate) fn of(cell: &Cell) -> (String, String) {
    let payload = cell.payload();
    let name = cell.raw.said("name");
    if cell.attr("payload").as_deref() == Some("json") {
        let edge = |key| cell.edge(key).unwrap_or_default();
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
    if let Some((name, text)) = xml_call(payload) {
        return (Some(name), text);
    }
    let mut wrapped = b"{\"input\":".to_vec();
    write_str(&mut wrapped, payload);
    wrapped.push(b'}');
    (None, String::from_utf8(wrapped).expect("because JSON was written from a string"))
}

static OPTIONS: LazyLock<Options> = LazyLock::new(|| {
    let dialects = Dialects::by_names(["invoke"]).expect("because there is a dialect of that name");
    Options::new().with_fenced_tools(Fenced::Never).with_dialects(dialects)
});

/// Name and arguments of the one complete call that a payload holds beside blanks (MF-31).
fn xml_call(payload: &str) -> Option<(String, String)> {
    // Every dialect that this reads begins with a tag.
    if !payload.trim_start().starts_with('<') {
        return None;
    }
    let parsed = msg_xml::parse(payload.as_bytes(), None, &OPTIONS);
    let [Segment { kind: SegmentKind::Call(call), .. }] = parsed.segments.as_slice() else {
        return None;
    };
    let mut text = Vec::new();
    write_compact(&mut text, call.arguments().text());
    Some((call.tool_name().to_owned(), String::from_utf8(text).ok()?))
}

/// How a call's arguments stand in a body.
pub(crate) struct Payload {
    pub(crate) body: String,
    /// The body is the argument text as it stands, and is to be marked so.
    pub(crate) verbatim: bool,
}

/// The call as XML in a fence, if it reads back to the same argument text (MF-38).
fn xml(call: &ToolCall) -> Option<String> {
    let text = call.arguments.text();
    let rendered = msg_xml::render(&Call::new(call.name.as_str(), text)).ok()?;
    let body = fence("xml", &rendered);
    let (_, inner) = whole_fence(body.as_bytes())?;
    let (_, read) = xml_call(std::str::from_utf8(inner).ok()?)?;
    (read == text).then_some(body)
}

/// The body of a call cell: as XML, else the text itself in a fence where that reads back to the same text.
pub(crate) fn payload(call: &ToolCall) -> Payload {
    let text = call.arguments.text();
    if let Some(body) = xml(call) {
        return Payload { body, verbatim: false };
    }
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
