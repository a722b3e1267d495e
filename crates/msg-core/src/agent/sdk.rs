//! Messages in the shapes that the released SDK stores (MS-12): fewer, so that more is lost.

use super::{
    MessageRole, call, metadata,
    shape::{call_losses, is_json, join, message_role},
    write::{separate, write_unknown},
};
use crate::{
    CallKind, Message, Origin, Part, ToolCall, ToolResult, json::write_str, losses::Losses,
};

/// Appends the messages that a message becomes, with commas before all but the one at `start`.
pub(super) fn write_message(
    message: &Message,
    losses: &mut Losses<'_>,
    start: usize,
    out: &mut Vec<u8>,
) {
    let role = message_role(&message.role, losses);
    losses.extra(&message.extra, Some(&Origin::Agent));
    losses.taken(&message.extra, &Origin::Agent, &["role", "content"]);
    if message.name.is_some() {
        losses.member("name", "messages of the SDK");
    }
    if role == MessageRole::Tool {
        return write_results(message, losses, start, out);
    }
    separate(out, start);
    open(role, out);
    if message.tool_calls().next().is_some() {
        write_calls(message, losses, out);
    } else if let [Part::Other(it)] = message.parts.as_slice()
        && is_json(&message.parts[0])
    {
        out.extend_from_slice(b"{\"type\":\"Json\",\"value\":");
        it.value.write_compact(out);
        out.push(b'}');
    } else {
        write_texts(&message.parts, losses, out);
    }
    close(None, Some(message), out);
}

fn open(role: MessageRole, out: &mut Vec<u8>) {
    let word = if role == MessageRole::Assistant { "Agent" } else { role.as_str() };
    out.extend_from_slice(b"{\"role\":\"");
    out.extend_from_slice(word.as_bytes());
    out.extend_from_slice(b"\",\"content\":");
}

fn close(tool_call_id: Option<&str>, owner: Option<&Message>, out: &mut Vec<u8>) {
    let rest = owner.and_then(|it| it.extra.get(&Origin::Agent, "metadata"));
    metadata::write(tool_call_id, rest, out);
    if let Some(owner) = owner {
        write_unknown(&owner.extra, &["role", "content", "metadata"], out);
    }
    out.push(b'}');
}

/// The calls as JSON, which leaves no room for anything beside them.
fn write_calls(message: &Message, losses: &mut Losses<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"type\":\"Json\",\"value\":{\"tool_calls\":[");
    let start = out.len();
    for (at, part) in message.parts.iter().enumerate() {
        losses.at_part(Some(at));
        match part {
            Part::ToolCall(it) => {
                call_losses(it, losses);
                losses.taken(&it.extra, &Origin::Agent, &CALL);
                separate(out, start);
                write_call(it, out);
            }
            _ => losses.part(part, "messages of the SDK"),
        }
    }
    out.extend_from_slice(b"]}}");
}

/// The members of a call that the model knows.
const CALL: [&str; 3] = ["id", "name", "args"];

fn write_call(it: &ToolCall, out: &mut Vec<u8>) {
    out.push(b'{');
    if !it.id.is_empty() {
        out.extend_from_slice(b"\"id\":");
        write_str(out, &it.id);
        out.push(b',');
    }
    out.extend_from_slice(b"\"name\":");
    write_str(out, &it.name);
    out.extend_from_slice(b",\"args\":");
    call::write_arguments(it.arguments.text(), out);
    write_unknown(&it.extra, &CALL, out);
    out.push(b'}');
}

fn write_texts(parts: &[Part], losses: &mut Losses<'_>, out: &mut Vec<u8>) {
    let mut texts = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        losses.at_part(Some(at));
        push_text(part, &mut texts, losses);
    }
    losses.at_part(None);
    write_text(&texts, losses, out);
}

fn push_text<'a>(part: &'a Part, texts: &mut Vec<&'a str>, losses: &mut Losses<'_>) {
    match part {
        Part::Text(it) => {
            losses.extra(&it.extra, None);
            texts.push(&it.text);
        }
        _ => losses.part(part, "messages of the SDK"),
    }
}

fn write_text(texts: &[&str], losses: &mut Losses<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"type\":\"Text\",\"value\":");
    write_str(out, &join(texts, losses));
    out.push(b'}');
}

fn write_results(message: &Message, losses: &mut Losses<'_>, start: usize, out: &mut Vec<u8>) {
    let mut n_results = 0;
    for (at, part) in message.parts.iter().enumerate() {
        losses.at_part(Some(at));
        match part {
            Part::ToolResult(it) => {
                separate(out, start);
                let owner = (n_results == 0).then_some(message);
                write_result(it, owner, losses, out);
                n_results += 1;
            }
            _ => losses.part(part, "tool messages of the SDK"),
        }
    }
    match n_results {
        0 => losses.message(message),
        1 => {}
        _ => losses.split(),
    }
}

fn write_result(
    result: &ToolResult,
    owner: Option<&Message>,
    losses: &mut Losses<'_>,
    out: &mut Vec<u8>,
) {
    if result.name.is_some() {
        losses.member("name", "messages of the SDK");
    }
    if result.is_error {
        losses.member("is_error", "messages of the SDK");
    }
    if result.kind != CallKind::Function {
        losses.member("kind", "messages of the SDK");
    }
    losses.extra(&result.extra, None);
    open(MessageRole::Tool, out);
    let mut texts = Vec::new();
    for part in result.content.parts() {
        push_text(part, &mut texts, losses);
    }
    write_text(&texts, losses, out);
    close(Some(&*result.call_id).filter(|it| !it.is_empty()), owner, out);
}
