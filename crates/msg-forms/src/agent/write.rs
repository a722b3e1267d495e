//! Messages to the agent form (MS-13), straight into the bytes.

use super::{
    AgentForm, call, sdk,
    shape::{Body, Shape, is_json, is_plain_image, shapes},
};
use crate::losses::Losses;
use msg_core::{Extra, Image, Message, Origin, Part, Report, native};
use msg_json::Writer;

/// Appends a list of agent messages in the shapes of a form (MS-11, MS-12), and reports what it cannot hold
/// (MS-24).
///
/// ```
/// use msg_core::Message;
/// use msg_forms::{agent, agent::AgentForm};
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
    Writer::new(out).list(|list| {
        for (at, message) in messages.iter().enumerate() {
            let mut losses = Losses::new(&mut report, at);
            match form {
                AgentForm::Document => {
                    shapes(message, &mut losses).iter().for_each(|it| write_shape(it, list));
                }
                AgentForm::Sdk => sdk::write_message(message, &mut losses, list),
            }
        }
    });
    report
}

fn write_shape(shape: &Shape<'_>, list: &mut Writer<'_>) {
    list.object(|it| {
        it.key("role").str(shape.role.as_str());
        it.key("content").object(|it| write_body(&shape.content, it));
        write_text(it, "name", shape.name);
        write_text(it, "tool_call_id", shape.tool_call_id);
        if let Some(owner) = shape.owner {
            // The id of a message that answers no call is carried; it stands where the id stands.
            let carried = owner.extra.get(&Origin::Agent, "tool_call_id");
            if let (None, Some(id)) = (shape.tool_call_id, carried) {
                it.key("tool_call_id").compact(id.text());
            }
            write_unknown(&owner.extra, &["role", "content", "name", "tool_call_id"], it);
        }
    });
}

fn write_body(body: &Body<'_>, out: &mut Writer<'_>) {
    match body {
        Body::Text(text) => out.key("Text").str(text),
        Body::ToolCalls(calls) => {
            out.key("ToolCalls").array(calls, |it, call| call::write(call, it));
        }
        Body::ToolResult(text, extra) => out.key("ToolResult").object(|it| {
            it.key("content").str(text);
            if let Some(extra) = extra {
                write_unknown(extra, &["content"], it);
            }
        }),
        Body::MultiPart(parts) => {
            out.key("MultiPart").array(parts, |it, part| write_part(part, it));
        }
    }
}

fn write_part(part: &Part, list: &mut Writer<'_>) {
    list.object(|out| match part {
        Part::Text(it) => out.key("Text").str(&it.text),
        Part::ToolCall(it) => call::write(it, out.key("ToolCall")),
        Part::Image(it) if is_plain_image(part) => write_image(it, out.key("Image")),
        Part::Other(it) if is_json(part) => out.key("Json").compact(it.value.text()),
        _ => out.key("Other").value(|out| native::write_part(part, out)),
    });
}

fn write_image(image: &Image, out: &mut Writer<'_>) {
    out.object(|it| {
        it.key("url").str(image.url.as_deref().unwrap_or_default());
        write_text(it, "detail", image.detail.as_deref());
        write_unknown(&image.extra, &["url", "detail"], it);
    });
}

fn write_text(out: &mut Writer<'_>, name: &str, text: Option<&str>) {
    if let Some(text) = text {
        out.key(name).str(text);
    }
}

/// The members that this form had and the model does not know, behind those that it knows.
pub(super) fn write_unknown(extra: &Extra, known: &[&str], out: &mut Writer<'_>) {
    for (name, value) in extra.iter(&Origin::Agent).filter(|it| !known.contains(&it.0)) {
        out.key(name).compact(value.text());
    }
}
