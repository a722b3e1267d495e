//! UI messages of the Vercel AI SDK: the steps of an answer are one message, and a tool part is call and
//! result in one.

use msg_core::{Message, Part, Report, ToolCall, ToolResult};
use msg_json::{Writer, to_text};

use super::blocks::{parts_but_results, results_behind, spoken, write_arguments, write_ui_part};
use super::options::WriteOptions;

pub(super) fn write(messages: &[Message], _: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let text = to_text(|it| {
        it.array(spoken(messages), |it, at| it.object(|it| message(it, messages, at)));
    });
    text.into_bytes()
}

fn message(it: &mut Writer<'_>, messages: &[Message], at: usize) {
    let message = &messages[at];
    it.key("id").str(&format!("msg-{at}"));
    // The SDK has no developer.
    let role = if message.role.is_system() { "system" } else { message.role.as_str() };
    it.key("role").str(role);
    let results: Vec<_> = results_behind(messages, at).collect();
    it.key("parts").array(parts_but_results(message), |it, part| {
        it.object(|it| match part {
            Part::ToolCall(call) => tool(it, call, &results),
            part => write_ui_part(it, part, "mediaType"),
        });
    });
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
