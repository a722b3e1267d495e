//! UI messages of the Vercel AI SDK: the steps of an answer are one message, and a tool part is call and
//! result in one.

use msg_core::{Message, Part, Report, Role, ToolCall, ToolResult};
use msg_json::{Writer, to_text};

use super::blocks::{results_behind, write_arguments};
use super::options::WriteOptions;

pub(super) fn write(messages: &[Message], _: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let sent = (0..messages.len()).filter(|it| messages[*it].role != Role::Tool);
    let text = to_text(|it| {
        it.array(sent, |it, at| it.object(|it| message(it, messages, at)));
    });
    text.into_bytes()
}

fn message(it: &mut Writer<'_>, messages: &[Message], at: usize) {
    let message = &messages[at];
    it.key("id").str(&format!("msg-{at}"));
    it.key("role").str(message.role.as_str());
    let results: Vec<_> = results_behind(messages, at).collect();
    it.key("parts").array(&message.parts, |it, part| {
        it.object(|it| write_part(it, part, &results));
    });
}

fn write_part(it: &mut Writer<'_>, part: &Part, results: &[&ToolResult]) {
    match part {
        Part::Reasoning(thought) => {
            it.key("type").str("reasoning");
            it.key("text").str(&thought.display_text());
        }
        Part::ToolCall(call) => tool(it, call, results),
        Part::Image(image) => {
            it.key("type").str("file");
            it.key("mediaType").str(image.media_type.as_deref().unwrap_or("image/png"));
            it.key("url").str(image.url.as_deref().unwrap_or_default());
        }
        Part::File(file) => {
            it.key("type").str("file");
            let kind = file.media_type.as_deref().unwrap_or("application/octet-stream");
            it.key("mediaType").str(kind);
            let url = file.url.as_deref().or(file.data.as_deref());
            it.key("url").str(url.unwrap_or_default());
        }
        part => {
            it.key("type").str("text");
            it.key("text").str(part.as_text().unwrap_or_default());
        }
    }
}

fn tool(it: &mut Writer<'_>, call: &ToolCall, results: &[&ToolResult]) {
    it.key("type").str(&format!("tool-{}", call.name));
    it.key("toolCallId").str(&call.id);
    let result = results.iter().find(|it| it.call_id == call.id);
    let state = match result {
        None => "input-available",
        Some(it) if it.is_error => "output-error",
        Some(_) => "output-available",
    };
    it.key("state").str(state);
    write_arguments(it.key("input"), call);
    if let Some(result) = result {
        let member = if result.is_error { "errorText" } else { "output" };
        it.key(member).str(&result.content.text());
    }
}
