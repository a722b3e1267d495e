//! Messages to the agent form (MS-13), straight into the bytes.

use super::{
    AgentForm, call, sdk,
    shape::{Body, Shape, is_json, is_plain_image, shapes},
};
use crate::{
    Extra, Image, Message, Origin, Part, Report,
    json::{write_member_name, write_str},
    losses::Losses,
    native,
};

/// Appends a list of agent messages in the shapes of a form (MS-11, MS-12), and reports what it cannot hold
/// (MS-24).
///
/// ```
/// use msg_core::{Message, agent, agent::AgentForm};
/// let mut json = Vec::new();
/// let report = agent::write(&[Message::user("Hello")], AgentForm::Document, &mut json);
/// assert_eq!(json, br#"[{"role":"User","content":{"Text":"Hello"}}]"#);
/// assert!(report.is_empty());
///
/// json.clear();
/// agent::write(&[Message::user("Hello")], AgentForm::Sdk, &mut json);
/// assert_eq!(json, br#"[{"role":"User","content":{"type":"Text","value":"Hello"}}]"#);
/// ```
pub fn write(messages: &[Message], form: AgentForm, out: &mut Vec<u8>) -> Report {
    let mut report = Report::default();
    out.push(b'[');
    let start = out.len();
    for (at, message) in messages.iter().enumerate() {
        let mut losses = Losses::new(&mut report, at);
        match form {
            AgentForm::Document => {
                for shape in shapes(message, &mut losses) {
                    separate(out, start);
                    write_shape(&shape, out);
                }
            }
            AgentForm::Sdk => sdk::write_message(message, &mut losses, start, out),
        }
    }
    out.push(b']');
    report
}

/// A comma, unless nothing was written behind `start`.
pub(super) fn separate(out: &mut Vec<u8>, start: usize) {
    if out.len() > start {
        out.push(b',');
    }
}

fn write_shape(shape: &Shape<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"role\":\"");
    out.extend_from_slice(shape.role.as_str().as_bytes());
    out.extend_from_slice(b"\",\"content\":");
    write_body(&shape.content, out);
    write_member(out, "name", shape.name);
    write_member(out, "tool_call_id", shape.tool_call_id);
    if let Some(owner) = shape.owner {
        // The id of a message that answers no call is carried; it stands where the id stands.
        let carried = owner.extra.get(&Origin::Agent, "tool_call_id");
        if let (None, Some(id)) = (shape.tool_call_id, carried) {
            out.push(b',');
            write_member_name(out, "tool_call_id");
            id.write_compact(out);
        }
        write_unknown(&owner.extra, &["role", "content", "name", "tool_call_id"], out);
    }
    out.push(b'}');
}

fn write_body(body: &Body<'_>, out: &mut Vec<u8>) {
    match body {
        Body::Text(text) => {
            out.extend_from_slice(b"{\"Text\":");
            write_str(out, text);
        }
        Body::ToolCalls(calls) => {
            out.extend_from_slice(b"{\"ToolCalls\":[");
            for (n, it) in calls.iter().enumerate() {
                if n > 0 {
                    out.push(b',');
                }
                call::write(it, out);
            }
            out.push(b']');
        }
        Body::ToolResult(text, extra) => {
            out.extend_from_slice(b"{\"ToolResult\":{\"content\":");
            write_str(out, text);
            if let Some(extra) = extra {
                write_unknown(extra, &["content"], out);
            }
            out.push(b'}');
        }
        Body::MultiPart(parts) => {
            out.extend_from_slice(b"{\"MultiPart\":[");
            for (n, it) in parts.iter().enumerate() {
                if n > 0 {
                    out.push(b',');
                }
                write_part(it, out);
            }
            out.push(b']');
        }
    }
    out.push(b'}');
}

fn write_part(part: &Part, out: &mut Vec<u8>) {
    match part {
        Part::Text(it) => {
            out.extend_from_slice(b"{\"Text\":");
            write_str(out, &it.text);
        }
        Part::ToolCall(it) => {
            out.extend_from_slice(b"{\"ToolCall\":");
            call::write(it, out);
        }
        Part::Image(it) if is_plain_image(part) => write_image(it, out),
        Part::Other(it) if is_json(part) => {
            out.extend_from_slice(b"{\"Json\":");
            it.value.write_compact(out);
        }
        _ => {
            out.extend_from_slice(b"{\"Other\":");
            native::write_part(part, out);
        }
    }
    out.push(b'}');
}

fn write_image(image: &Image, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"Image\":{\"url\":");
    write_str(out, image.url.as_deref().unwrap_or_default());
    write_member(out, "detail", image.detail.as_deref());
    write_unknown(&image.extra, &["url", "detail"], out);
    out.push(b'}');
}

pub(super) fn write_member(out: &mut Vec<u8>, name: &str, text: Option<&str>) {
    if let Some(text) = text {
        out.push(b',');
        write_member_name(out, name);
        write_str(out, text);
    }
}

/// The members that this form had and the model does not know, behind those that it knows.
pub(super) fn write_unknown(extra: &Extra, known: &[&str], out: &mut Vec<u8>) {
    for (name, value) in extra.iter(&Origin::Agent).filter(|it| !known.contains(&it.0)) {
        out.push(b',');
        write_member_name(out, name);
        value.write_compact(out);
    }
}
