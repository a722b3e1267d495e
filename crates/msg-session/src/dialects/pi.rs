//! pi and openclaw: a header, then entries that form a tree, read and written (SE-135).
//!
//! ```text
//! {"type":"session","version":3,"id":"01a2…","timestamp":"…","cwd":"/srv/app"}
//! {"type":"message","id":"a0000003","parentId":null,"message":{"role":"user","content":[…]}}
//! {"type":"message","id":"a0000004","parentId":"a0000003","message":{"role":"assistant","content":[{"type":"toolCall",…}]}}
//! {"type":"compaction","id":"a0000009","parentId":"a0000008","summary":"…","firstKeptEntryId":"a0000006"}
//! ```

mod faults;

use std::collections::{HashMap, HashSet};

use msg_core::{Message, Part, Reasoning, Report, Role, Severity, ToolCall, ToolResult, Usage};
use msg_json::Writer;

use self::faults::LateResult;
use super::records::{Chain, Moves, Names};
use super::{LineRules, Mends};
use crate::dialects::records;
use crate::dialects::records::Event;
use crate::edit::{Edit, Object, Value};
use crate::error::{Finding, SessionOptions, SessionPlace};
use crate::frame::Lines;
use crate::view::{Draft, PartOrigin, View, maker};
use crate::write::{WriteOptions, data_url, parts_but_results, write_arguments};
use crate::{Error, parts};

/// The dialect.
pub(crate) struct Pi;

const NAMES: Names = Names { id: "id", parent: "parentId", last_counts: true };

impl LineRules for Pi {
    fn view_lines(&self, lines: &Lines<'_>, options: &SessionOptions) -> Result<View, Error> {
        let path = Path::read(lines, options)?;
        let mut view = View { findings: lines.findings.clone(), ..View::default() };
        for at in path.sent(lines) {
            if let Some(entry) = lines.object(at) {
                push(&mut view, at, &entry);
            }
        }
        view.usage = (0..lines.records.len())
            .filter_map(|it| usage(&lines.object(it)?))
            .fold(Usage::default(), super::add_usage);
        if let Some(chain) = &path.chain {
            let is_compaction = |at: usize| kind(lines, at).is_some_and(|it| it == "compaction");
            view.branches = chain.compactions(&path.sent(lines), is_compaction);
            view.branches.extend(chain.branches(|it| says(lines, it)));
            msg_core::sort_by_rank(&mut view.branches, |it| it.record);
        }
        view.findings.extend(path.chain.into_iter().flat_map(|it| it.findings));
        Ok(view)
    }

    fn check_lines(
        &self,
        lines: &Lines<'_>,
        _: &str,
        options: &SessionOptions,
    ) -> Result<Mends, Error> {
        let mut path = Path::read(lines, options)?;
        let mut findings = lines.findings.clone();
        let mut edits = Vec::new();
        super::header_first(lines, is_header, "pi", &mut findings, &mut edits);
        findings.extend(path.chain.iter_mut().flat_map(|it| std::mem::take(&mut it.findings)));
        let (events, records) = path.events(lines);
        let late = faults::late_results(&events);
        let mut pairs = records::check_pairs(&events, Severity::Error);
        let mut removed: HashSet<usize> = pairs.dropped.iter().map(|it| records[*it]).collect();
        let (empty, found) = faults::without_message(lines);
        removed.extend(empty);
        findings.extend(found);
        if let Some(chain) = &path.chain {
            let (copies, found) = chain.copies(&removed);
            removed.extend(copies);
            findings.extend(found);
        }
        let moves = path.moves(lines, &removed, (&late, &records), options);
        let is_moved = moves.is_some();
        findings.extend(late.into_iter().map(|it| match is_moved {
            true => it.finding.mended("move it after its call", false),
            false => it.finding,
        }));
        let fix = |it: Finding| match it.is_error() {
            true => it.mended("remove the record", false),
            false => it,
        };
        findings.extend(std::mem::take(&mut pairs.findings).into_iter().map(fix));
        for at in path.whole(lines).into_iter().filter(|it| !removed.contains(it)) {
            let (found, added) = faults::without_content(lines, at).unzip();
            findings.extend(found);
            edits.extend(added);
            let to = (&mut findings, &mut edits);
            super::replace_lone_surrogates(lines.value(at), lines.place(at), lines.has_marks(), to);
        }
        let left = lines.records.len() - removed.len();
        let (moved, moves) = moves.unwrap_or_default();
        edits.extend(moves.lines.iter().map(|(after, line)| lines.insert_after(*after, line)));
        removed.extend(moved);
        edits.extend(match &path.chain {
            Some(chain) => chain.edits(&removed, &moves.links),
            None => removed.iter().map(|it| lines.remove(*it)).collect::<Vec<Edit>>(),
        });
        Ok(Mends::new(lines.records.len(), left, findings, edits))
    }

    fn reads(&self) -> Option<fn(&Object<'_>) -> bool> {
        Some(|record| {
            let role =
                record.inner("message").and_then(|it| it.text("role").map(Into::<String>::into));
            let is_message = record.text("type").is_some_and(|it| it == "message");
            is_message && role.is_some_and(|it| ROLES.contains(&&*it))
        })
    }
}

/// The roles of messages.
const ROLES: [&str; 8] = [
    "user",
    "assistant",
    "toolResult",
    "custom",
    "hookMessage",
    "branchSummary",
    "compactionSummary",
    "bashExecution",
];

fn is_header(record: &Object<'_>) -> bool {
    record.text("type").is_some_and(|it| it == "session")
}

/// The entries that are read: the ancestors of the last one, or all entries if they have no ids.
struct Path<'a> {
    chain: Option<Chain<'a>>,
    path: Vec<usize>,
}

impl<'a> Path<'a> {
    fn read(lines: &'a Lines<'a>, options: &SessionOptions) -> Result<Self, Error> {
        let entries = || (0..lines.records.len()).filter_map(|it| Some((it, lines.object(it)?)));
        // The first version has no ids: pi links its entries in file order and ignores existing ids.
        let version = entries().find(|it| is_header(&it.1)).map(|it| it.1.get("version"));
        let is_first = version.is_some_and(|it| it.and_then(|it| it.number()).unwrap_or(1) < 2);
        let has_ids = !is_first && entries().any(|it| !is_header(&it.1) && it.1.has("id"));
        if !has_ids {
            let end = super::records_to_leaf(options, lines.records.len())?;
            let path = entries().take_while(|it| it.0 < end).filter(|it| !is_header(&it.1));
            return Ok(Self { chain: None, path: path.map(|it| it.0).collect() });
        }
        let leaf = options.leaf.as_deref();
        let is_entry = |it: &Object<'_>| !is_header(it);
        let chain = Chain::read(lines, NAMES, leaf, is_entry, |it| says(lines, it));
        let chain = chain.ok_or_else(|| Error::NoLeaf(leaf.unwrap_or_default().to_owned()))?;
        Ok(Self { path: chain.path.clone(), chain: Some(chain) })
    }

    /// The entries that are sent.
    fn sent(&self, lines: &Lines<'_>) -> Vec<usize> {
        self.compacted(lines, &self.path)
    }

    /// The entries that would be sent after lost links are repaired.
    fn whole(&self, lines: &Lines<'_>) -> Vec<usize> {
        self.compacted(lines, self.chain.as_ref().map_or(&self.path, |it| &it.whole))
    }

    /// The summary of the last compaction, the entries that it keeps, and what follows.
    fn compacted(&self, lines: &Lines<'_>, path: &[usize]) -> Vec<usize> {
        let is_compaction = |it: &usize| kind(lines, *it).is_some_and(|it| it == "compaction");
        let Some(at) = path.iter().rposition(is_compaction) else {
            return path.to_vec();
        };
        let record = lines.object(path[at]);
        // The first version has no ids and uses an index into the file.
        let kept = record.as_ref().and_then(|it| it.text("firstKeptEntryId"));
        let kept = kept.filter(|_| self.chain.is_some());
        let number = record.as_ref().and_then(|it| it.get("firstKeptEntryIndex")?.number());
        let is_kept = |it: &usize| match &kept {
            Some(kept) => lines.object(*it).is_some_and(|it| it.text("id").as_ref() == Some(kept)),
            None => number == Some(*it as u64),
        };
        let first = path[..at].iter().position(is_kept).unwrap_or(at);
        let mut res = vec![path[at]];
        // The kept range may include an earlier compaction, whose summary is not sent again.
        res.extend(path[first..at].iter().filter(|it| !is_compaction(it)));
        res.extend(&path[at + 1..]);
        res
    }

    /// Moves late results directly after their calls. `None` if that is not possible: if records have no ids, or if the
    /// requested leaf would become another one.
    fn moves(
        &self,
        lines: &Lines<'_>,
        removed: &HashSet<usize>,
        (late, records): (&[LateResult], &[usize]),
        options: &SessionOptions,
    ) -> Option<(HashSet<usize>, Moves)> {
        let chain = self.chain.as_ref().filter(|_| !late.is_empty())?;
        let late: Vec<_> = late.iter().map(|it| (records[it.result], records[it.call])).collect();
        let moved: HashSet<usize> = late.iter().map(|it| it.0).collect();
        let kept: Vec<usize> =
            chain.whole.iter().copied().filter(|it| !removed.contains(it)).collect();
        if options.leaf.is_some() || late.iter().any(|it| removed.contains(&it.0)) {
            return None;
        }
        let is_result = |at: usize| {
            let message = lines.object(at).and_then(|it| it.inner("message"));
            message.is_some_and(|it| it.text("role").is_some_and(|it| it == "toolResult"))
        };
        let order = faults::in_order(&kept, &late, is_result);
        Some((moved.clone(), chain.reordered(&order, &moved)?))
    }

    /// Calls and results as events, with the record of each event.
    fn events(&self, lines: &'a Lines<'a>) -> (Vec<Event<'a>>, Vec<usize>) {
        let mut res = Vec::new();
        let mut records = Vec::new();
        for at in self.whole(lines) {
            let Some(entry) = lines.object(at) else { continue };
            let before = res.len();
            match entry.inner("message") {
                Some(message) => events(&message, lines.place(at), &mut res),
                None if says(lines, at) => res.push(Event::Says),
                None => continue,
            }
            records.extend(std::iter::repeat_n(at, res.len() - before));
        }
        (res, records)
    }
}

/// The type of an entry.
fn kind(lines: &Lines<'_>, at: usize) -> Option<String> {
    Some(lines.object(at)?.text("type")?.into_owned())
}

fn events<'a>(message: &Object<'a>, place: SessionPlace, to: &mut Vec<Event<'a>>) {
    match message.text("role").as_deref() {
        Some("assistant") if is_sent(message) => {
            to.push(Event::Says);
            for (block, it) in message.list("content").into_iter().enumerate() {
                let Some(it) = it.object() else { continue };
                let is_call = it.text("type").is_some_and(|it| it == "toolCall");
                if let Some(id) = it.text("id").filter(|id| is_call && !id.is_empty()) {
                    to.push(Event::Call(id, place.with_block(block)));
                }
            }
        }
        Some("toolResult") => {
            to.extend(message.text("toolCallId").map(|id| Event::Result(id, place)));
        }
        Some("user" | "custom" | "branchSummary" | "compactionSummary") => to.push(Event::Says),
        Some("bashExecution") if !message.is_true("excludeFromContext") => to.push(Event::Says),
        _ => {}
    }
}

/// Whether an answer is sent: a failed answer and its calls are not.
fn is_sent(answer: &Object<'_>) -> bool {
    !answer.text("stopReason").is_some_and(|it| matches!(&*it, "error" | "aborted"))
}

fn push(view: &mut View, at: usize, entry: &Object<'_>) {
    let here = PartOrigin::record(at);
    let summary = |view: &mut View, entry: &Object<'_>| {
        let mut draft = Draft::new(Role::User);
        let text = entry.text("summary").filter(|it| !it.is_empty());
        text.into_iter().for_each(|it| draft.push(Part::text(it), here));
        view.push(draft);
    };
    match entry.text("type").as_deref() {
        Some("compaction" | "branch_summary") => summary(view, entry),
        Some("custom_message") => said(view, at, Role::User, entry),
        Some("message") => {
            let Some(message) = entry.inner("message") else { return };
            match message.text("role").as_deref() {
                Some("assistant") if is_sent(&message) => {
                    said(view, at, Role::Assistant, &message);
                }
                Some("user" | "custom" | "hookMessage") => said(view, at, Role::User, &message),
                Some("toolResult") => result(view, at, &message),
                Some("branchSummary" | "compactionSummary") => summary(view, &message),
                Some("bashExecution") if !message.is_true("excludeFromContext") => {
                    let mut draft = Draft::new(Role::User);
                    draft.push(Part::text(ran(&message)), here);
                    view.push(draft);
                }
                _ => {}
            }
        }
        _ => {}
    }
}

/// Whether the entry is sent.
fn says(lines: &Lines<'_>, at: usize) -> bool {
    let mut said = View::default();
    lines.object(at).iter().for_each(|it| push(&mut said, at, it));
    !said.messages.is_empty()
}

fn said(view: &mut View, at: usize, role: Role, message: &Object<'_>) {
    let mut draft = Draft::new(role);
    if draft.message.role == Role::Assistant {
        draft.message.set_provenance(maker(message.text("model"), message.text("provider")));
    }
    for (origin, part) in content(at, message) {
        draft.push(part, origin);
    }
    view.push(draft);
}

/// The parts of the content, which is a text or a list of blocks.
fn content(at: usize, message: &Object<'_>) -> Vec<(PartOrigin, Part)> {
    let Some(content) = message.get("content") else { return Vec::new() };
    if let Some(text) = content.text() {
        let part = (!text.is_empty()).then(|| (PartOrigin::record(at), Part::text(text)));
        return part.into_iter().collect();
    }
    let origin = |n: Option<usize>| n.map_or(PartOrigin::record(at), |n| PartOrigin::block(at, n));
    let blocks = message.blocks("content").into_iter();
    blocks.map(|(block, it)| (origin(block), part(it))).collect()
}

fn part(value: Value<'_>) -> Part {
    let Some(block) = value.object() else { return parts::other(value) };
    let text = |name: &str| parts::text(&block, name);
    match &*text("type") {
        "text" => Part::text(text("text")),
        "thinking" if block.is_true("redacted") => Part::Reasoning(Reasoning {
            redacted: Some(text("thinkingSignature")),
            ..Reasoning::default()
        }),
        "thinking" => Part::Reasoning(Reasoning {
            signature: block
                .text("thinkingSignature")
                .map(Into::into)
                .filter(|it: &String| !it.is_empty()),
            ..Reasoning::new(text("thinking"))
        }),
        "toolCall" => {
            let arguments = block.get("arguments").map(|it| it.plain()).unwrap_or_default();
            Part::ToolCall(ToolCall::new(text("id"), text("name"), arguments))
        }
        "image" => {
            let media_type = block.text("mimeType");
            let url = parts::data_url(media_type.as_deref(), &text("data"));
            parts::with_media_types(Part::Image(msg_core::Image::from_url(url)))
        }
        _ => parts::other(value),
    }
}

fn result(view: &mut View, at: usize, message: &Object<'_>) {
    let parts: Vec<Part> = content(at, message).into_iter().map(|it| it.1).collect();
    let text = |name: &str| parts::text(message, name);
    let result = ToolResult {
        name: message.text("toolName").map(Into::into),
        is_error: message.is_true("isError"),
        ..ToolResult::new(text("toolCallId"), msg_core::Content::from(parts))
    };
    let mut draft = Draft::new(Role::Tool);
    draft.push(Part::ToolResult(result), PartOrigin::record(at));
    view.push(draft);
}

/// The text that pi sends for a command run by the user.
fn ran(message: &Object<'_>) -> String {
    let output = parts::text(message, "output");
    let mut res = format!("Ran `{}`\n", parts::text(message, "command"));
    match output.is_empty() {
        true => res.push_str("(no output)"),
        false => res.push_str(&format!("```\n{output}\n```")),
    }
    let code = message.get("exitCode").filter(|it| !it.is_null() && it.source != "0");
    if message.is_true("cancelled") {
        res.push_str("\n\n(command cancelled)");
    } else if let Some(code) = code {
        res.push_str(&format!("\n\nCommand exited with code {}", code.source));
    }
    let whole = message.text("fullOutputPath").filter(|it| !it.is_empty());
    if let Some(whole) = whole.filter(|_| message.is_true("truncated")) {
        res.push_str(&format!("\n\n[Output truncated. Full output: {whole}]"));
    }
    res
}

fn usage(entry: &Object<'_>) -> Option<Usage> {
    let tokens = entry.inner("message")?.inner("usage")?;
    let number = |name: &str| tokens.get(name).and_then(|it| it.number());
    Some(Usage {
        input: number("input"),
        output: number("output"),
        total: number("totalTokens"),
        cached: number("cacheRead"),
        cache_write: number("cacheWrite"),
        ..Usage::default()
    })
}

// Writes a pi session (SE-135): a header, then entries that name their predecessor. A result is a message of its own.

pub(super) fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let time = crate::view::milliseconds(&options.now);
    let mut entries = Entries { options, time, out: Vec::new(), parent: None, count: 0 };
    entries.header();
    let mut names = HashMap::new();
    for message in messages {
        names.extend(message.tool_calls().map(|it| (it.id.as_str(), it.name.as_str())));
        for result in message.tool_results() {
            let name = names.get(&*result.call_id).copied().or(result.name.as_deref());
            entries.push(|it| tool_result(it, result, name.unwrap_or_default()));
        }
        if parts_but_results(message).next().is_none() {
            continue;
        }
        match message.role {
            Role::Assistant => entries.push(|it| answer(it, message)),
            _ => entries.push(|it| {
                it.key("role").str("user");
                it.key("content").array(parts_but_results(message), block);
            }),
        }
    }
    entries.out
}

struct Entries<'o> {
    options: &'o WriteOptions,
    /// The time of the session in milliseconds.
    time: u64,
    out: Vec<u8>,
    parent: Option<String>,
    count: u64,
}

impl Entries<'_> {
    fn header(&mut self) {
        Writer::new(&mut self.out).object(|it| {
            it.key("type").str("session");
            it.key("version").u64(3);
            it.key("id").str(&self.options.session_id);
            it.key("timestamp").str(&self.options.now);
            it.key("cwd").str(&self.options.cwd);
        });
        self.out.push(b'\n');
    }

    fn push(&mut self, message: impl FnOnce(&mut Writer<'_>)) {
        self.count += 1;
        let id = format!("{:08x}", self.count);
        Writer::new(&mut self.out).object(|it| {
            it.key("type").str("message");
            it.key("id").str(&id);
            it.key("parentId").opt_str(self.parent.as_deref());
            it.key("timestamp").str(&self.options.now);
            it.key("message").object(|it| {
                message(it);
                it.key("timestamp").u64(self.time + self.count);
            });
        });
        self.out.push(b'\n');
        self.parent = Some(id);
    }
}

/// The name that pi uses for an unknown model.
const UNKNOWN: &str = "unknown";

fn answer(it: &mut Writer<'_>, message: &Message) {
    let maker = message.provenance();
    let model = maker.and_then(|it| it.model.as_deref());
    let provider = maker.and_then(|it| it.provider.as_deref());
    it.key("role").str("assistant");
    it.key("content").array(parts_but_results(message), block);
    it.key("api").str(UNKNOWN);
    it.key("provider").str(provider.unwrap_or(UNKNOWN));
    it.key("model").str(model.unwrap_or(UNKNOWN));
    it.key("usage").object(|it| {
        for name in ["input", "output", "cacheRead", "cacheWrite", "totalTokens"] {
            it.key(name).u64(0);
        }
        it.key("cost").object(|it| {
            for name in ["input", "output", "cacheRead", "cacheWrite", "total"] {
                it.key(name).u64(0);
            }
        });
    });
    let calls = message.tool_calls().next().is_some();
    it.key("stopReason").str(if calls { "toolUse" } else { "stop" });
}

fn tool_result(it: &mut Writer<'_>, result: &ToolResult, name: &str) {
    it.key("role").str("toolResult");
    it.key("toolCallId").str(&result.call_id);
    it.key("toolName").str(name);
    it.key("content").array(result.content.parts(), block);
    it.key("isError").bool(result.is_error);
}

fn block(it: &mut Writer<'_>, part: &Part) {
    it.object(|it| match part {
        Part::Reasoning(thought) => {
            it.key("type").str("thinking");
            it.key("thinking").str(&thought.display_text());
            let seal = thought.redacted.as_ref().or(thought.signature.as_ref());
            if let Some(seal) = seal {
                it.key("thinkingSignature").str(seal);
            }
            if thought.redacted.is_some() {
                it.key("redacted").bool(true);
            }
        }
        Part::ToolCall(call) => {
            it.key("type").str("toolCall");
            it.key("id").str(&call.id);
            it.key("name").str(&call.name);
            write_arguments(it.key("arguments"), call);
        }
        Part::Image(image) if data_url(image).is_some() => {
            let (media_type, data) = data_url(image).unwrap_or_default();
            it.key("type").str("image");
            it.key("data").str(data);
            it.key("mimeType").str(media_type);
        }
        part => {
            it.key("type").str("text");
            it.key("text").str(part.as_text().unwrap_or_default());
        }
    });
}
