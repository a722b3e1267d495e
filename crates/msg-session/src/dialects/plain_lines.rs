//! Lines of agents whose files are known from published examples alone: Kimi CLI, droid and Grok CLI (SE-155). They are
//! read; what their agents make of a fault is not known, so that doctor judges their frame and nothing else.
//!
//! ```text
//! kimi   {"type":"context.append_loop_event","event":{"type":"content.part","stepUuid":"s1","part":{"type":"text",…}}}
//! droid  {"type":"message","id":"m0","parentId":null,"message":{"role":"user","content":[…]}}
//! grok   {"type":"assistant","content":"Hello.","tool_calls":[{"id":"c1","name":"bash","arguments":"{}"}]}
//! ```

use std::collections::HashMap;

use msg_core::{Part, Reasoning, Role, ToolCall, ToolResult};

use super::{Format, LineRules, Mends, logs};
use crate::Error;
use crate::frame::Lines;
use crate::json::Object;
use crate::options::RepairOptions;
use crate::parts;
use crate::view::{Draft, Origin, View};

/// How the records of a dialect become messages, one after the other.
type Push = fn(&mut Reading, usize, &Object<'_>);

/// A dialect of this kind.
pub(crate) struct PlainLines(Push);

pub(crate) static KIMI: PlainLines = PlainLines(kimi);
pub(crate) static DROID: PlainLines = PlainLines(droid);
pub(crate) static GROK: PlainLines = PlainLines(grok);

/// Messages as they grow.
#[derive(Default)]
struct Reading {
    view: View,
    /// The answer of each step.
    steps: HashMap<String, usize>,
}

impl Format for PlainLines {
    fn line_rules(&self, _: &str, _: &[u8]) -> Option<&dyn LineRules> {
        Some(self)
    }
}

impl LineRules for PlainLines {
    fn view_lines(&self, lines: &Lines<'_>, options: &RepairOptions) -> Result<View, Error> {
        let mut res = Reading::default();
        for at in 0..super::records_to_leaf(options, lines.records.len())? {
            if let Some(record) = lines.object(at) {
                (self.0)(&mut res, at, &record);
            }
        }
        Ok(View { findings: lines.findings.clone(), ..res.view })
    }

    fn check_lines(&self, lines: &Lines<'_>, _: &str, _: &RepairOptions) -> Result<Mends, Error> {
        let count = lines.records.len();
        Ok(Mends::new(count, count, lines.findings.clone(), Vec::new()))
    }
}

fn kimi(to: &mut Reading, at: usize, record: &Object<'_>) {
    match record.text("type").as_deref() {
        Some("context.append_message") => {
            let Some(message) = record.inner("message") else { return };
            let mut draft = Draft::new(Role::from(&*message.text("role").unwrap_or_default()));
            texts(&mut draft, at, &message);
            to.view.push(draft);
        }
        Some("context.append_loop_event") => {
            let event = record.inner("event");
            event.iter().for_each(|it| kimi_event(to, at, it));
        }
        Some("context.clear") => *to = Reading::default(),
        _ => {}
    }
}

fn kimi_event(to: &mut Reading, at: usize, event: &Object<'_>) {
    let text = |name: &str| parts::text(event, name);
    let part = match &*text("type") {
        "content.part" => {
            let Some(part) = event.inner("part") else { return };
            match &*parts::text(&part, "type") {
                "think" => Part::Reasoning(Reasoning::new(parts::text(&part, "think"))),
                _ => Part::text(parts::text(&part, "text")),
            }
        }
        "tool.call" => {
            let arguments = event.get("args").map(|it| it.plain()).unwrap_or_default();
            Part::ToolCall(ToolCall::new(text("toolCallId"), text("name"), arguments))
        }
        "tool.result" => {
            let result = event.inner("result");
            let output = result.as_ref().and_then(|it| it.get("output")).map(|it| it.plain());
            let is_error = result.is_some_and(|it| it.is_true("isError"));
            let result = ToolResult::new(text("toolCallId"), output.unwrap_or_default());
            let mut draft = Draft::new(Role::Tool);
            draft.push(Part::ToolResult(ToolResult { is_error, ..result }), Origin::record(at));
            return to.view.push(draft);
        }
        _ => return,
    };
    let step = text("stepUuid");
    if let Some(known) = to.steps.get(&step).copied() {
        to.view.messages[known].parts.push(part);
        to.view.origins[known].push(Origin::record(at));
        return;
    }
    to.steps.insert(step, to.view.messages.len());
    let mut draft = Draft::new(Role::Assistant);
    draft.push(part, Origin::record(at));
    to.view.push(draft);
}

/// The texts of a content, which is one or a list of blocks; other blocks are kept as they are.
fn texts(draft: &mut Draft, at: usize, message: &Object<'_>) {
    let Some(content) = message.get("content") else { return };
    if let Some(text) = content.text() {
        if !text.is_empty() {
            draft.push(Part::text(text), Origin::record(at));
        }
        return;
    }
    for (n, value) in content.array().unwrap_or_default().into_iter().enumerate() {
        let block = value.object();
        let is_text =
            block.as_ref().is_some_and(|it| it.text("type").is_some_and(|it| it == "text"));
        let text = block.filter(|_| is_text).map(|it| parts::text(&it, "text"));
        draft.push(text.map_or_else(|| parts::other(value), Part::text), Origin::block(at, n));
    }
}

fn droid(to: &mut Reading, at: usize, record: &Object<'_>) {
    let is_message = record.text("type").is_some_and(|it| it == "message");
    let Some(message) = record.inner("message").filter(|_| is_message) else { return };
    if message.text("role").is_none_or(|it| it != "assistant") {
        return logs::user(&mut to.view, at, &message);
    }
    let mut draft = Draft::new(Role::Assistant);
    logs::blocks(at, &message).into_iter().for_each(|(origin, part)| draft.push(part, origin));
    to.view.push(draft);
}

fn grok(to: &mut Reading, at: usize, record: &Object<'_>) {
    let kind = record.text("type").unwrap_or_default();
    let mut draft = Draft::new(match &*kind {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool_result" => Role::Tool,
        _ => return,
    });
    texts(&mut draft, at, record);
    match &*kind {
        "assistant" => {
            draft.made_by(record.text("model_id"), None);
            for (n, call) in record.list("tool_calls").into_iter().enumerate() {
                let Some(call) = call.object() else { continue };
                let text = |name: &str| parts::text(&call, name);
                let call = ToolCall::new(text("id"), text("name"), text("arguments"));
                draft.push(Part::ToolCall(call), Origin::block(at, n));
            }
        }
        "tool_result" => {
            let content = msg_core::Content::from(std::mem::take(&mut draft.message.parts));
            let result = ToolResult::new(parts::text(record, "tool_call_id"), content);
            draft.origins.clear();
            draft.push(Part::ToolResult(result), Origin::record(at));
        }
        _ => {}
    }
    to.view.push(draft);
}
