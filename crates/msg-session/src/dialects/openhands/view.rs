//! An OpenHands conversation as messages (SE-69): actions of one response are one answer.

use std::collections::HashSet;

use msg_core::{Content, Image, Part, Reasoning, Role, ToolCall, ToolResult};

use crate::dialects::openhands::{Event, Events, Kind};
use crate::json::{Object, Value};
use crate::parts::{self, anthropic};
use crate::view::{Branch, BranchKind};
use crate::view::{Draft, PartOrigin, View};

pub(super) fn of(events: &Events<'_>) -> View {
    let mut res = Reading {
        view: View { findings: events.findings.clone(), ..View::default() },
        ..Reading::default()
    };
    let forgotten: HashSet<String> = events
        .list
        .iter()
        .filter(|it| it.kind == Kind::Condensation)
        .flat_map(|it| it.object.get("forgotten_event_ids").and_then(|it| it.array()))
        .flatten()
        .filter_map(|it| it.text().map(|it| it.into_owned()))
        .collect();
    let summary =
        events.list.iter().rfind(|it| it.kind == Kind::Condensation && it.object.has("summary"));
    let mut left = summary.and_then(|it| it.object.get("summary_offset")?.number());
    let (mut last, mut gone) = (0, 0);
    for (at, event) in events.list.iter().enumerate() {
        if event.object.text("id").is_some_and(|it| forgotten.contains(&*it)) {
            (last, gone) = (at, gone + 1);
            continue;
        }
        if left == Some(0) {
            res.summary(summary);
        }
        left = left.and_then(|it| it.checked_sub(1));
        res.event(event);
    }
    if left == Some(0) {
        res.summary(summary);
    }
    res.end_answer();
    if gone > 0 {
        res.view.branches.push(Branch::until(last, BranchKind::Compacted, gone));
    }
    res.view
}

#[derive(Default)]
struct Reading {
    view: View,
    /// The answer whose actions still come, and the response that it is.
    answer: Option<(String, Draft)>,
}

impl Reading {
    fn event(&mut self, event: &Event<'_>) {
        let origin = origin(event);
        match event.kind {
            Kind::System => {
                let prompt = event.object.inner("system_prompt");
                let text = prompt.map(|it| parts::text(&it, "text")).unwrap_or_default();
                self.push(Role::System, vec![Part::text(text)], origin);
            }
            Kind::Message => {
                let Some(message) = event.object.inner("llm_message") else {
                    return;
                };
                let role = Role::from(&*message.text("role").unwrap_or_default());
                let mut list = thoughts(&message);
                list.extend(contents(message.get("content")));
                self.push(role, list, origin);
            }
            Kind::Action => self.action(event),
            Kind::Observation => {
                let result = result(&event.object);
                self.push(Role::Tool, vec![Part::ToolResult(result)], origin);
            }
            Kind::Condensation | Kind::Other => {}
        }
    }

    fn action(&mut self, event: &Event<'_>) {
        let response = parts::text(&event.object, "llm_response_id");
        if self.answer.as_ref().is_none_or(|it| it.0 != response) {
            self.end_answer();
        }
        let (_, draft) = self.answer.get_or_insert_with(|| (response, Draft::new(Role::Assistant)));
        let mut list = thoughts(&event.object);
        list.extend(contents(event.object.get("thought")));
        list.extend(call(&event.object).map(Part::ToolCall));
        list.into_iter().for_each(|it| draft.push(it, origin(event)));
    }

    fn push(&mut self, role: Role, list: Vec<Part>, origin: PartOrigin) {
        self.end_answer();
        let mut draft = Draft::new(role);
        list.into_iter().for_each(|it| draft.push(it, origin));
        self.view.push(draft);
    }

    fn summary(&mut self, event: Option<&Event<'_>>) {
        if let Some(event) = event {
            let text = parts::text(&event.object, "summary");
            self.push(Role::User, vec![Part::text(text)], origin(event));
        }
    }

    fn end_answer(&mut self) {
        if let Some((_, draft)) = self.answer.take() {
            self.view.push(draft);
        }
    }
}

fn origin(event: &Event<'_>) -> PartOrigin {
    PartOrigin { record: event.place.record.unwrap_or(0), block: None }
}

fn thoughts(object: &Object<'_>) -> Vec<Part> {
    let blocks = object.list("thinking_blocks");
    let blocks: Vec<_> = blocks.into_iter().filter_map(anthropic::part).collect();
    let text = object.text("reasoning_content").filter(|it| !it.is_empty());
    match text {
        Some(text) if blocks.is_empty() => vec![Part::Reasoning(Reasoning::new(text))],
        _ => blocks,
    }
}

/// A list of contents, or a text.
fn contents(content: Option<Value<'_>>) -> Vec<Part> {
    let Some(content) = content else { return Vec::new() };
    if let Some(text) = content.text() {
        return (!text.is_empty()).then(|| Part::text(text)).into_iter().collect();
    }
    content.array().into_iter().flatten().flat_map(items).collect()
}

fn items(value: Value<'_>) -> Vec<Part> {
    let Some(object) = value.object() else { return vec![parts::other(value)] };
    if let Some(urls) = object.get("image_urls").and_then(|it| it.array()) {
        let urls = urls.into_iter().filter_map(|it| it.text());
        return urls.map(|it| Part::Image(Image::from_url(it))).collect();
    }
    match object.text("text") {
        Some(text) if text.is_empty() => Vec::new(),
        Some(text) => vec![Part::text(text)],
        None => vec![parts::other(value)],
    }
}

fn call(action: &Object<'_>) -> Option<ToolCall> {
    let call = action.get("tool_call")?.object()?;
    let function = call.inner("function");
    let inner = function.as_ref().unwrap_or(&call);
    let id = call.text("id").or_else(|| action.text("tool_call_id")).unwrap_or_default();
    Some(ToolCall::new(id, parts::text(inner, "name"), parts::text(inner, "arguments")))
}

fn result(event: &Object<'_>) -> ToolResult {
    let id = parts::text(event, "tool_call_id");
    let name = event.text("tool_name").map(Into::into);
    let failed = ["error", "rejection_reason"].iter().find_map(|it| event.text(it));
    if let Some(text) = failed {
        return ToolResult { name, is_error: true, ..ToolResult::new(id, text.into_owned()) };
    }
    let observation = event.inner("observation");
    let content =
        observation.as_ref().and_then(|it| it.get("content").or_else(|| it.get("output")));
    let is_error = observation.as_ref().is_some_and(|it| it.is_true("is_error"));
    let content = Content::from(contents(content));
    ToolResult { name, is_error, ..ToolResult::new(id, content) }
}
