//! A session of goose, as `goose session import` takes it.

use msg_core::{Message, Part, Report, Role, ToolResult};
use msg_json::{Writer, to_text};

use super::blocks::{data_url, write_arguments};
use crate::write::WriteOptions;

pub(super) fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let text = to_text(|it| {
        it.object(|it| {
            it.key("id").str(&options.session_id);
            it.key("working_dir").str(&options.cwd);
            it.key("name").str("moved session");
            it.key("created_at").str(&options.now);
            it.key("updated_at").str(&options.now);
            it.key("extension_data").object(|_| {});
            it.key("message_count").u64(messages.len() as u64);
            it.key("conversation").array(messages, message);
        });
    });
    text.into_bytes()
}

fn message(it: &mut Writer<'_>, message: &Message) {
    it.object(|it| {
        let role = if message.role == Role::Assistant { "assistant" } else { "user" };
        it.key("role").str(role);
        it.key("created").u64(0);
        it.key("content").array(&message.parts, block);
        it.key("metadata").object(|it| {
            it.key("userVisible").bool(true);
            it.key("agentVisible").bool(true);
        });
    });
}

fn block(it: &mut Writer<'_>, part: &Part) {
    it.object(|it| match part {
        Part::Reasoning(thought) => {
            it.key("type").str("thinking");
            it.key("thinking").str(&thought.display_text());
            it.key("signature").str(thought.signature.as_deref().unwrap_or_default());
        }
        Part::ToolCall(call) => {
            it.key("type").str("toolRequest");
            it.key("id").str(&call.id);
            it.key("toolCall").object(|it| {
                it.key("status").str("success");
                it.key("value").object(|it| {
                    it.key("name").str(&call.name);
                    write_arguments(it.key("arguments"), call);
                });
            });
        }
        Part::ToolResult(result) => response(it, result),
        Part::Image(image) => {
            let (kind, data) = data_url(image).unwrap_or(("image/png", ""));
            it.key("type").str("image");
            it.key("data").str(data);
            it.key("mimeType").str(kind);
        }
        part => text(it, part.as_text().unwrap_or_default()),
    });
}

fn text(it: &mut Writer<'_>, text: &str) {
    it.key("type").str("text");
    it.key("text").str(text);
}

fn response(it: &mut Writer<'_>, result: &ToolResult) {
    it.key("type").str("toolResponse");
    it.key("id").str(&result.call_id);
    it.key("toolResult").object(|it| match result.is_error {
        true => {
            it.key("status").str("error");
            it.key("error").str(&result.content.text());
        }
        false => {
            it.key("status").str("success");
            it.key("value").array(result.content.parts(), block);
        }
    });
}
