//! A session of Codex (SE-82): a header, then each turn's items with the events that show them. Items are
//! msg-openai's.

use msg_core::{Message, Part, Report, Role, ToolResult};
use msg_json::{Writer, to_text};
use msg_openai::responses;

use super::blocks::in_a_line;
use crate::json::Value;
use crate::write::WriteOptions;
use crate::write::blocks::{data_url, write_arguments};

pub(super) fn write(messages: &[Message], options: &WriteOptions, report: &mut Report) -> Vec<u8> {
    let mut lines = Lines { options, out: Vec::new() };
    lines.line("session_meta", |it| {
        it.key("id").str(&options.session_id);
        it.key("timestamp").str(&options.now);
        it.key("cwd").str(&options.cwd);
        it.key("originator").str("msg");
        it.key("cli_version").str(&options.version);
    });
    let mut in_turn = false;
    for (at, message) in messages.iter().enumerate() {
        if message.role == Role::User {
            lines.end_turn(&mut in_turn);
            lines.event("task_started", None);
            in_turn = true;
        }
        let mut found = Report::new();
        for item in items(std::slice::from_ref(message), &mut found) {
            lines.raw("response_item", &item);
        }
        for mut it in found.into_vec() {
            it.at.message = Some(at);
            report.push(it);
        }
        let text = message.text();
        match message.role {
            _ if text.is_empty() => {}
            Role::User => lines.event("user_message", Some(&text)),
            Role::Assistant => lines.event("agent_message", Some(&text)),
            _ => {}
        }
    }
    lines.end_turn(&mut in_turn);
    lines.out
}

/// The items of messages, as JSON each.
pub(crate) fn items(messages: &[Message], report: &mut Report) -> Vec<String> {
    let mut out = Vec::new();
    report.append(responses::write(messages, &msg_openai::WriteOptions::canonical(), &mut out));
    let text = String::from_utf8(out).unwrap_or_default();
    let list = Value::whole(&text, 0).and_then(|it| it.array()).unwrap_or_default();
    list.into_iter().map(|it| it.source.to_owned()).collect()
}

struct Lines<'o> {
    options: &'o WriteOptions,
    out: Vec<u8>,
}

impl Lines<'_> {
    fn line(&mut self, kind: &str, payload: impl FnOnce(&mut Writer<'_>)) {
        let payload = to_text(|it| it.object(payload));
        self.raw(kind, &payload);
    }

    fn raw(&mut self, kind: &str, payload: &str) {
        Writer::new(&mut self.out).object(|it| {
            it.key("timestamp").str(&self.options.now);
            it.key("type").str(kind);
            it.key("payload").raw(&in_a_line(payload));
        });
        self.out.push(b'\n');
    }

    fn event(&mut self, kind: &str, message: Option<&str>) {
        self.line("event_msg", |it| {
            it.key("type").str(kind);
            if let Some(message) = message {
                it.key("message").str(message);
            }
        });
    }

    fn end_turn(&mut self, in_turn: &mut bool) {
        if std::mem::take(in_turn) {
            self.event("task_complete", None);
        }
    }
}

// A session of goose, as `goose session import` takes it.

pub(super) fn write_goose(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
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
