//! A session of pi (SE-135): a header, then entries that name the one before them; a result is a message of its own.

use std::collections::HashMap;

use msg_core::{Message, Part, Report, Role, ToolResult};
use msg_json::{Writer, to_text};

use super::WriteOptions;
use super::blocks::{
    data_url, parts_but_results, record_id, write_arguments, write_block, write_result,
};

pub(super) fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let time = crate::turns::milliseconds(&options.now);
    let mut entries = Entries { options, time, out: Vec::new(), parent: None, count: 0 };
    entries.header();
    let mut names = HashMap::new();
    for message in messages {
        names.extend(message.tool_calls().map(|it| (it.id.as_str(), it.name.as_str())));
        for result in message.tool_results() {
            let name = names.get(&*result.call_id).copied().or(result.name.as_deref());
            entries.push(|it| tool_result(it, result, name.unwrap_or_default()));
        }
        if parts_but_results(message).next().is_none() {
            continue;
        }
        match message.role {
            Role::Assistant => entries.push(|it| answer(it, message)),
            _ => entries.push(|it| {
                it.key("role").str("user");
                it.key("content").array(parts_but_results(message), block);
            }),
        }
    }
    entries.out
}

struct Entries<'o> {
    options: &'o WriteOptions,
    /// The time of the session in milliseconds.
    time: u64,
    out: Vec<u8>,
    parent: Option<String>,
    count: u64,
}

impl Entries<'_> {
    fn header(&mut self) {
        Writer::new(&mut self.out).object(|it| {
            it.key("type").str("session");
            it.key("version").u64(3);
            it.key("id").str(&self.options.session_id);
            it.key("timestamp").str(&self.options.now);
            it.key("cwd").str(&self.options.cwd);
        });
        self.out.push(b'\n');
    }

    fn push(&mut self, message: impl FnOnce(&mut Writer<'_>)) {
        self.count += 1;
        let id = format!("{:08x}", self.count);
        Writer::new(&mut self.out).object(|it| {
            it.key("type").str("message");
            it.key("id").str(&id);
            it.key("parentId").opt_str(self.parent.as_deref());
            it.key("timestamp").str(&self.options.now);
            it.key("message").object(|it| {
                message(it);
                it.key("timestamp").u64(self.time + self.count);
            });
        });
        self.out.push(b'\n');
        self.parent = Some(id);
    }
}

/// What pi says of a model that it does not know.
const UNKNOWN: &str = "unknown";

fn answer(it: &mut Writer<'_>, message: &Message) {
    let maker = message.provenance();
    let model = maker.and_then(|it| it.model.as_deref());
    let provider = maker.and_then(|it| it.provider.as_deref());
    it.key("role").str("assistant");
    it.key("content").array(parts_but_results(message), block);
    it.key("api").str(UNKNOWN);
    it.key("provider").str(provider.unwrap_or(UNKNOWN));
    it.key("model").str(model.unwrap_or(UNKNOWN));
    it.key("usage").object(|it| {
        for name in ["input", "output", "cacheRead", "cacheWrite", "totalTokens"] {
            it.key(name).u64(0);
        }
        it.key("cost").object(|it| {
            for name in ["input", "output", "cacheRead", "cacheWrite", "total"] {
                it.key(name).u64(0);
            }
        });
    });
    let calls = message.tool_calls().next().is_some();
    it.key("stopReason").str(if calls { "toolUse" } else { "stop" });
}

fn tool_result(it: &mut Writer<'_>, result: &ToolResult, name: &str) {
    it.key("role").str("toolResult");
    it.key("toolCallId").str(&result.call_id);
    it.key("toolName").str(name);
    it.key("content").array(result.content.parts(), block);
    it.key("isError").bool(result.is_error);
}

fn block(it: &mut Writer<'_>, part: &Part) {
    it.object(|it| match part {
        Part::Reasoning(thought) => {
            it.key("type").str("thinking");
            it.key("thinking").str(&thought.display_text());
            let seal = thought.redacted.as_ref().or(thought.signature.as_ref());
            if let Some(seal) = seal {
                it.key("thinkingSignature").str(seal);
            }
            if thought.redacted.is_some() {
                it.key("redacted").bool(true);
            }
        }
        Part::ToolCall(call) => {
            it.key("type").str("toolCall");
            it.key("id").str(&call.id);
            it.key("name").str(&call.name);
            write_arguments(it.key("arguments"), call);
        }
        Part::Image(image) if data_url(image).is_some() => {
            let (media_type, data) = data_url(image).unwrap_or_default();
            it.key("type").str("image");
            it.key("data").str(data);
            it.key("mimeType").str(media_type);
        }
        part => {
            it.key("type").str("text");
            it.key("text").str(part.as_text().unwrap_or_default());
        }
    });
}

// A session of Cline's SDK (SE-150): one document of Anthropic messages, in which results name their tool.

pub(super) fn write_cline(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let time = crate::turns::milliseconds(&options.now);
    // Results and the words of the user after them are one message.
    let mut turns: Vec<(&str, Vec<&Part>)> = Vec::new();
    let mut names = HashMap::new();
    for message in messages {
        names.extend(message.tool_calls().map(|it| (it.id.as_str(), it.name.as_str())));
        let role = if message.role == Role::Assistant { "assistant" } else { "user" };
        match turns.last_mut() {
            Some(last) if last.0 == role && role == "user" => last.1.extend(&message.parts),
            _ => turns.push((role, message.parts.iter().collect())),
        }
    }
    let name_of =
        |it: &ToolResult| names.get(&*it.call_id).copied().unwrap_or("unknown").to_owned();
    let block = |out: &mut Writer<'_>, part: &Part| match part {
        Part::ToolResult(result) => {
            out.object(|it| write_result(it, result, Some(&name_of(result))));
        }
        part => write_block(out, part),
    };
    let text = to_text(|it| {
        it.object(|it| {
            it.key("version").u64(1);
            it.key("updated_at").str(&options.now);
            it.key("agent").str("lead");
            it.key("sessionId").str(&options.session_id);
            it.key("messages").array(turns.into_iter().zip(1..), |it, ((role, parts), n)| {
                it.object(|it| {
                    it.key("id").str(&record_id(&options.session_id, n));
                    it.key("role").str(role);
                    it.key("content").array(parts, block);
                    it.key("ts").u64(time + n);
                });
            });
        });
    });
    text.into_bytes()
}
