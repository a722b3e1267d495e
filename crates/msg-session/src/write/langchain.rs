//! Messages of LangChain, as dicts.

use msg_core::{Message, Part, Report, Role, ToolCall};
use msg_json::{TextState, Writer, classify, to_text};

use super::blocks::write_arguments;
use super::options::WriteOptions;

pub(super) fn write(messages: &[Message], _: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let text = to_text(|it| {
        it.array(messages.iter().flat_map(entries), |it, (message, part)| {
            it.object(|it| {
                it.key("type").str(kind(message));
                it.key("data").object(|it| data(it, message, part));
            });
        });
    });
    text.into_bytes()
}

/// A message, or each result of a tool message.
fn entries(message: &Message) -> Vec<(&Message, Option<&Part>)> {
    match message.role {
        Role::Tool => message.parts.iter().map(|it| (message, Some(it))).collect(),
        _ => vec![(message, None)],
    }
}

fn kind(message: &Message) -> &str {
    match &message.role {
        Role::User => "human",
        Role::Assistant => "ai",
        Role::System | Role::Developer => "system",
        Role::Tool => "tool",
        Role::Other(_) => "chat",
        _ => "chat",
    }
}

fn data(it: &mut Writer<'_>, message: &Message, part: Option<&Part>) {
    if let Some(Part::ToolResult(result)) = part {
        it.key("content").str(&result.content.text());
        it.key("tool_call_id").str(&result.call_id);
        it.key("name").opt_str(result.name.as_deref());
        it.key("status").str(if result.is_error { "error" } else { "success" });
        it.key("type").str("tool");
        return;
    }
    let parts: Vec<_> = message.parts.iter().filter(|it| it.as_tool_call().is_none()).collect();
    match parts.as_slice() {
        [] => it.key("content").str(""),
        [Part::Text(text)] => it.key("content").str(&text.text),
        parts => it.key("content").array(parts, |it, part| content(it, part)),
    }
    it.key("type").str(kind(message));
    if message.role == Role::Assistant {
        let is_valid = |it: &&ToolCall| classify(it.arguments.text()) == TextState::Object;
        let (valid, invalid): (Vec<_>, Vec<_>) = message.tool_calls().partition(is_valid);
        it.key("tool_calls").array(valid, |it, call| {
            it.object(|it| {
                it.key("name").str(&call.name);
                write_arguments(it.key("args"), call);
                it.key("id").str(&call.id);
                it.key("type").str("tool_call");
            });
        });
        it.key("invalid_tool_calls").array(invalid, |it, call| {
            it.object(|it| {
                it.key("name").str(&call.name);
                it.key("args").str(call.arguments.text());
                it.key("id").str(&call.id);
                it.key("type").str("invalid_tool_call");
            });
        });
    }
}

fn content(it: &mut Writer<'_>, part: &Part) {
    it.object(|it| match part {
        Part::Image(image) => {
            it.key("type").str("image_url");
            it.key("image_url").object(|it| {
                it.key("url").str(image.url.as_deref().unwrap_or_default());
            });
        }
        Part::Reasoning(thought) => {
            it.key("type").str("reasoning");
            it.key("reasoning").str(&thought.display_text());
        }
        part => {
            it.key("type").str("text");
            it.key("text").str(part.as_text().unwrap_or_default());
        }
    });
}
