//! A session of opencode, as `opencode import` takes it: a tool part is call and result in one.

use msg_core::{Message, Part, Report, Role, ToolCall, ToolResult};
use msg_json::{Writer, to_text};

use super::blocks::{parts_but_results, results_behind, spoken, write_arguments, write_ui_part};
use super::options::WriteOptions;

pub(super) fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let session = format!("ses_{}", options.session_id.replace('-', ""));
    let text = to_text(|it| {
        it.object(|it| {
            it.key("info").object(|it| {
                it.key("id").str(&session);
                it.key("directory").str(&options.cwd);
                it.key("version").str(&options.version);
                it.key("title").str("moved session");
                it.key("time").object(|it| {
                    it.key("created").u64(0);
                    it.key("updated").u64(0);
                });
            });
            it.key("messages").array(spoken(messages), |it, at| {
                it.object(|it| Entry { session: &session, messages, at }.write(it));
            });
        });
    });
    text.into_bytes()
}

struct Entry<'m> {
    session: &'m str,
    messages: &'m [Message],
    at: usize,
}

impl Entry<'_> {
    fn write(&self, it: &mut Writer<'_>) {
        let message = &self.messages[self.at];
        let id = format!("msg_{:08}", self.at);
        let is_answer = message.role == Role::Assistant;
        it.key("info").object(|it| {
            it.key("id").str(&id);
            it.key("sessionID").str(self.session);
            it.key("role").str(if is_answer { "assistant" } else { "user" });
            it.key("time").object(|it| {
                it.key("created").u64(self.at as u64);
                if is_answer {
                    it.key("completed").u64(self.at as u64);
                }
            });
        });
        let results: Vec<_> = results_behind(self.messages, self.at).collect();
        it.key("parts").array(parts_but_results(message).enumerate(), |it, (n, part)| {
            it.object(|it| {
                it.key("id").str(&format!("prt_{:08}_{n:06}", self.at));
                it.key("sessionID").str(self.session);
                it.key("messageID").str(&id);
                write_part(it, part, &results);
            });
        });
    }
}

fn write_part(it: &mut Writer<'_>, part: &Part, results: &[&ToolResult]) {
    if let Part::ToolCall(call) = part {
        return tool(it, call, results);
    }
    write_ui_part(it, part, "mime");
    if let Part::File(file) = part {
        it.key("filename").str(file.filename.as_deref().unwrap_or_default());
    }
}

fn tool(it: &mut Writer<'_>, call: &ToolCall, results: &[&ToolResult]) {
    it.key("type").str("tool");
    it.key("callID").str(&call.id);
    it.key("tool").str(&call.name);
    let result = results.iter().find(|it| it.call_id == call.id);
    it.key("state").object(|it| {
        let (status, member) = match result {
            Some(it) if !it.is_error => ("completed", "output"),
            _ => ("error", "error"),
        };
        it.key("status").str(status);
        write_arguments(it.key("input"), call);
        let text = result.map_or(crate::parts::INTERRUPTED.into(), |it| it.content.text());
        it.key(member).str(&text);
        it.key("time").object(|it| {
            it.key("start").u64(0);
            it.key("end").u64(0);
        });
    });
}
