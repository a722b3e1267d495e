//! Qwen Code: JSON lines that form a tree, each with Gemini parts, read and written (SE-134).
//!
//! ```text
//! {"uuid":"u1","parentUuid":null,"type":"user","message":{"role":"user","parts":[{"text":"list"}]},…}
//! {"uuid":"u2","parentUuid":"u1","type":"assistant","message":{"role":"model","parts":[{"functionCall":{…}}]},…}
//! {"uuid":"u3","parentUuid":"u2","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{…}}]},…}
//! ```

use std::collections::{HashMap, HashSet};

use msg_core::{Message, Part, Report, Role, Usage};
use msg_json::Writer;

use super::records::{Chain, Names};
use super::{LineRules, Mends};
use crate::dialects::gemini_cli::{response, user_part};
use crate::edit::{Object, Value, quoted};
use crate::error::SessionOptions;
use crate::frame::Lines;
use crate::link::{BlockKind, Content, Plan, Rules, Sender, Sent, results};
use crate::parts::INTERRUPTED;
use crate::view::{Draft, PartOrigin, View, maker};
use crate::write::{WriteOptions, parts_but_results, record_id, write_arguments};
use crate::{Error, parts};

/// The dialect.
pub(crate) struct QwenCode;

const NAMES: Names = Names { id: "uuid", parent: "parentUuid", last_counts: false };

impl LineRules for QwenCode {
    fn view_lines(&self, lines: &Lines<'_>, options: &SessionOptions) -> Result<View, Error> {
        let chain = chain(lines, options)?;
        let mut view = View { findings: lines.findings.clone(), ..View::default() };
        let (summary, records) = sent(lines, &chain.path);
        for (at, content) in summary.iter().flat_map(|it| compressed(lines, *it)) {
            push(&mut view, at, &content);
        }
        for at in records.iter().copied() {
            if let Some(message) = lines.object(at).and_then(|it| it.inner("message")) {
                push(&mut view, at, &message);
            }
        }
        view.note_makers(|at| {
            let record = lines.object(at);
            maker(record.as_ref().and_then(|it| it.text("model")), None)
        });
        // Its context, and the answer to that.
        view.in_front = 2;
        view.usage = (0..lines.records.len())
            .filter_map(|it| usage(&lines.object(it)?))
            .fold(Usage::default(), super::add_usage);
        view.branches = chain.compactions(&records, |at| !compressed(lines, at).is_empty());
        view.branches.extend(chain.branches(|it| says(lines, it)));
        msg_core::sort_by_rank(&mut view.branches, |it| it.record);
        view.findings.extend(chain.findings);
        Ok(view)
    }

    fn check_lines(
        &self,
        lines: &Lines<'_>,
        _: &str,
        options: &SessionOptions,
    ) -> Result<Mends, Error> {
        let mut chain = chain(lines, options)?;
        let sent = linked(lines, &chain.whole);
        let rules = rules(options, lines.has_marks());
        let mut plan = crate::link::check(&sent, &rules);
        let mut findings = lines.findings.clone();
        findings.append(&mut chain.findings);
        findings.append(&mut plan.findings);
        let mut edits = plan.take_edits();
        for it in &sent {
            let to = (&mut findings, &mut edits);
            super::replace_lone_surrogates(lines.value(it.record), it.place, lines.has_marks(), to);
        }
        let gone = (0..sent.len()).filter(|it| plan.is_gone(*it)).map(|it| sent[it].record);
        let mut removed: HashSet<usize> = gone.collect();
        let (copies, found) = chain.copies(&removed);
        removed.extend(copies);
        findings.extend(found);
        let mut new_links = HashMap::new();
        let new = new_records(lines, &chain, &mut plan, &removed, &mut new_links);
        let left = lines.records.len() - removed.len() + new.len();
        edits.extend(chain.edits(&removed, &new_links));
        edits.extend(new.iter().map(|(after, line)| lines.insert_after(*after, line)));
        Ok(Mends::new(lines.records.len(), left, findings, edits))
    }

    /// A record without an id is not in any chain, and content outside `parts` is not read.
    fn reads(&self) -> Option<fn(&Object<'_>) -> bool> {
        Some(|record| {
            let has_id = record.text("uuid").is_some();
            has_id && record.inner("message").is_some_and(|it| it.has("parts"))
        })
    }
}

fn chain<'a>(lines: &'a Lines<'a>, options: &SessionOptions) -> Result<Chain<'a>, Error> {
    let leaf = options.leaf.as_deref();
    let is_sent = |it: usize| says(lines, it) || !compressed(lines, it).is_empty();
    let found = Chain::read(lines, NAMES, leaf, |_| true, is_sent);
    found.ok_or_else(|| Error::NoLeaf(leaf.unwrap_or_default().to_owned()))
}

/// The last compaction record of a path, and the records sent after it.
fn sent(lines: &Lines<'_>, path: &[usize]) -> (Option<usize>, Vec<usize>) {
    let is_summary = |it: &&usize| !compressed(lines, **it).is_empty();
    let summary = path.iter().rposition(|it| is_summary(&it));
    let rest = &path[summary.map_or(0, |it| it + 1)..];
    let is_message = |it: &usize| {
        lines.object(*it).is_some_and(|it| it.text("type").is_none_or(|it| it != "system"))
    };
    (summary.map(|it| path[it]), rest.iter().copied().filter(is_message).collect())
}

/// The history with which a compaction replaces everything before it.
fn compressed<'a>(lines: &'a Lines<'_>, at: usize) -> Vec<(usize, Object<'a>)> {
    let history = || {
        let record = lines.object(at)?;
        (record.text("subtype")? == "chat_compression").then_some(())?;
        Some(record.inner("systemPayload")?.list("compressedHistory"))
    };
    let history = history().unwrap_or_default();
    history.into_iter().filter_map(|it| Some((at, it.object()?))).collect()
}

/// Whether the record has a non-empty message.
fn says(lines: &Lines<'_>, at: usize) -> bool {
    let mut said = View::default();
    let message = lines.object(at).and_then(|it| it.inner("message"));
    message.iter().for_each(|it| push(&mut said, at, it));
    !said.messages.is_empty()
}

fn push(view: &mut View, at: usize, content: &Object<'_>) {
    let is_answer = content.text("role").is_some_and(|it| it == "model");
    let mut results = Draft::new(Role::Tool);
    let mut draft = Draft::new(if is_answer { Role::Assistant } else { Role::User });
    for (block, value) in content.blocks("parts") {
        let Some(part) = results::read_block(value, parts::gemini_part) else { continue };
        let is_result = part.as_tool_result().is_some() && !is_answer;
        let to = if is_result { &mut results } else { &mut draft };
        to.push(part, block.map_or(PartOrigin::record(at), |it| PartOrigin::block(at, it)));
    }
    view.push(results);
    view.push(draft);
}

/// The messages of a path, for the link rules. Includes the calls that a compaction keeps, because their results may
/// follow.
fn linked<'a>(lines: &'a Lines<'a>, path: &[usize]) -> Vec<Sent<'a>> {
    let (summary, records) = sent(lines, path);
    let kept: HashSet<String> = summary
        .iter()
        .flat_map(|it| compressed(lines, *it))
        .flat_map(|it| it.1.list("parts"))
        .filter_map(|it| it.get("functionCall")?.object()?.text("id").map(Into::into))
        .collect();
    let one = |at: usize| {
        let message = lines.object(at)?.inner("message")?;
        let is_answer = message.text("role").is_some_and(|it| it == "model");
        let mut content = Content::of(message.get("parts"), kind);
        if let Content::Blocks(_, blocks) = &mut content {
            for it in blocks {
                if it.result_id().is_some_and(|it| kept.contains(&*it.1)) {
                    it.kind = BlockKind::Other;
                }
            }
        }
        Some(Sent {
            record: at,
            place: lines.place(at),
            sender: if is_answer { Sender::Assistant } else { Sender::User },
            answer: None,
            content,
        })
    };
    records.into_iter().filter_map(one).collect()
}

fn kind(part: Value<'_>) -> Option<BlockKind<'_>> {
    let part = part.object()?;
    Some(match (part.inner("functionCall"), part.inner("functionResponse")) {
        (Some(call), _) => BlockKind::Call(call.get("id")),
        (_, Some(response)) => BlockKind::Result(response.get("id")),
        _ => BlockKind::Other,
    })
}

fn rules(options: &SessionOptions, has_marks: bool) -> Rules {
    Rules {
        joins_answers: false,
        results_first: false,
        finds_late: false,
        starts_with_user: false,
        blank_is_refused: false,
        renamed: '_',
        all: options.all,
        has_marks,
        limits: results::of(None),
        text_blocks: [(r#"{"text":"#, "}"), (r#"{"text":""#, r#""}"#)],
        placeholder,
        media: |_| Vec::new(),
    }
}

/// The part of an error result for a call.
fn placeholder(id: &str, call: Value<'_>) -> String {
    let name = call.get("functionCall").and_then(|it| it.get("name"));
    let name = name.map_or("\"\"", |it| it.source);
    format!(
        r#"{{"functionResponse":{{"id":{id},"name":{name},"response":{{"error":"{INTERRUPTED}"}}}}}}"#
    )
}

/// The new records, each after the last result of its answer.
fn new_records(
    lines: &Lines<'_>,
    chain: &Chain<'_>,
    plan: &mut Plan<'_>,
    removed: &HashSet<usize>,
    new_links: &mut HashMap<usize, String>,
) -> Vec<(usize, String)> {
    let mut res = Vec::new();
    let mut last: HashMap<usize, String> = HashMap::new();
    let mut number = 0_u64;
    for (answer, block) in std::mem::take(&mut plan.new_records) {
        let is_result = |it: &usize| {
            let sent = &plan.sent[*it];
            sent.sender == Sender::User && !sent.says_more_than_results() && !plan.is_gone(*it)
        };
        let results = (answer + 1..plan.sent.len()).take_while(is_result).last();
        let after = plan.sent[results.unwrap_or(answer)].record;
        let id = loop {
            number += 1;
            let id = format!("00000000-0000-4000-8000-{number:012x}");
            if !chain.has(&id) {
                break quoted(&id);
            }
        };
        let parent = last.insert(after, id.clone());
        let parent = parent.unwrap_or_else(|| chain.id(after).to_owned());
        // The session ends with the last line: a copy there would be the leaf.
        let line = match next_that_stays(chain, after, removed) {
            Some(next) => {
                new_links.insert(next, id.clone());
                after
            }
            None => chain.last_copy(after),
        };
        if let Some(call) = lines.object(plan.sent[answer].record) {
            res.push((line, record(&call, &id, &parent, &block)));
        }
    }
    res
}

fn next_that_stays(chain: &Chain<'_>, from: usize, removed: &HashSet<usize>) -> Option<usize> {
    let mut next = chain.after(from);
    while let Some(it) = next.filter(|it| removed.contains(it)) {
        next = chain.after(it);
    }
    next
}

fn record(call: &Object<'_>, id: &str, parent: &str, block: &str) -> String {
    let mut res = format!(r#"{{"uuid":{id},"parentUuid":{parent}"#);
    let copy = |name: &str, res: &mut String| {
        if let Some(value) = call.get(name) {
            res.push_str(&format!(",\"{name}\":{}", value.source));
        }
    };
    copy("sessionId", &mut res);
    copy("timestamp", &mut res);
    res.push_str(r#","type":"tool_result""#);
    copy("cwd", &mut res);
    copy("version", &mut res);
    res.push_str(&format!(r#","message":{{"role":"user","parts":[{block}]}}}}"#));
    res
}

fn usage(record: &Object<'_>) -> Option<Usage> {
    let tokens = record.inner("usageMetadata")?;
    let number = |name: &str| tokens.get(name).and_then(|it| it.number());
    Some(Usage {
        input: number("promptTokenCount"),
        output: number("candidatesTokenCount"),
        total: number("totalTokenCount"),
        cached: number("cachedContentTokenCount"),
        reasoning: number("thoughtsTokenCount"),
        ..Usage::default()
    })
}

// Writes a Qwen Code session (SE-134): records that name their predecessor, each with Gemini parts.

pub(super) fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let mut records = Records { options, out: Vec::new(), parent: None, count: 0 };
    let mut names = HashMap::new();
    for message in messages {
        names.extend(message.tool_calls().map(|it| (it.id.as_str(), it.name.as_str())));
        let results: Vec<_> = message.tool_results().collect();
        if !results.is_empty() {
            records.push("tool_result", None, "user", |it| {
                it.array(&results, |it, result| {
                    let name = result.name.as_deref();
                    let name = names.get(&*result.call_id).copied().or(name);
                    response(it, name.unwrap_or_default(), result);
                });
            });
        }
        if parts_but_results(message).next().is_none() {
            continue;
        }
        match message.role {
            Role::Assistant => {
                let model = message.provenance().and_then(|it| it.model.as_deref());
                records.push("assistant", model, "model", |it| {
                    it.array(parts_but_results(message), answer_part);
                });
            }
            _ => records.push("user", None, "user", |it| {
                it.array(parts_but_results(message), user_part);
            }),
        }
    }
    records.out
}

struct Records<'o> {
    options: &'o WriteOptions,
    out: Vec<u8>,
    parent: Option<String>,
    count: u64,
}

impl Records<'_> {
    fn push(
        &mut self,
        kind: &str,
        model: Option<&str>,
        role: &str,
        parts: impl FnOnce(&mut Writer<'_>),
    ) {
        self.count += 1;
        let uuid = record_id(&self.options.session_id, self.count);
        Writer::new(&mut self.out).object(|it| {
            it.key("uuid").str(&uuid);
            it.key("parentUuid").opt_str(self.parent.as_deref());
            it.key("sessionId").str(&self.options.session_id);
            it.key("timestamp").str(&self.options.now);
            it.key("type").str(kind);
            it.key("cwd").str(&self.options.cwd);
            it.key("version").str(&self.options.version);
            if let Some(model) = model {
                it.key("model").str(model);
            }
            it.key("message").object(|it| {
                it.key("role").str(role);
                parts(it.key("parts"));
            });
        });
        self.out.push(b'\n');
        self.parent = Some(uuid);
    }
}

fn answer_part(it: &mut Writer<'_>, part: &Part) {
    match part {
        Part::Reasoning(thought) => it.object(|it| {
            it.key("text").str(&thought.display_text());
            it.key("thought").bool(true);
            if let Some(signature) = &thought.signature {
                it.key("thoughtSignature").str(signature);
            }
        }),
        Part::ToolCall(call) => it.object(|it| {
            it.key("functionCall").object(|it| {
                it.key("id").str(&call.id);
                it.key("name").str(&call.name);
                write_arguments(it.key("args"), call);
            });
        }),
        part => user_part(it, part),
    }
}
