//! A conversation as a line of a data set.

use msg_core::{Message, Report, Role};
use msg_json::{Writer, to_text};
use msg_openai::chat;

use super::blocks::{in_a_line, write_arguments};
use super::options::WriteOptions;

/// A fine-tuning line.
pub(super) fn openai_jsonl(messages: &[Message], _: &WriteOptions, report: &mut Report) -> Vec<u8> {
    let mut list = Vec::new();
    report.append(chat::write(messages, &msg_openai::WriteOptions::canonical(), &mut list));
    let list = String::from_utf8(list).unwrap_or_default();
    to_text(|it| it.object(|it| it.key("messages").raw(&in_a_line(&list)))).into_bytes()
}

/// A ShareGPT conversation.
pub(super) fn share_gpt(messages: &[Message], _: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let mut turns: Vec<(&str, String)> = Vec::new();
    for message in messages {
        let calls: Vec<_> = message.tool_calls().collect();
        let text = message.text();
        if !text.is_empty() && message.role != Role::Tool {
            turns.push((from(message), text.into_owned()));
        }
        if !calls.is_empty() {
            let value = to_text(|it| match calls.as_slice() {
                [call] => write_call(it, call),
                calls => it.array(calls, |it, call| write_call(it, call)),
            });
            turns.push(("function_call", value));
        }
        let results = message.tool_results().map(|it| it.content.text().into_owned());
        turns.extend(results.map(|it| ("observation", it)));
    }
    let text = to_text(|it| {
        it.object(|it| {
            it.key("conversations").array(turns, |it, (from, value)| {
                it.object(|it| {
                    it.key("from").str(from);
                    it.key("value").str(&value);
                });
            });
        });
    });
    text.into_bytes()
}

fn write_call(it: &mut Writer<'_>, call: &msg_core::ToolCall) {
    it.object(|it| {
        it.key("name").str(&call.name);
        write_arguments(it.key("arguments"), call);
    });
}

fn from(message: &Message) -> &'static str {
    match message.role {
        Role::System | Role::Developer => "system",
        Role::Assistant => "gpt",
        _ => "human",
    }
}
