//! A session of Copilot CLI (SE-137, SE-150): the events of its turns, in order.

use std::collections::HashMap;

use msg_core::{Message, Report, Role, ToolCall, ToolResult};
use msg_json::Writer;

use super::blocks::{record_id, write_arguments};
use crate::write::WriteOptions;

pub(super) fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let mut events = Events { options, out: Vec::new(), parent: None, count: 0 };
    events.start();
    let mut turns = 0_u64;
    let mut is_open = false;
    let mut models = HashMap::new();
    for message in messages {
        match message.role {
            Role::Assistant => {
                events.end_turn(&mut is_open, turns);
                turns += 1;
                is_open = true;
                let model = message.provenance().and_then(|it| it.model.as_deref());
                let model = model.unwrap_or(UNKNOWN);
                models.extend(message.tool_calls().map(|it| (it.id.as_str(), model)));
                events.answer(message, model, turns);
            }
            _ => {
                for result in message.tool_results() {
                    let model = models.get(&*result.call_id).copied().unwrap_or(UNKNOWN);
                    events.result(result, model, turns);
                }
                let text = message.text();
                if !text.is_empty() && message.role != Role::Tool {
                    events.end_turn(&mut is_open, turns);
                    events.user(&text, turns);
                }
            }
        }
    }
    events.end_turn(&mut is_open, turns);
    events.out
}

const UNKNOWN: &str = "unknown";
const INTERACTION: &str = "i1";

struct Events<'o> {
    options: &'o WriteOptions,
    out: Vec<u8>,
    parent: Option<String>,
    count: u64,
}

impl Events<'_> {
    fn push(&mut self, kind: &str, data: impl FnOnce(&mut Writer<'_>)) {
        self.count += 1;
        let id = record_id(&self.options.session_id, self.count);
        Writer::new(&mut self.out).object(|it| {
            it.key("type").str(kind);
            it.key("data").object(data);
            it.key("id").str(&id);
            it.key("timestamp").str(&self.options.now);
            it.key("parentId").opt_str(self.parent.as_deref());
        });
        self.out.push(b'\n');
        self.parent = Some(id);
    }

    fn start(&mut self) {
        let options = self.options;
        self.push("session.start", |it| {
            it.key("sessionId").str(&options.session_id);
            it.key("version").u64(1);
            it.key("producer").str("copilot-agent");
            it.key("copilotVersion").str(&options.version);
            it.key("startTime").str(&options.now);
            it.key("context").object(|it| it.key("cwd").str(&options.cwd));
        });
    }

    fn user(&mut self, text: &str, turn: u64) {
        self.push("user.message", |it| {
            it.key("content").str(text);
            it.key("transformedContent").str(text);
            it.key("attachments").array([(); 0], |_, ()| {});
            it.key("interactionId").str(INTERACTION);
            it.key("turnId").str(&turn.to_string());
        });
    }

    fn answer(&mut self, message: &Message, model: &str, turn: u64) {
        let turn_id = turn.to_string();
        self.push("assistant.turn_start", |it| {
            it.key("turnId").str(&turn_id);
            it.key("interactionId").str(INTERACTION);
        });
        let thoughts: Vec<_> = message.reasoning().collect();
        let texts: Vec<_> = thoughts.iter().map(|it| it.display_text()).collect();
        self.push("assistant.message", |it| {
            it.key("messageId").str(&format!("m{turn}"));
            it.key("model").str(model);
            it.key("content").str(&message.text());
            it.key("toolRequests").array(message.tool_calls(), request);
            if !thoughts.is_empty() {
                it.key("reasoningText").str(&texts.join("\n\n"));
            }
            if let Some(seal) = thoughts.iter().find_map(|it| it.signature.as_deref()) {
                it.key("reasoningOpaque").str(seal);
            }
            it.key("interactionId").str(INTERACTION);
            it.key("turnId").str(&turn_id);
        });
        for call in message.tool_calls() {
            self.push("tool.execution_start", |it| {
                it.key("toolCallId").str(&call.id);
                it.key("toolName").str(&call.name);
                write_arguments(it.key("arguments"), call);
                it.key("turnId").str(&turn_id);
            });
        }
    }

    fn result(&mut self, result: &ToolResult, model: &str, turn: u64) {
        self.push("tool.execution_complete", |it| {
            it.key("toolCallId").str(&result.call_id);
            it.key("model").str(model);
            it.key("interactionId").str(INTERACTION);
            it.key("turnId").str(&turn.to_string());
            it.key("success").bool(!result.is_error);
            let text = result.content.text();
            match result.is_error {
                true => it.key("error").object(|it| {
                    it.key("message").str(&text);
                    it.key("code").str("failure");
                }),
                false => it.key("result").object(|it| {
                    it.key("content").str(&text);
                    it.key("detailedContent").str(&text);
                }),
            }
        });
    }

    fn end_turn(&mut self, is_open: &mut bool, turn: u64) {
        if std::mem::take(is_open) {
            self.push("assistant.turn_end", |it| it.key("turnId").str(&turn.to_string()));
        }
    }
}

fn request(it: &mut Writer<'_>, call: &ToolCall) {
    it.object(|it| {
        it.key("toolCallId").str(&call.id);
        it.key("name").str(&call.name);
        write_arguments(it.key("arguments"), call);
        it.key("type").str("function");
    });
}
