//! A conversation as a line of a data set.

use msg_core::{Message, Report, Role};
use msg_json::{Writer, to_text};
use msg_openai::chat;

use super::blocks::{in_a_line, write_arguments};
use crate::write::WriteOptions;

/// A fine-tuning line.
pub(super) fn openai_jsonl(messages: &[Message], _: &WriteOptions, report: &mut Report) -> Vec<u8> {
    let mut list = Vec::new();
    report.append(chat::write(messages, &msg_openai::WriteOptions::canonical(), &mut list));
    let list = String::from_utf8(list).unwrap_or_default();
    to_text(|it| it.object(|it| it.key("messages").raw(&in_a_line(&list)))).into_bytes()
}

/// A ShareGPT conversation.
pub(super) fn share_gpt(messages: &[Message], _: &WriteOptions, _: &mut Report) -> Vec<u8> {
    conversation(messages, &[], &[]).into_bytes()
}

/// A turn of a ShareGPT conversation.
struct ShareGptTurn {
    from: &'static str,
    value: String,
    /// Whether it is supervised, of an answer of which that is known.
    weight: Option<bool>,
}

/// A ShareGPT conversation with the weights of answers and the tools, where these are known.
pub(crate) fn conversation(
    messages: &[Message],
    weights: &[Option<bool>],
    tools: &[String],
) -> String {
    let mut turns: Vec<ShareGptTurn> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let weight = weights.get(at).copied().flatten();
        let calls: Vec<_> = message.tool_calls().collect();
        let text = message.text();
        if !text.is_empty() && message.role != Role::Tool {
            turns.push(ShareGptTurn { from: from(message), value: text.into_owned(), weight });
        }
        if !calls.is_empty() {
            let value = to_text(|it| match calls.as_slice() {
                [call] => write_call(it, call),
                calls => it.array(calls, |it, call| write_call(it, call)),
            });
            turns.push(ShareGptTurn { from: "function_call", value, weight });
        }
        turns.extend(message.tool_results().map(|it| ShareGptTurn {
            from: "observation",
            value: it.content.text().into_owned(),
            weight: None,
        }));
    }
    to_text(|it| {
        it.object(|it| {
            it.key("conversations").array(turns, |it, turn| {
                it.object(|it| {
                    it.key("from").str(turn.from);
                    it.key("value").str(&turn.value);
                    if let Some(weight) = turn.weight {
                        it.key("weight").u64(u64::from(weight));
                    }
                });
            });
            if !tools.is_empty() {
                it.key("tools").str(&format!("[{}]", tools.join(",")));
            }
        });
    })
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
