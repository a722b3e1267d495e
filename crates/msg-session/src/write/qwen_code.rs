//! A session of Qwen Code (SE-134): records that name the one before them, each with parts of Gemini.

use std::collections::HashMap;

use msg_core::{Message, Part, Report, Role};
use msg_json::Writer;

use super::blocks::{parts_but_results, record_id, write_arguments};
use super::gemini_cli::{response, user_part};
use crate::write::WriteOptions;

pub(super) fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let mut records = Records { options, out: Vec::new(), parent: None, count: 0 };
    let mut names = HashMap::new();
    for message in messages {
        names.extend(message.tool_calls().map(|it| (it.id.as_str(), it.name.as_str())));
        let results: Vec<_> = message.tool_results().collect();
        if !results.is_empty() {
            records.push("tool_result", None, "user", |it| {
                it.array(&results, |it, result| {
                    let name = result.name.as_deref();
                    let name = names.get(&*result.call_id).copied().or(name);
                    response(it, name.unwrap_or_default(), result);
                });
            });
        }
        if parts_but_results(message).next().is_none() {
            continue;
        }
        match message.role {
            Role::Assistant => {
                let model = message.provenance().and_then(|it| it.model.as_deref());
                records.push("assistant", model, "model", |it| {
                    it.array(parts_but_results(message), answer_part);
                });
            }
            _ => records.push("user", None, "user", |it| {
                it.array(parts_but_results(message), user_part);
            }),
        }
    }
    records.out
}

struct Records<'o> {
    options: &'o WriteOptions,
    out: Vec<u8>,
    parent: Option<String>,
    count: u64,
}

impl Records<'_> {
    fn push(
        &mut self,
        kind: &str,
        model: Option<&str>,
        role: &str,
        parts: impl FnOnce(&mut Writer<'_>),
    ) {
        self.count += 1;
        let uuid = record_id(&self.options.session_id, self.count);
        Writer::new(&mut self.out).object(|it| {
            it.key("uuid").str(&uuid);
            it.key("parentUuid").opt_str(self.parent.as_deref());
            it.key("sessionId").str(&self.options.session_id);
            it.key("timestamp").str(&self.options.now);
            it.key("type").str(kind);
            it.key("cwd").str(&self.options.cwd);
            it.key("version").str(&self.options.version);
            if let Some(model) = model {
                it.key("model").str(model);
            }
            it.key("message").object(|it| {
                it.key("role").str(role);
                parts(it.key("parts"));
            });
        });
        self.out.push(b'\n');
        self.parent = Some(uuid);
    }
}

fn answer_part(it: &mut Writer<'_>, part: &Part) {
    match part {
        Part::Reasoning(thought) => it.object(|it| {
            it.key("text").str(&thought.display_text());
            it.key("thought").bool(true);
            if let Some(signature) = &thought.signature {
                it.key("thoughtSignature").str(signature);
            }
        }),
        Part::ToolCall(call) => it.object(|it| {
            it.key("functionCall").object(|it| {
                it.key("id").str(&call.id);
                it.key("name").str(&call.name);
                write_arguments(it.key("args"), call);
            });
        }),
        part => user_part(it, part),
    }
}
