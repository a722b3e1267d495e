//! Copilot CLI: events in the order of the file (SE-137).
//!
//! ```text
//! {"type":"session.start","data":{"sessionId":"…","producer":"copilot-agent",…},"id":"…","timestamp":"…"}
//! {"type":"user.message","data":{"content":"list","transformedContent":"<current_datetime>…list"},…}
//! {"type":"assistant.message","data":{"content":"","toolRequests":[{"toolCallId":"t1","name":"bash","arguments":{…}}]},…}
//! {"type":"tool.execution_complete","data":{"toolCallId":"t1","success":true,"result":{"content":"a"}},…}
//! ```

use std::collections::{HashMap, HashSet};

use msg_core::{Part, Reasoning, Role, Severity, ToolCall, ToolResult, Usage};

use super::{Format, LineRules, Mends};
use crate::Error;
use crate::dialects::list;
use crate::dialects::list::Event;
use crate::edit::set_member;
use crate::excerpt::spelled;
use crate::finding::Finding;
use crate::frame::Lines;
use crate::json::Object;
use crate::options::SessionOptions;
use crate::parts;
use crate::surrogate;
use crate::view::{Branch, BranchKind};
use crate::view::{Draft, PartOrigin, View};

/// The dialect.
pub(crate) struct CopilotCli;

impl Format for CopilotCli {
    fn line_rules(&self, _: &str, _: &[u8]) -> Option<&dyn LineRules> {
        Some(self)
    }
}

impl LineRules for CopilotCli {
    fn view_lines(&self, lines: &Lines<'_>, options: &SessionOptions) -> Result<View, Error> {
        let mut view = View { findings: lines.findings.clone(), ..View::default() };
        let end = super::records_to_leaf(options, lines.records.len())?;
        let repeated = repeated(lines);
        for at in (0..end).filter(|it| !repeated.contains(it)) {
            let Some((kind, data)) = event(lines, at) else { continue };
            if is_compaction(&kind, &data) {
                let gone = view.messages.len();
                view.branches.extend(Branch::before(at, BranchKind::Compacted, gone));
                view.messages.clear();
                view.origins.clear();
            }
            push(&mut view, at, &kind, &data);
        }
        view.usage = (0..lines.records.len())
            .filter(|it| !repeated.contains(it))
            .filter_map(|it| usage(lines, it))
            .fold(Usage::default(), super::add_usage);
        Ok(view)
    }

    fn check_lines(
        &self,
        lines: &Lines<'_>,
        _: &str,
        options: &SessionOptions,
    ) -> Result<Mends, Error> {
        let mut findings = lines.findings.clone();
        let mut edits = Vec::new();
        let is_header = |it: &Object<'_>| it.text("type").is_some_and(|it| it == "session.start");
        super::header_first(lines, is_header, "Copilot CLI", &mut findings, &mut edits);
        let mut events = Vec::new();
        let (mut without_time, mut time) = (Vec::new(), None);
        let repeated = repeated(lines);
        for at in 0..super::records_to_leaf(options, lines.records.len())? {
            if repeated.contains(&at) {
                let place = lines.place(at);
                let finding =
                    Finding::warning("session::duplicate-record", place, "duplicate record");
                findings.push(finding.mended("remove the later one", options.all));
                edits.extend(options.all.then(|| lines.remove(at)));
                continue;
            }
            if let Some(record) = lines.object(at) {
                match record.get("timestamp") {
                    Some(it) => time = Some(it.source),
                    None => {
                        without_time.push(at);
                        let edit = |it: &str| set_member(&record, "timestamp", spelled(it));
                        edits.extend(time.map(edit));
                    }
                }
            }
            let Some((kind, data)) = event(lines, at) else { continue };
            if is_compaction(&kind, &data) {
                events.clear();
            }
            add_events(lines, at, &kind, &data, &mut events);
            let found = lines.value(at).map(|it| surrogate::mend(it, lines.has_marks()));
            let found = found.unwrap_or_default();
            findings.extend(super::lone_surrogates(lines.place(at), found.count));
            edits.extend(found.edits);
        }
        findings.extend(missing_time(lines, &without_time));
        findings.extend(list::check_pairs(&events, Severity::Warning).findings);
        let count = lines.records.len();
        let removed = if options.all { repeated.len() } else { 0 };
        Ok(Mends::new(count, count - removed, findings, edits))
    }
}

/// The records that repeat an earlier one byte for byte: an event has an id of its own.
fn repeated(lines: &Lines<'_>) -> HashSet<usize> {
    let mut known = HashMap::new();
    let is_repeated = |at: &usize| {
        let Some(id) = lines.object(*at).and_then(|it| Some(it.text("id")?.into_owned())) else {
            return false;
        };
        let first = *known.entry(id).or_insert(*at);
        first != *at && lines.are_same(first, *at)
    };
    (0..lines.records.len()).filter(is_repeated).collect()
}

/// Events without a time, without which the session is not loaded.
fn missing_time(lines: &Lines<'_>, records: &[usize]) -> Vec<Finding> {
    let message = "the event has no timestamp, without which Copilot CLI does not load the session";
    let finding = |at: &usize| {
        let finding = Finding::error("session::missing-time", lines.place(*at), message);
        let has_time = |it: usize| lines.object(it).is_some_and(|it| it.has("timestamp"));
        match (0..*at).any(has_time) {
            true => finding.mended("set the time of the event before it", false),
            false => finding,
        }
    };
    records.iter().take(1).map(finding).collect()
}

/// The type of an event and its data; none of a subagent's.
fn event<'a>(lines: &'a Lines<'_>, at: usize) -> Option<(String, Object<'a>)> {
    let record = lines.object(at)?;
    let data = record.inner("data").filter(|it| !it.has("parentToolCallId"))?;
    Some((record.text("type")?.into_owned(), data))
}

fn is_compaction(kind: &str, data: &Object<'_>) -> bool {
    kind == "session.compaction_complete"
        && data.is_true("success")
        && data.text("summaryContent").is_some_and(|it| !it.is_empty())
}

fn push(view: &mut View, at: usize, kind: &str, data: &Object<'_>) {
    let here = PartOrigin::record(at);
    let mut draft = match kind {
        "user.message" | "session.compaction_complete" => Draft::new(Role::User),
        "assistant.message" => Draft::new(Role::Assistant),
        "tool.execution_complete" => Draft::new(Role::Tool),
        _ => return,
    };
    let text = |name: &str| data.text(name).filter(|it| !it.is_empty());
    let said = || data.plain("content").filter(|it| !it.is_empty());
    match kind {
        "session.compaction_complete" if is_compaction(kind, data) => {
            text("summaryContent").into_iter().for_each(|it| draft.push(Part::text(it), here));
        }
        "user.message" => {
            said().into_iter().for_each(|it| draft.push(Part::text(it), here));
        }
        "assistant.message" => {
            draft.made_by(data.text("model"), None);
            let (thought, signature) = (text("reasoningText"), text("reasoningOpaque"));
            if thought.is_some() || signature.is_some() {
                let (text, signature) = (thought.map(Into::into), signature.map(Into::into));
                let thought = Reasoning { text, signature, ..Reasoning::default() };
                draft.push(Part::Reasoning(thought), here);
            }
            said().into_iter().for_each(|it| draft.push(Part::text(it), here));
            for (block, call) in data.list("toolRequests").into_iter().enumerate() {
                let Some(call) = call.object() else { continue };
                let arguments = call.get("arguments").map(|it| it.plain()).unwrap_or_default();
                let (id, name) = (parts::text(&call, "toolCallId"), parts::text(&call, "name"));
                let call = ToolCall::new(id, name, arguments);
                draft.push(Part::ToolCall(call), PartOrigin::block(at, block));
            }
        }
        "tool.execution_complete" => draft.push(Part::ToolResult(result(data)), here),
        _ => {}
    }
    view.push(draft);
}

fn result(data: &Object<'_>) -> ToolResult {
    let is_error = !data.is_true("success");
    let (member, name) = if is_error { ("error", "message") } else { ("result", "content") };
    let content = data.inner(member).map(|it| parts::text(&it, name)).unwrap_or_default();
    ToolResult { is_error, ..ToolResult::new(parts::text(data, "toolCallId"), content) }
}

fn add_events<'a>(
    lines: &Lines<'_>,
    at: usize,
    kind: &str,
    data: &Object<'a>,
    to: &mut Vec<Event<'a>>,
) {
    let place = lines.place(at);
    match kind {
        "user.message" => to.push(Event::Says),
        "assistant.message" => {
            to.push(Event::Says);
            for (block, call) in data.list("toolRequests").into_iter().enumerate() {
                let id = call.object().and_then(|it| it.text("toolCallId"));
                to.extend(id.map(|it| Event::Call(it, place.with_block(block))));
            }
        }
        "tool.execution_complete" => {
            to.extend(data.text("toolCallId").map(|it| Event::Result(it, place)));
        }
        _ => {}
    }
}

fn usage(lines: &Lines<'_>, at: usize) -> Option<Usage> {
    let record = lines.object(at)?;
    (record.text("type")? == "session.usage_record").then_some(())?;
    let data = record.inner("data")?;
    let tokens = data.inner("usage").unwrap_or(data);
    let number = |name: &str| tokens.get(name).and_then(|it| it.number());
    Some(Usage {
        input: number("inputTokens"),
        output: number("outputTokens"),
        cached: number("cacheReadTokens"),
        cache_write: number("cacheWriteTokens"),
        reasoning: number("reasoningTokens"),
        ..Usage::default()
    })
}
