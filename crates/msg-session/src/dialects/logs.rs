//! Logs of runs without a screen: `claude -p --output-format stream-json` and `codex exec --json` (SE-153). They cannot
//! be resumed; the session itself is elsewhere, under the id that they name.
//!
//! ```text
//! {"type":"assistant","message":{"id":"m1","content":[…]},"parent_tool_use_id":null,"session_id":"5abd"}
//! {"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"ls","aggregated_output":"a","exit_code":0}}
//! ```

use std::collections::HashMap;

use msg_core::{Part, Reasoning, Role, ToolCall, ToolResult, Usage};

use super::{Format, LineRules, Mends};
use crate::Error;
use crate::finding::Finding;
use crate::frame::Lines;
use crate::json::{Object, Value, quoted};
use crate::options::RepairOptions;
use crate::parts::{self, anthropic};
use crate::view::{Draft, Origin, View, maker};

/// What Claude Code prints.
pub(crate) struct ClaudeStream;

/// What Codex prints.
pub(crate) struct CodexExec;

impl Format for ClaudeStream {
    fn line_rules(&self, _: &str, _: &[u8]) -> Option<&dyn LineRules> {
        Some(self)
    }
}

impl Format for CodexExec {
    fn line_rules(&self, _: &str, _: &[u8]) -> Option<&dyn LineRules> {
        Some(self)
    }
}

/// The mends of a log: its frame alone, and where the session is.
fn check(lines: &Lines<'_>, member: &str, agent: &str) -> Mends {
    let mut findings = lines.findings.clone();
    let named = (0..lines.records.len())
        .find_map(|it| Some((it, lines.object(it)?.text(member)?.into_owned())));
    if let Some((at, id)) = named {
        // What is not an id of these agents is not repeated.
        let is_id = id.len() <= 64 && id.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
        let id = if is_id { id.as_str() } else { "another file" };
        let message = format!("a log of {agent}, which cannot be resumed; its session is {id}");
        findings.push(Finding::info("session::is-a-log", lines.place(at), message));
    }
    let count = lines.records.len();
    Mends::new(count, count, findings, Vec::new())
}

impl LineRules for ClaudeStream {
    fn view_lines(&self, lines: &Lines<'_>, options: &RepairOptions) -> Result<View, Error> {
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

    fn check_lines(&self, lines: &Lines<'_>, _: &str, _: &RepairOptions) -> Result<Mends, Error> {
        Ok(check(lines, "session_id", "Claude Code"))
    }
}

/// The parts of a message whose content is a text or Anthropic blocks.
pub(super) fn blocks(at: usize, message: &Object<'_>) -> Vec<(Origin, Part)> {
    let Some(content) = message.get("content") else { return Vec::new() };
    if let Some(text) = content.text() {
        let part = (!text.is_empty()).then(|| (Origin::record(at), Part::text(text)));
        return part.into_iter().collect();
    }
    let list = content.array().unwrap_or_default().into_iter().enumerate();
    list.filter_map(|(n, it)| Some((Origin::block(at, n), anthropic::part(it)?))).collect()
}

/// A piece of an answer, which joins the answer of its id wherever that began.
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

/// What the user says: the results first.
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
            .map_or_else(|| crate::json::raw_json("{}"), |it| it.raw_json()),
    )
}

fn as_json(object: &Object<'_>) -> String {
    let members: Vec<String> =
        object.iter().map(|(name, value)| format!("{}:{}", quoted(name), value.source)).collect();
    format!("{{{}}}", members.join(","))
}

impl LineRules for CodexExec {
    fn view_lines(&self, lines: &Lines<'_>, options: &RepairOptions) -> Result<View, Error> {
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

    fn check_lines(&self, lines: &Lines<'_>, _: &str, _: &RepairOptions) -> Result<Mends, Error> {
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
        draft.push(part, Origin::record(at));
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
    results.push(Part::ToolResult(result), Origin::record(at));
    view.push(results);
}

/// The texts that a tool of a server gave back, or why it failed.
fn mcp_output(item: &Object<'_>) -> String {
    match item.inner("result") {
        Some(result) => {
            let texts = result.list("content").into_iter().filter_map(|it| it.get("text")?.text());
            texts.collect::<Vec<_>>().join("\n")
        }
        None => item.inner("error").map(|it| parts::text(&it, "message")).unwrap_or_default(),
    }
}
