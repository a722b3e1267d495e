//! AutoGen: messages for a model (`SystemMessage`, `UserMessage` …) as in a model context, and the messages and events
//! of its teams (`TextMessage`, `ToolCallRequestEvent` …).
//!
//! ```text
//! {"type":"AssistantMessage","content":[{"id":"c1","name":"f","arguments":"{}"}],"thought":null,"source":"a"}
//! {"type":"FunctionExecutionResultMessage","content":[{"call_id":"c1","name":"f","content":"r","is_error":false}]}
//! {"type":"AssistantAgentState","llm_context":{"messages":[…]}}
//! {"type":"TeamState","agent_states":{"a":{"agent_state":{"llm_context":{"messages":[…]}}},"m":{"message_thread":[…]}}}
//! ```
//!
//! Of the state of a team, the thread is read; the memory of each agent is checked and repaired
//! too.
//!
//! In a team's events, a summary repeats the results of its tools; it is the answer of its agent.

use msg_core::{Image, Message, Part, Reasoning, Report, Role, ToolCall, ToolResult};
use msg_json::Writer;

use super::{Closing, Grown, Open, Records, Store, Wrap, each};
use crate::dialects::frameworks::said;
use crate::dialects::frameworks::writing::{Media, Names, write_records};
use crate::edit::{Object, Value, quoted};
use crate::parts::INTERRUPTED;
use crate::view::View;
use crate::write::{WriteOptions, text_of, text_of_result};
use crate::{Dialect, parts};

pub(crate) static STORE: Store = Store {
    members: &["content", "source", "type"],
    lists: &[
        "messages",
        "llm_context.messages",
        "message_thread",
        "agent_states.*.message_thread",
        "agent_state.llm_context.messages",
        "agent_states.*.agent_state.llm_context.messages",
    ],
    // A model is sent the memory of its agent; the thread of a team is what the manager saw.
    threads: &["messages", "message_thread"],
    wrap: Wrap::new(wrap),
    style: |record| u8::from(!record.text("type").is_some_and(|it| OF_MODELS.contains(&&*it))),
    ..Store::new(Dialect::AutoGen, read, close, write)
};

/// The messages for a model; other types belong to teams.
const OF_MODELS: [&str; 4] =
    ["SystemMessage", "UserMessage", "AssistantMessage", "FunctionExecutionResultMessage"];

/// The style of team events.
const OF_A_TEAM: u8 = 1;

fn read(records: &Records<'_>) -> View {
    each(records, |view, at, record| {
        let is_user = record.text("source").is_some_and(|it| it == "user");
        let by_source = if is_user { Role::User } else { Role::Assistant };
        let role = match &*record.text("type").unwrap_or_default() {
            "SystemMessage" => Role::System,
            "UserMessage" => Role::User,
            "AssistantMessage" | "ToolCallRequestEvent" | "ThoughtEvent" => Role::Assistant,
            "FunctionExecutionResultMessage" | "ToolCallExecutionEvent" => Role::Tool,
            // Stream chunks; the whole message follows.
            "ModelClientStreamingChunkEvent" => return,
            _ => by_source,
        };
        let is_thought = record.text("type").is_some_and(|it| it == "ThoughtEvent");
        let mut grown = Grown::new(view, role, at);
        if let Some(thought) = said(record, "thought") {
            grown.push(Part::Reasoning(Reasoning::new(thought)), None);
        }
        match record.text("content") {
            Some(text) if text.is_empty() => {}
            Some(text) if is_thought => grown.push(Part::Reasoning(Reasoning::new(text)), None),
            Some(text) => grown.push(Part::text(text), None),
            None => {
                for (n, it) in record.blocks("content") {
                    grown.push(part(it), n);
                }
            }
        }
        grown.finish();
    })
}

fn part(value: Value<'_>) -> Part {
    if let Some(text) = value.text() {
        return Part::text(text);
    }
    let Some(object) = value.object() else { return parts::other(value) };
    if object.has("call_id") {
        let content = object.get("content").map(|it| it.plain()).unwrap_or_default();
        let (name, is_error) = (said(&object, "name"), object.is_true("is_error"));
        let result = ToolResult::new(parts::text(&object, "call_id"), content);
        return Part::ToolResult(ToolResult { name, is_error, ..result });
    }
    if object.has("name") && object.has("arguments") {
        let arguments = object.get("arguments").map(|it| it.plain()).unwrap_or_default();
        let (id, name) = (parts::text(&object, "id"), parts::text(&object, "name"));
        return Part::ToolCall(ToolCall::new(id, name, arguments));
    }
    match said(&object, "data") {
        // An image of this framework has only its data.
        Some(data) if object.iter().count() == 1 => {
            let url = parts::data_url(Some("image/png"), &data);
            let media_type = Some("image/png".to_owned());
            Part::Image(Image { media_type, ..Image::from_url(url) })
        }
        _ => parts::other(value),
    }
}

fn close(open: &Open<'_>) -> Closing {
    let (id, name, text) = (quoted(open.id), quoted(open.name), quoted(INTERRUPTED));
    Closing::Result(format!(r#"{{"content":{text},"name":{name},"call_id":{id},"is_error":true}}"#))
}

/// A record with a result, of the same kind as the record beside it.
fn wrap(block: &str, beside: &Object<'_>, _: u8) -> String {
    let is_of_a_team = !beside.text("type").is_some_and(|it| OF_MODELS.contains(&&*it));
    if !is_of_a_team {
        return format!(r#"{{"content":[{block}],"type":"FunctionExecutionResultMessage"}}"#);
    }
    let kept = ["source", "created_at"].iter().filter_map(|name| Some((name, beside.get(name)?)));
    let kept: String = kept.map(|(name, it)| format!(r#""{name}":{},"#, it.source)).collect();
    format!(
        r#"{{{kept}"models_usage":null,"metadata":{{}},"content":[{block}],"type":"ToolCallExecutionEvent"}}"#
    )
}

fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let messages: Vec<Message> = messages.iter().flat_map(apart).collect();
    let names = Names::of(&messages);
    let is_of_a_team = options.style == OF_A_TEAM;
    write_records(&messages, |it, entry| match entry.result {
        Some(result) => {
            it.key("content").array([result], |it, result| {
                it.object(|it| {
                    it.key("content").str(&text_of_result(result));
                    it.key("name").str(names.of_result(result));
                    it.key("call_id").str(&result.call_id);
                    it.key("is_error").bool(result.is_error);
                });
            });
            if is_of_a_team {
                it.key("source").str("assistant");
            }
            it.key("type").str(match is_of_a_team {
                true => "ToolCallExecutionEvent",
                false => "FunctionExecutionResultMessage",
            });
        }
        None => said_by(it, entry.message, is_of_a_team),
    })
}

/// A record contains text or calls, so text beside calls becomes a record before them.
fn apart(message: &Message) -> Vec<Message> {
    let is_said = |it: &Part| matches!(it, Part::Text(_)) || Media::of(it).is_some();
    if message.tool_calls().next().is_none() || !message.parts.iter().any(is_said) {
        return vec![message.clone()];
    }
    let (said, rest) = message.parts.iter().cloned().partition(is_said);
    [said, rest].map(|parts| Message { parts, ..message.clone() }).into()
}

fn said_by(it: &mut Writer<'_>, message: &Message, is_of_a_team: bool) {
    let calls: Vec<_> = message.tool_calls().collect();
    let thought: Vec<_> = message.reasoning().map(|it| it.display_text().into_owned()).collect();
    let text = text_of(message);
    let has_media = message.parts.iter().any(|it| Media::of(it).is_some());
    match (calls.is_empty(), has_media) {
        (false, _) => it.key("content").array(calls.iter(), |it, call| {
            it.object(|it| {
                it.key("id").str(&call.id);
                it.key("arguments").str(call.arguments.text());
                it.key("name").str(&call.name);
            });
        }),
        (true, false) => it.key("content").str(&text),
        (true, true) => it.key("content").array(&message.parts, |it, part| {
            match Media::of(part).and_then(|it| it.data) {
                Some(data) => it.object(|it| it.key("data").str(&data)),
                None => it.str(part.as_text().unwrap_or_default()),
            }
        }),
    }
    let (kind, of_a_team, source) = match message.role.as_str() {
        "assistant" if !calls.is_empty() => {
            ("AssistantMessage", "ToolCallRequestEvent", "assistant")
        }
        "assistant" => ("AssistantMessage", "TextMessage", "assistant"),
        "system" | "developer" => ("SystemMessage", "TextMessage", "system"),
        _ => ("UserMessage", if has_media { "MultiModalMessage" } else { "TextMessage" }, "user"),
    };
    if kind == "AssistantMessage" && !thought.is_empty() && !is_of_a_team {
        it.key("thought").str(&thought.join("\n"));
    }
    if kind != "SystemMessage" || is_of_a_team {
        it.key("source").str(message.name.as_deref().unwrap_or(source));
    }
    it.key("type").str(if is_of_a_team { of_a_team } else { kind });
}
