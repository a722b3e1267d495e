//! Messages in the shapes that the released SDK stores (MS-12): fewer, so that more is lost.

use msg_core::{CallKind, Message, Origin, Part, ToolCall, ToolResult};
use msg_json::Writer;

use super::write::{call_losses, is_json, message_role, write_unknown};
use super::{MessageRole, read};
use crate::losses::Losses;

/// Writes the messages that a message becomes.
pub(crate) fn write_message(message: &Message, losses: &mut Losses<'_>, list: &mut Writer<'_>) {
    let role = message_role(&message.role, losses);
    losses.extra(&message.extra, Some(&Origin::Agent));
    losses.taken(&message.extra, &Origin::Agent, &["role", "content"]);
    losses.members("messages of the SDK", &[("name", message.name.is_some())]);
    if role == MessageRole::Tool {
        return write_results(message, losses, list);
    }
    list.object(|it| {
        write_role(role, it);
        let content = it.key("content");
        match message.parts.as_slice() {
            parts if parts.iter().any(|it| it.as_tool_call().is_some()) => {
                write_calls(message, losses, content);
            }
            [Part::Other(it)] if is_json(&message.parts[0]) => {
                write_typed("Json", content, |out| out.compact(it.value.text()));
            }
            parts => write_texts(parts, losses, content),
        }
        write_rest(None, Some(message), it);
    });
}

fn write_role(role: MessageRole, out: &mut Writer<'_>) {
    out.key("role").str(if role == MessageRole::Assistant { "Agent" } else { role.as_str() });
}

fn write_rest(tool_call_id: Option<&str>, owner: Option<&Message>, out: &mut Writer<'_>) {
    let rest = owner.and_then(|it| it.extra.get(&Origin::Agent, "metadata"));
    read::write_metadata(tool_call_id, rest, out);
    if let Some(owner) = owner {
        write_unknown(&owner.extra, &["role", "content", "metadata"], out);
    }
}

/// Writes `{"type":…,"value":…}`.
fn write_typed(kind: &str, out: &mut Writer<'_>, value: impl FnOnce(&mut Writer<'_>)) {
    out.object(|it| {
        it.key("type").str(kind);
        value(it.key("value"));
    });
}

/// The calls as JSON, which leaves no room for anything next to them.
fn write_calls(message: &Message, losses: &mut Losses<'_>, out: &mut Writer<'_>) {
    let mut calls = Vec::new();
    for (at, part) in message.parts.iter().enumerate() {
        losses.at_part(Some(at));
        match part {
            Part::ToolCall(it) => {
                call_losses(it, losses);
                losses.taken(&it.extra, &Origin::Agent, &CALL);
                calls.push(it);
            }
            _ => losses.part(part, "messages of the SDK"),
        }
    }
    write_typed("Json", out, |it| {
        it.object(|it| it.key("tool_calls").array(calls, |it, call| write_call(call, it)));
    });
}

/// The members of a call that the model knows.
const CALL: [&str; 3] = ["id", "name", "args"];

fn write_call(call: &ToolCall, out: &mut Writer<'_>) {
    out.object(|it| {
        if !call.id.is_empty() {
            it.key("id").str(&call.id);
        }
        it.key("name").str(&call.name);
        read::write_arguments(call.arguments.text(), it.key("args"));
        write_unknown(&call.extra, &CALL, it);
    });
}

fn write_texts(parts: &[Part], losses: &mut Losses<'_>, out: &mut Writer<'_>) {
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

fn write_text(texts: &[&str], losses: &mut Losses<'_>, out: &mut Writer<'_>) {
    let text = losses.join(texts);
    write_typed("Text", out, |it| it.str(&text));
}

fn write_results(message: &Message, losses: &mut Losses<'_>, list: &mut Writer<'_>) {
    let mut n_results = 0;
    for (at, part) in message.parts.iter().enumerate() {
        losses.at_part(Some(at));
        match part {
            Part::ToolResult(it) => {
                let owner = (n_results == 0).then_some(message);
                list.object(|out| write_result(it, owner, losses, out));
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
    out: &mut Writer<'_>,
) {
    let is_special = result.kind != CallKind::Function;
    let members =
        [("name", result.name.is_some()), ("is_error", result.is_error), ("kind", is_special)];
    losses.members("messages of the SDK", &members);
    losses.extra(&result.extra, None);
    write_role(MessageRole::Tool, out);
    let mut texts = Vec::new();
    for part in result.content.parts() {
        push_text(part, &mut texts, losses);
    }
    write_text(&texts, losses, out.key("content"));
    write_rest(Some(&*result.call_id).filter(|it| !it.is_empty()), owner, out);
}
