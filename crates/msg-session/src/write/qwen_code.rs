//! A session of Qwen Code (SE-134): records that name the one before them, each with parts of Gemini.

use std::collections::HashMap;

use msg_core::{Message, Part, Report, Role, ToolResult};
use msg_json::{Writer, to_text};

use super::blocks::{object_of, parts_but_results, record_id, write_arguments};
use crate::dialects::frameworks::autogen::Media;
use crate::write::WriteOptions;
use crate::write::blocks::{data_url, results_after, spoken};

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

// A session of Gemini CLI: a header, then a message a line; the results are with their calls.

pub(super) fn write_gemini_cli(
    messages: &[Message],
    options: &WriteOptions,
    _: &mut Report,
) -> Vec<u8> {
    let mut out = Vec::new();
    Writer::new(&mut out).object(|it| {
        it.key("sessionId").str(&options.session_id);
        it.key("projectHash").str(&super::sha256::hex(&options.cwd));
        it.key("startTime").str(&options.now);
        it.key("lastUpdated").str(&options.now);
        it.key("kind").str("main");
    });
    out.push(b'\n');
    for line in lines(messages, options) {
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
    }
    out
}

/// The messages as JSON, each a line.
pub(crate) fn lines(messages: &[Message], options: &WriteOptions) -> Vec<String> {
    spoken(messages)
        .map(|at| to_text(|it| it.object(|it| message(it, messages, at, options))))
        .collect()
}

fn message(it: &mut Writer<'_>, messages: &[Message], at: usize, options: &WriteOptions) {
    let message = &messages[at];
    it.key("id").str(&format!("m{at}"));
    it.key("timestamp").str(&options.now);
    if message.role != Role::Assistant {
        it.key("type").str("user");
        it.key("content").array(parts_but_results(message), user_part);
        return;
    }
    it.key("type").str("gemini");
    it.key("content").str(&message.text());
    it.key("thoughts").array(message.reasoning(), |it, thought| {
        it.object(|it| {
            it.key("description").str(&thought.display_text());
            it.key("timestamp").str(&options.now);
        });
    });
    let results: Vec<_> = results_after(messages, at).collect();
    if message.tool_calls().next().is_some() {
        it.key("toolCalls").array(message.tool_calls(), |it, call| {
            it.object(|it| {
                it.key("id").str(&call.id);
                it.key("name").str(&call.name);
                write_arguments(it.key("args"), call);
                let result = results.iter().find(|it| it.call_id == call.id);
                if let Some(result) = result {
                    it.key("result").array([result], |it, result| response(it, &call.name, result));
                }
                let failed = result.is_none_or(|it| it.is_error);
                it.key("status").str(if failed { "error" } else { "success" });
                it.key("timestamp").str(&options.now);
            });
        });
    }
}

pub(super) fn user_part(it: &mut Writer<'_>, part: &Part) {
    it.object(|it| match part {
        Part::Image(image) if data_url(image).is_some() => {
            let (kind, data) = data_url(image).unwrap_or_default();
            it.key("inlineData").object(|it| {
                it.key("mimeType").str(kind);
                it.key("data").str(data);
            });
        }
        Part::Image(image) => it.key("fileData").object(|it| {
            if let Some(media) = Media::of(part).filter(|_| image.url.is_some()) {
                it.key("mimeType").str(media.media_type);
            }
            it.key("fileUri").str(image.url.as_deref().unwrap_or_default());
        }),
        part => it.key("text").str(part.as_text().unwrap_or_default()),
    });
}

pub(super) fn response(it: &mut Writer<'_>, name: &str, result: &ToolResult) {
    it.object(|it| {
        it.key("functionResponse").object(|it| {
            it.key("id").str(&result.call_id);
            it.key("name").str(name);
            let member = if result.is_error { "error" } else { "output" };
            match object_of(result) {
                Some(object) => it.key("response").raw(&object),
                None => {
                    it.key("response").object(|it| it.key(member).str(&result.content.text()));
                }
            }
        });
    });
}
