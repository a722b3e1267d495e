//! Messages of Pydantic AI: requests of system, user and tools, and responses.

use msg_core::{Message, Part, Report, Role};
use msg_json::{Writer, to_text};

use super::options::WriteOptions;

pub(super) fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    // What stands between two answers is one request.
    let mut turns: Vec<(bool, Vec<&Message>)> = Vec::new();
    for message in messages {
        let is_answer = message.role == Role::Assistant;
        match turns.last_mut() {
            Some(last) if !is_answer && !last.0 => last.1.push(message),
            _ => turns.push((is_answer, vec![message])),
        }
    }
    let text = to_text(|it| {
        it.array(turns, |it, (is_answer, messages)| {
            it.object(|it| {
                let parts = messages.iter().flat_map(|it| it.parts.iter().map(|part| (*it, part)));
                it.key("parts").array(parts, |it, (message, part)| {
                    it.object(|it| match is_answer {
                        true => answer(it, part),
                        false => request(it, message, part, options),
                    });
                });
                it.key("kind").str(if is_answer { "response" } else { "request" });
            });
        });
    });
    text.into_bytes()
}

fn request(it: &mut Writer<'_>, message: &Message, part: &Part, options: &WriteOptions) {
    match part {
        Part::ToolResult(result) => {
            it.key("tool_name").str(result.name.as_deref().unwrap_or_default());
            it.key("content").str(&result.content.text());
            it.key("tool_call_id").str(&result.call_id);
            it.key("timestamp").str(&options.now);
            it.key("part_kind").str(if result.is_error { "retry-prompt" } else { "tool-return" });
        }
        Part::Image(image) => {
            it.key("content").array([image], |it, image| {
                it.object(|it| {
                    it.key("url").str(image.url.as_deref().unwrap_or_default());
                    it.key("kind").str("image-url");
                });
            });
            it.key("timestamp").str(&options.now);
            it.key("part_kind").str("user-prompt");
        }
        part => {
            it.key("content").str(part.as_text().unwrap_or_default());
            it.key("timestamp").str(&options.now);
            let kind = if message.role.is_system() { "system-prompt" } else { "user-prompt" };
            it.key("part_kind").str(kind);
        }
    }
}

fn answer(it: &mut Writer<'_>, part: &Part) {
    match part {
        Part::ToolCall(call) => {
            it.key("tool_name").str(&call.name);
            it.key("args").str(call.arguments.text());
            it.key("tool_call_id").str(&call.id);
            it.key("part_kind").str("tool-call");
        }
        Part::Reasoning(thought) => {
            it.key("content").str(&thought.display_text());
            it.key("signature").opt_str(thought.signature.as_deref());
            it.key("part_kind").str("thinking");
        }
        part => {
            it.key("content").str(part.as_text().unwrap_or_default());
            it.key("part_kind").str("text");
        }
    }
}
