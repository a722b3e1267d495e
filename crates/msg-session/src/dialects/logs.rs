//! Logs of headless runs: `claude -p --output-format stream-json` and `codex exec --json` (SE-153). They cannot be
//! resumed; they name the id of the session, which is elsewhere.
//!
//! ```text
//! {"type":"assistant","message":{"id":"m1","content":[…]},"parent_tool_use_id":null,"session_id":"5abd"}
//! {"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"ls","aggregated_output":"a","exit_code":0}}
//! ```

use std::collections::HashMap;

use msg_core::{Part, Reasoning, Role, ToolCall, ToolResult, Usage};

use super::{LineRules, Mends};
use crate::dialects::logs;
use crate::edit::{Object, Value, quoted};
use crate::error::{Finding, SessionOptions};
use crate::frame::Lines;
use crate::view::{Draft, PartOrigin, View, maker};
use crate::{Error, parts};

/// The output of Claude Code.
pub(crate) struct ClaudeStream;

/// The output of Codex.
pub(crate) struct CodexExec;

/// Checks a log: only its frame, and where the session is.
fn check(lines: &Lines<'_>, member: &str, agent: &str) -> Mends {
    let mut findings = lines.findings.clone();
    let named = (0..lines.records.len())
        .find_map(|it| Some((it, lines.object(it)?.text(member)?.into_owned())));
    if let Some((at, id)) = named {
        // Only a valid id of these agents is repeated in a message.
        let is_id = id.len() <= 64 && id.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
        let id = if is_id { id.as_str() } else { "another file" };
        let message = format!("a log of {agent}, which cannot be resumed; its session is {id}");
        findings.push(Finding::info("session::is-a-log", lines.place(at), message));
    }
    let count = lines.records.len();
    Mends::new(count, count, findings, Vec::new())
}

impl LineRules for ClaudeStream {
    fn view_lines(&self, lines: &Lines<'_>, options: &SessionOptions) -> Result<View, Error> {
        let mut view = View { findings: lines.findings.clone(), ..View::default() };
        let mut answers: HashMap<String, usize> = HashMap::new();
        for at in 0..super::records_to_leaf(options, lines.records.len())? {
            let Some(record) = lines.object(at) else { continue };
            if record.text("type").is_some_and(|it| it == "result") {
                view.usage = record.inner("usage").map(|it| usage(&it)).unwrap_or_default();
            }
            if record.text("parent_tool_use_id").is_some() {
                continue;
            }
            let Some(message) = record.inner("message") else { continue };
            match record.text("type").as_deref() {
                Some("assistant") => answer(&mut view, &mut answers, at, &message),
                Some("user") => user(&mut view, at, &message),
                _ => {}
            }
        }
        Ok(view)
    }

    fn check_lines(&self, lines: &Lines<'_>, _: &str, _: &SessionOptions) -> Result<Mends, Error> {
        Ok(check(lines, "session_id", "Claude Code"))
    }

    fn reads(&self) -> Option<fn(&Object<'_>) -> bool> {
        Some(|record| record.text("type").is_some_and(|it| matches!(&*it, "user" | "assistant")))
    }
}

/// The parts of a message whose content is a text or Anthropic blocks.
pub(super) fn blocks(at: usize, message: &Object<'_>) -> Vec<(PartOrigin, Part)> {
    let Some(content) = message.get("content") else { return Vec::new() };
    if let Some(text) = content.text() {
        let part = (!text.is_empty()).then(|| (PartOrigin::record(at), Part::text(text)));
        return part.into_iter().collect();
    }
    let list = content.array().unwrap_or_default().into_iter().enumerate();
    list.filter_map(|(n, it)| Some((PartOrigin::block(at, n), parts::anthropic_part(it)?)))
        .collect()
}

/// A piece of an answer; joins the answer with the same id, wherever that began.
fn answer(view: &mut View, answers: &mut HashMap<String, usize>, at: usize, message: &Object<'_>) {
    let parts = blocks(at, message);
    let id = message.text("id").map(|it| it.into_owned());
    if let Some(known) = id.as_ref().and_then(|it| answers.get(it).copied()) {
        for (origin, part) in parts {
            view.messages[known].parts.push(part);
            view.origins[known].push(origin);
        }
        return;
    }
    let mut draft = Draft::new(Role::Assistant);
    draft.message.set_provenance(maker(message.text("model"), None));
    parts.into_iter().for_each(|(origin, part)| draft.push(part, origin));
    let before = view.messages.len();
    view.push(draft);
    if view.messages.len() > before {
        answers.extend(id.map(|it| (it, before)));
    }
}

/// A user message: the results first.
pub(super) fn user(view: &mut View, at: usize, message: &Object<'_>) {
    let mut results = Draft::new(Role::Tool);
    let mut draft = Draft::new(Role::User);
    for (origin, part) in blocks(at, message) {
        let is_result = part.as_tool_result().is_some();
        if is_result { &mut results } else { &mut draft }.push(part, origin);
    }
    view.push(results);
    view.push(draft);
}

fn usage(tokens: &Object<'_>) -> Usage {
    Usage::from_raw(
        Value::whole(&as_json(tokens), 0)
            .map_or_else(|| crate::edit::raw_json("{}"), |it| it.raw_json()),
    )
}

fn as_json(object: &Object<'_>) -> String {
    let members: Vec<String> =
        object.iter().map(|(name, value)| format!("{}:{}", quoted(name), value.source)).collect();
    format!("{{{}}}", members.join(","))
}

impl LineRules for CodexExec {
    fn view_lines(&self, lines: &Lines<'_>, options: &SessionOptions) -> Result<View, Error> {
        let mut view = View { findings: lines.findings.clone(), ..View::default() };
        for at in 0..super::records_to_leaf(options, lines.records.len())? {
            let Some(record) = lines.object(at) else { continue };
            match record.text("type").as_deref() {
                Some("item.completed") => {
                    let item = record.inner("item");
                    item.iter().for_each(|it| push_item(&mut view, at, it));
                }
                Some("turn.completed") => {
                    let turn = record.inner("usage").map(|it| turn_usage(&it));
                    let sum = super::add_usage(view.usage.clone(), turn.unwrap_or_default());
                    view.usage = sum;
                }
                _ => {}
            }
        }
        Ok(view)
    }

    fn check_lines(&self, lines: &Lines<'_>, _: &str, _: &SessionOptions) -> Result<Mends, Error> {
        Ok(check(lines, "thread_id", "Codex"))
    }
}

fn turn_usage(tokens: &Object<'_>) -> Usage {
    let number = |name: &str| tokens.get(name).and_then(|it| it.number());
    Usage {
        input: number("input_tokens"),
        output: number("output_tokens"),
        cached: number("cached_input_tokens"),
        reasoning: number("reasoning_output_tokens"),
        ..Usage::default()
    }
}

fn push_item(view: &mut View, at: usize, item: &Object<'_>) {
    let text = |name: &str| parts::text(item, name);
    let said = |part: Part| {
        let mut draft = Draft::new(Role::Assistant);
        draft.push(part, PartOrigin::record(at));
        draft
    };
    let source = |name: &str| item.get(name).map_or("null", |it| it.source);
    let has_failed = item.text("status").is_some_and(|it| it == "failed");
    let (name, arguments, output, is_error) = match &*text("type") {
        "agent_message" => return view.push(said(Part::text(text("text")))),
        "reasoning" => return view.push(said(Part::Reasoning(Reasoning::new(text("text"))))),
        "command_execution" => {
            let code = item.get("exit_code").filter(|it| !it.is_null() && it.source != "0");
            let arguments = format!("{{\"command\":{}}}", source("command"));
            let is_error = has_failed || code.is_some();
            ("command_execution".to_owned(), arguments, text("aggregated_output"), is_error)
        }
        "mcp_tool_call" => {
            let name = format!("{}.{}", text("server"), text("tool"));
            let arguments = item.get("arguments").filter(|it| !it.is_null());
            let arguments = arguments.map_or("{}", |it| it.source).to_owned();
            (name, arguments, mcp_output(item), has_failed)
        }
        "file_change" => {
            let arguments = format!("{{\"changes\":{}}}", source("changes"));
            ("file_change".to_owned(), arguments, text("status"), has_failed)
        }
        "web_search" => {
            let arguments = format!("{{\"query\":{}}}", source("query"));
            ("web_search".to_owned(), arguments, String::new(), false)
        }
        _ => return,
    };
    let id = text("id");
    view.push(said(Part::ToolCall(ToolCall::new(id.clone(), name, arguments))));
    let mut results = Draft::new(Role::Tool);
    let result = ToolResult { is_error, ..ToolResult::new(id, output) };
    results.push(Part::ToolResult(result), PartOrigin::record(at));
    view.push(results);
}

/// The texts returned by an MCP tool, or its error.
fn mcp_output(item: &Object<'_>) -> String {
    match item.inner("result") {
        Some(result) => {
            let texts = result.list("content").into_iter().filter_map(|it| it.get("text")?.text());
            texts.collect::<Vec<_>>().join("\n")
        }
        None => item.inner("error").map(|it| parts::text(&it, "message")).unwrap_or_default(),
    }
}

// JSON Lines of agents whose file formats are known only from published examples: Kimi CLI, droid and Grok CLI
// (SE-155). They are read. How these agents handle a damaged session is unknown, so doctor only checks the frame.
//
// ```text
// kimi   {"type":"context.append_loop_event","event":{"type":"content.part","stepUuid":"s1","part":{"type":"text",…}}}
// droid  {"type":"message","id":"m0","parentId":null,"message":{"role":"user","content":[…]}}
// grok   {"type":"assistant","content":"Hello.","tool_calls":[{"id":"c1","name":"bash","arguments":"{}"}]}
// ```

/// Adds a record of a dialect to the messages.
type Push = fn(&mut Reading, usize, &Object<'_>);

/// A dialect of this kind.
pub(crate) struct PlainLines(Push);

pub(crate) const KIMI: PlainLines = PlainLines(kimi);
pub(crate) const DROID: PlainLines = PlainLines(droid);
pub(crate) const GROK: PlainLines = PlainLines(grok);

/// The messages read so far.
#[derive(Default)]
struct Reading {
    view: View,
    /// The answer of each step.
    steps: HashMap<String, usize>,
}

impl LineRules for PlainLines {
    fn view_lines(&self, lines: &Lines<'_>, options: &SessionOptions) -> Result<View, Error> {
        let mut res = Reading::default();
        for at in 0..super::records_to_leaf(options, lines.records.len())? {
            if let Some(record) = lines.object(at) {
                (self.0)(&mut res, at, &record);
            }
        }
        Ok(View { findings: lines.findings.clone(), ..res.view })
    }

    fn check_lines(&self, lines: &Lines<'_>, _: &str, _: &SessionOptions) -> Result<Mends, Error> {
        let count = lines.records.len();
        Ok(Mends::new(count, count, lines.findings.clone(), Vec::new()))
    }

    fn reads(&self) -> Option<fn(&Object<'_>) -> bool> {
        Some(|record| {
            const KINDS: [&str; 6] =
                ["context.append_message", "message", "system", "user", "assistant", "tool_result"];
            record.text("type").is_some_and(|it| KINDS.contains(&&*it))
        })
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
            draft.push(Part::ToolResult(ToolResult { is_error, ..result }), PartOrigin::record(at));
            return to.view.push(draft);
        }
        _ => return,
    };
    let step = text("stepUuid");
    if let Some(known) = to.steps.get(&step).copied() {
        to.view.messages[known].parts.push(part);
        to.view.origins[known].push(PartOrigin::record(at));
        return;
    }
    to.steps.insert(step, to.view.messages.len());
    let mut draft = Draft::new(Role::Assistant);
    draft.push(part, PartOrigin::record(at));
    to.view.push(draft);
}

/// The texts of a content, which is a text or a list of blocks; other blocks are kept unchanged.
fn texts(draft: &mut Draft, at: usize, message: &Object<'_>) {
    let Some(content) = message.get("content") else { return };
    if let Some(text) = content.text() {
        if !text.is_empty() {
            draft.push(Part::text(text), PartOrigin::record(at));
        }
        return;
    }
    for (n, value) in content.array().unwrap_or_default().into_iter().enumerate() {
        let block = value.object();
        let is_text =
            block.as_ref().is_some_and(|it| it.text("type").is_some_and(|it| it == "text"));
        let text = block.filter(|_| is_text).map(|it| parts::text(&it, "text"));
        draft.push(text.map_or_else(|| parts::other(value), Part::text), PartOrigin::block(at, n));
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
                draft.push(Part::ToolCall(call), PartOrigin::block(at, n));
            }
        }
        "tool_result" => {
            let content = msg_core::Content::from(std::mem::take(&mut draft.message.parts));
            let result = ToolResult::new(parts::text(record, "tool_call_id"), content);
            draft.origins.clear();
            draft.push(Part::ToolResult(result), PartOrigin::record(at));
        }
        _ => {}
    }
    to.view.push(draft);
}
