//! A Gemini CLI session as messages (SE-61).

use std::collections::HashSet;

use msg_core::{Part, Reasoning, Role, Usage};

use super::replay::{Kind, Message, Replay};
use super::results;
use crate::json::{Object, Value};
use crate::parts::gemini;
use crate::view::{Draft, Origin, View};

pub(super) fn of(replay: &Replay<'_>) -> View {
    let mut view = View::default();
    // Results that stand with their calls are said once, though they may be stored again.
    let mut said = HashSet::new();
    for message in &replay.messages {
        match message.kind {
            Kind::User if is_command(message) => {}
            Kind::User => user(&mut view, message, &said),
            Kind::Gemini => {
                answer(&mut view, message);
                said.extend(results::with_calls(message));
            }
            Kind::Note => {}
        }
        if let Some(usage) = usage(&message.object) {
            view.usage = super::super::add_usage(std::mem::take(&mut view.usage), usage);
        }
    }
    view
}

/// Whether the user gave the program a command, which is not sent (SE-133).
fn is_command(message: &Message<'_>) -> bool {
    let parts = content(message);
    let texts: Option<String> = parts.iter().map(|it| it.1.as_text()).collect();
    texts.is_some_and(|it| it.trim_start().starts_with(['/', '?']))
}

fn user(view: &mut View, message: &Message<'_>, said: &HashSet<String>) {
    let mut results = Draft::new(Role::Tool);
    let mut draft = Draft::new(Role::User);
    for (origin, part) in content(message) {
        let result = part.as_tool_result();
        if result.is_some_and(|it| said.contains(&it.call_id)) {
            continue;
        }
        let is_result = result.is_some();
        if is_result { &mut results } else { &mut draft }.push(part, origin);
    }
    view.push(results);
    view.push(draft);
}

fn answer(view: &mut View, message: &Message<'_>) {
    let mut draft = Draft::new(Role::Assistant);
    let content = content(message);
    let calls = message.object.list("toolCalls");
    let is_exact = content.iter().any(|it| matches!(it.1, Part::ToolCall(_) | Part::Reasoning(_)));
    let here = Origin::record(message.record);
    if !is_exact {
        thoughts(message).into_iter().for_each(|it| draft.push(it, here));
    }
    content.into_iter().for_each(|(origin, it)| draft.push(it, origin));
    if !is_exact {
        for (at, call) in calls.iter().enumerate() {
            if let Some(call) = call.object() {
                draft.push(Part::ToolCall(gemini::call(&call)), Origin::block(message.record, at));
            }
        }
    }
    draft.made_by(message.object.text("model"), None);
    view.push(draft);
    let mut results = Draft::new(Role::Tool);
    for (at, call) in calls.iter().enumerate() {
        let list = call.list("result");
        let is_response = |it: &&Value<'_>| it.get("functionResponse").is_some();
        for response in list.iter().filter(is_response).filter_map(|it| gemini::result(*it)) {
            results.push(Part::ToolResult(response), Origin::block(message.record, at));
        }
    }
    view.push(results);
}

/// The parts of the content, which is a text, a part or a list of them.
fn content(message: &Message<'_>) -> Vec<(Origin, Part)> {
    let here = Origin::record(message.record);
    let Some(content) = message.object.get("content") else { return Vec::new() };
    if let Some(text) = content.text() {
        let part = (!text.is_empty()).then(|| (here, Part::text(text)));
        return part.into_iter().collect();
    }
    let list = content.array().unwrap_or_else(|| vec![content]);
    list.into_iter()
        .enumerate()
        .filter_map(|(at, it)| Some((at_block(message, at), part(it)?)))
        .collect()
}

fn at_block(message: &Message<'_>, at: usize) -> Origin {
    Origin::block(message.record, at)
}

fn part(value: Value<'_>) -> Option<Part> {
    match value.text() {
        Some(text) => Some(Part::text(text)),
        None => gemini::part(value),
    }
}

/// Thoughts as `**subject** description`.
fn thoughts(message: &Message<'_>) -> Vec<Part> {
    let list = message.object.list("thoughts");
    let text = |it: &Object<'_>| {
        let subject = it.text("subject").filter(|it| !it.is_empty());
        let description = it.text("description").unwrap_or_default();
        match subject {
            Some(subject) => format!("**{subject}** {description}"),
            None => description.into_owned(),
        }
    };
    let texts = list.iter().filter_map(|it| it.object()).map(|it| text(&it));
    texts.map(|it| Part::Reasoning(Reasoning::new(it))).collect()
}

fn usage(message: &Object<'_>) -> Option<Usage> {
    let tokens = message.get("tokens")?.object()?;
    let number = |name: &str| tokens.get(name).and_then(|it| it.number());
    Some(Usage {
        input: number("input"),
        output: number("output"),
        total: number("total"),
        cached: number("cached"),
        reasoning: number("thoughts"),
        ..Usage::default()
    })
}
