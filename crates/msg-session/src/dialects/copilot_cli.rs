//! Copilot CLI: events in the order of the file (SE-137), read and written (SE-150).
//!
//! ```text
//! {"type":"session.start","data":{"sessionId":"…","producer":"copilot-agent",…},"id":"…","timestamp":"…"}
//! {"type":"user.message","data":{"content":"list","transformedContent":"<current_datetime>…list"},…}
//! {"type":"assistant.message","data":{"content":"","toolRequests":[{"toolCallId":"t1","name":"bash","arguments":{…}}]},…}
//! {"type":"tool.execution_complete","data":{"toolCallId":"t1","success":true,"result":{"content":"a"}},…}
//! ```

use std::collections::{HashMap, HashSet};

use msg_core::{Message, Part, Reasoning, Report, Role, Severity, ToolCall, ToolResult, Usage};
use msg_json::Writer;

use super::{LineRules, Mends};
use crate::dialects::records;
use crate::dialects::records::Event;
use crate::edit::{Object, set_member};
use crate::error::{Finding, SessionOptions};
use crate::frame::Lines;
use crate::view::{Branch, BranchKind, Draft, PartOrigin, View};
use crate::write::{WriteOptions, record_id, text_of, text_of_result, write_arguments};
use crate::{Error, parts};

/// The dialect.
pub(crate) struct CopilotCli;

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
                        let edit = |it: &str| set_member(&record, "timestamp", it);
                        edits.extend(time.map(edit));
                    }
                }
            }
            let Some((kind, data)) = event(lines, at) else { continue };
            if is_compaction(&kind, &data) {
                events.clear();
            }
            add_events(lines, at, &kind, &data, &mut events);
            let to = (&mut findings, &mut edits);
            super::replace_lone_surrogates(lines.value(at), lines.place(at), lines.has_marks(), to);
        }
        findings.extend(missing_time(lines, &without_time));
        findings.extend(records::check_pairs(&events, Severity::Warning).findings);
        let count = lines.records.len();
        let removed = if options.all { repeated.len() } else { 0 };
        Ok(Mends::new(count, count - removed, findings, edits))
    }

    /// All content is in `data`.
    fn reads(&self) -> Option<fn(&Object<'_>) -> bool> {
        Some(|record| record.has("data"))
    }
}

/// The records that repeat an earlier one byte for byte. Every event has its own id.
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

/// Findings about events without a time: Copilot CLI does not load such a session.
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

/// The type and data of an event; `None` for events of a subagent.
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

// A session of Copilot CLI (SE-137, SE-150): the events of its turns, in order.

pub(super) fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let mut events = Events { options, out: Vec::new(), parent: None, count: 0 };
    events.start();
    let mut turns = 0_u64;
    let mut is_open = false;
    let mut models = HashMap::new();
    for message in messages {
        match message.role {
            Role::Assistant => {
                events.end_turn(&mut is_open, turns);
                turns += 1;
                is_open = true;
                let model = message.provenance().and_then(|it| it.model.as_deref());
                let model = model.unwrap_or(UNKNOWN);
                models.extend(message.tool_calls().map(|it| (it.id.as_str(), model)));
                events.answer(message, model, turns);
            }
            _ => {
                for result in message.tool_results() {
                    let model = models.get(&*result.call_id).copied().unwrap_or(UNKNOWN);
                    events.result(result, model, turns);
                }
                let text = text_of(message);
                if !text.is_empty() && message.role != Role::Tool {
                    events.end_turn(&mut is_open, turns);
                    events.user(&text, turns);
                }
            }
        }
    }
    events.end_turn(&mut is_open, turns);
    events.out
}

const UNKNOWN: &str = "unknown";
const INTERACTION: &str = "i1";

struct Events<'o> {
    options: &'o WriteOptions,
    out: Vec<u8>,
    parent: Option<String>,
    count: u64,
}

impl Events<'_> {
    fn push(&mut self, kind: &str, data: impl FnOnce(&mut Writer<'_>)) {
        self.count += 1;
        let id = record_id(&self.options.session_id, self.count);
        Writer::new(&mut self.out).object(|it| {
            it.key("type").str(kind);
            it.key("data").object(data);
            it.key("id").str(&id);
            it.key("timestamp").str(&self.options.now);
            it.key("parentId").opt_str(self.parent.as_deref());
        });
        self.out.push(b'\n');
        self.parent = Some(id);
    }

    fn start(&mut self) {
        let options = self.options;
        self.push("session.start", |it| {
            it.key("sessionId").str(&options.session_id);
            it.key("version").u64(1);
            it.key("producer").str("copilot-agent");
            it.key("copilotVersion").str(&options.version);
            it.key("startTime").str(&options.now);
            it.key("context").object(|it| it.key("cwd").str(&options.cwd));
        });
    }

    fn user(&mut self, text: &str, turn: u64) {
        self.push("user.message", |it| {
            it.key("content").str(text);
            it.key("transformedContent").str(text);
            it.key("attachments").array([(); 0], |_, ()| {});
            it.key("interactionId").str(INTERACTION);
            it.key("turnId").str(&turn.to_string());
        });
    }

    fn answer(&mut self, message: &Message, model: &str, turn: u64) {
        let turn_id = turn.to_string();
        self.push("assistant.turn_start", |it| {
            it.key("turnId").str(&turn_id);
            it.key("interactionId").str(INTERACTION);
        });
        let thoughts: Vec<_> = message.reasoning().collect();
        let texts: Vec<_> = thoughts.iter().map(|it| it.display_text()).collect();
        self.push("assistant.message", |it| {
            it.key("messageId").str(&format!("m{turn}"));
            it.key("model").str(model);
            it.key("content").str(&text_of(message));
            it.key("toolRequests").array(message.tool_calls(), request);
            if !thoughts.is_empty() {
                it.key("reasoningText").str(&texts.join("\n\n"));
            }
            if let Some(seal) = thoughts.iter().find_map(|it| it.signature.as_deref()) {
                it.key("reasoningOpaque").str(seal);
            }
            it.key("interactionId").str(INTERACTION);
            it.key("turnId").str(&turn_id);
        });
        for call in message.tool_calls() {
            self.push("tool.execution_start", |it| {
                it.key("toolCallId").str(&call.id);
                it.key("toolName").str(&call.name);
                write_arguments(it.key("arguments"), call);
                it.key("turnId").str(&turn_id);
            });
        }
    }

    fn result(&mut self, result: &ToolResult, model: &str, turn: u64) {
        self.push("tool.execution_complete", |it| {
            it.key("toolCallId").str(&result.call_id);
            it.key("model").str(model);
            it.key("interactionId").str(INTERACTION);
            it.key("turnId").str(&turn.to_string());
            it.key("success").bool(!result.is_error);
            let text = text_of_result(result);
            match result.is_error {
                true => it.key("error").object(|it| {
                    it.key("message").str(&text);
                    it.key("code").str("failure");
                }),
                false => it.key("result").object(|it| {
                    it.key("content").str(&text);
                    it.key("detailedContent").str(&text);
                }),
            }
        });
    }

    fn end_turn(&mut self, is_open: &mut bool, turn: u64) {
        if std::mem::take(is_open) {
            self.push("assistant.turn_end", |it| it.key("turnId").str(&turn.to_string()));
        }
    }
}

fn request(it: &mut Writer<'_>, call: &ToolCall) {
    it.object(|it| {
        it.key("toolCallId").str(&call.id);
        it.key("name").str(&call.name);
        write_arguments(it.key("arguments"), call);
        it.key("type").str("function");
    });
}
