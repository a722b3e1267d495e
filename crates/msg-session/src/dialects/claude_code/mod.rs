//! Claude Code: JSON lines that form a tree (SE-43 to SE-47, SE-123 to SE-129).
//!
//! ```text
//! {"uuid":"u1","parentUuid":null,"type":"user","message":{"role":"user","content":"list"},…}
//! {"uuid":"u2","parentUuid":"u1","type":"assistant","message":{"id":"msg_1","content":[{"type":"tool_use",…}]},…}
//! {"type":"summary","summary":"…","leafUuid":"u2"}
//! ```
//!
//! One record per block: records with the same `message.id` are one message.

mod node;
mod tree;
pub(crate) mod write;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use msg_core::{Part, Usage};
use node::Nodes;
use write::Mend;

use super::{LineRules, Mends};
use crate::dialects::claude_code::node::Kind;
use crate::dialects::claude_code::tree::Tree;
use crate::edit::{Edit, set_member};
use crate::error::{Finding, SessionOptions};
use crate::excerpt::spelled;
use crate::frame::Lines;
use crate::link::results::TEXT_BLOCKS;
use crate::link::{Content, Plan, Rules, Sender, Sent, results};
use crate::view::{View, maker, messages};
use crate::{Error, parts};

/// The dialect.
pub(crate) struct ClaudeCode;

impl LineRules for ClaudeCode {
    fn view_lines(&self, lines: &Lines<'_>, options: &SessionOptions) -> Result<View, Error> {
        view(&Nodes::of(lines), options)
    }

    fn check_lines(
        &self,
        lines: &Lines<'_>,
        _: &str,
        options: &SessionOptions,
    ) -> Result<Mends, Error> {
        let nodes = Nodes::of(lines);
        let mut tree = tree::read(&nodes, options.all);
        let leaf = super::checked_leaf(options, tree.leaf(&nodes, options.leaf.as_deref()))?;
        let path = read(&nodes, &tree, leaf);
        tree.settle(&path.order, options.all);
        let rules = Rules { has_marks: lines.has_marks(), ..rules(options) };
        let mut plan = crate::link::check(&path.sent, &rules);
        tree::check(&mut plan, options);
        crate::link::check_content(&mut plan);
        Ok(finish(&nodes, &tree, &path, plan, options))
    }
}

fn view(nodes: &Nodes<'_>, options: &SessionOptions) -> Result<View, Error> {
    let mut tree = tree::read(nodes, false);
    let leaf = super::checked_leaf(options, tree.leaf(nodes, options.leaf.as_deref()))?;
    let path = read(nodes, &tree, leaf);
    tree.settle(&path.order, false);
    let mut view = View { usage: of(nodes), ..View::default() };
    messages(&mut view, &path.sent, true, parts::anthropic_part);
    view.rewrite(|at| nodes.told_by_hook(at).map(Part::text));
    view.note_makers(|at| maker(nodes.message(at).and_then(|it| it.text("model")), None));
    view.branches = tree::of(nodes, &tree, &path.records);
    view.findings.clone_from(&nodes.lines.findings);
    view.findings.extend(tree::unknown_records(nodes));
    if options.leaf.is_none() {
        view.findings.extend(tree::off_path(nodes, &tree, &path.records));
    }
    view.findings.append(&mut tree.findings);
    Ok(view)
}

fn rules(options: &SessionOptions) -> Rules {
    Rules {
        joins_answers: true,
        results_first: false,
        finds_late: true,
        starts_with_user: true,
        blank_is_refused: true,
        renamed: '-',
        all: options.all,
        has_marks: false,
        limits: results::of(None),
        text_blocks: TEXT_BLOCKS,
        placeholder: parts::anthropic_result,
        media: parts::anthropic_media,
    }
}

fn finish(
    nodes: &Nodes<'_>,
    tree: &tree::Tree<'_>,
    path: &Path<'_>,
    mut plan: Plan<'_>,
    options: &SessionOptions,
) -> Mends {
    let chains = write::chains_gathered(&plan, path, options.all);
    // There may be as many findings as records, so extend this list instead of copying it.
    let mut findings = std::mem::take(&mut plan.findings);
    if write::start_of(&plan, path, nodes).is_none() {
        let starts = findings.iter_mut().filter(|it| it.code == "session::first-not-user");
        starts.for_each(|it| (it.fix, it.done) = (None, false));
    }
    findings.extend_from_slice(&nodes.lines.findings);
    findings.extend_from_slice(&tree.findings);
    findings.extend(tree::unknown_records(nodes));
    if options.leaf.is_none() {
        findings.extend(tree::off_path(nodes, tree, &path.records));
    }
    findings.extend(split_results(nodes, tree, path, chains));
    findings.extend(path.lost_replies.iter().map(|it| lost_reply(nodes, it)));
    findings.extend(node::check(nodes, tree, &path.records));
    let time = missing_time(nodes, path);
    findings.extend(time.as_ref().map(|it| it.0.clone()));
    let mut edits = plan.take_edits();
    for it in plan.sent {
        let to = (&mut findings, &mut edits);
        super::replace_lone_surrogates(
            nodes.said(it.record),
            it.place,
            nodes.lines.has_marks(),
            to,
        );
    }
    if options.all {
        edits.extend(tree.duplicates.iter().map(|it| nodes.lines.remove(*it as usize)));
        edits.extend(tree.lost_logical.iter().filter_map(|it| {
            let value = nodes.logical_parent(it.0 as usize)?;
            Some(Edit::replace(value.span(), nodes.uuid(it.1 as usize)?))
        }));
    }
    let mut mend = Mend::new(nodes);
    mend.links_of(tree, options.all);
    mend.plan(&mut plan, tree, path, chains);
    mend.write(tree, &mut edits);
    edits.extend(node::mend(nodes, tree, &path.records, &mend));
    edits.extend(time.and_then(|it| it.1));
    if !options.all {
        let copies = copies_of_changed(nodes, tree, &edits);
        edits.extend(copies.iter().map(|it| nodes.lines.remove(*it)));
        for it in findings.iter_mut().filter(|it| it.code == "session::duplicate-record") {
            let copy = it.at.record.map(|it| it as usize);
            it.done |= copy.is_some_and(|it| copies.binary_search(&it).is_ok());
        }
    }
    let left = mend.records_left();
    Mends::new(nodes.list.len(), left, findings, edits)
}

/// Copies of changed records: after the change they would no longer be copies, and of two records with one id the last
/// one counts. In file order.
fn copies_of_changed(nodes: &Nodes<'_>, tree: &tree::Tree<'_>, edits: &[Edit]) -> Vec<usize> {
    let mut spans: Vec<_> = edits.iter().map(|it| it.span.clone()).collect();
    msg_core::sort_by_rank(&mut spans, |it| it.start);
    let is_changed = |record: usize| {
        let own = nodes.lines.records[record].span();
        let first = spans.partition_point(|it| it.start < own.start);
        spans.get(first).is_some_and(|it| it.start < own.end)
    };
    let original = |copy: usize| tree.ids.get(nodes.uuid(copy)?).map(|it| *it as usize);
    let copies = tree.duplicates.iter().map(|it| *it as usize);
    copies.filter(|it| original(*it).is_some_and(is_changed)).collect()
}

fn lost_reply(nodes: &Nodes<'_>, reply: &LostReply) -> Finding {
    let message = "an answer that Claude Code does not send: a note of the program follows its question instead";
    let finding = Finding::error("session::lost-reply", nodes.lines.place(reply.first), message);
    finding.mended("link the note to the answer", false)
}

/// A last record without a time, and the edit that gives it the time of an earlier record.
fn missing_time(nodes: &Nodes<'_>, path: &Path<'_>) -> Option<(Finding, Option<Edit>)> {
    let is_message = |it: &usize| nodes.list[*it].is_message();
    let last = path.records.iter().rposition(is_message)?;
    let leaf = path.records[last];
    if path.records[last..].iter().any(|it| nodes.time(*it).is_some()) {
        return None;
    }
    let message =
        "the last message has no timestamp, without which Claude Code does not find the session";
    let finding = Finding::error("session::missing-time", nodes.lines.place(leaf), message);
    let before = (0..leaf).rev().find_map(|it| nodes.time(it));
    Some(match (before, nodes.lines.object(leaf)) {
        (Some(time), Some(record)) => (
            finding.mended("set the time of the record before it", false),
            Some(set_member(&record, "timestamp", spelled(time.source))),
        ),
        _ => (finding, None),
    })
}

fn split_results(
    nodes: &Nodes<'_>,
    tree: &Tree<'_>,
    path: &Path<'_>,
    chains: bool,
) -> Vec<Finding> {
    if path.gathered.is_empty() {
        return Vec::new();
    }
    let message = "result of a parallel call is beside the path of the session";
    let boundary = node::last_boundary(nodes, &path.records);
    let kept = boundary.and_then(|it| node::kept_chain(nodes, tree, it)).map(|it| it.0);
    let mut linked: HashSet<usize> =
        path.records.iter().copied().chain(kept.into_iter().flatten()).collect();
    // The path ends with the file, whatever follows that record.
    path.records.last().into_iter().for_each(|it| _ = linked.remove(it));
    let finding = |(record, after): &(usize, usize)| {
        let place = nodes.lines.place(*record);
        let it = Finding::warning("session::split-results", place, message);
        // Records that a compaction keeps by a list have no links.
        if linked.contains(after) { it.mended("link it into the path", chains) } else { it }
    };
    path.gathered.iter().map(finding).collect()
}

// What Claude Code sends on a resume: the active path, what a compaction keeps, and the pieces of an answer and the
// results of its calls that are linked beside the path (SE-123 to SE-126).
//
// ```text
// u8  assistant call 2
// u9  assistant call 3          children of u8
// u11 user result of 2          child of u8: beside the path, gathered after u9
// u12 user result of 3          child of u9
// ```

/// The records that a resume sends.
struct Path<'a> {
    /// The records of the path itself, of any kind.
    records: Vec<usize>,
    /// The path, and the records that a compaction keeps.
    order: Vec<usize>,
    /// What is sent, in order, including the gathered records.
    sent: Vec<Sent<'a>>,
    /// Gathered results of calls on the path, each with the path record that it follows.
    gathered: Vec<(usize, usize)>,
    /// Answers that are not sent because a note of the program replaced them (SE-128).
    lost_replies: Vec<LostReply>,
}

/// An answer beside the path.
struct LostReply {
    /// Its first and last record.
    first: usize,
    last: usize,
    /// The note that follows the record which the answer replies to.
    note: usize,
}

fn read<'a>(nodes: &'a Nodes<'_>, tree: &Tree<'_>, leaf: Option<usize>) -> Path<'a> {
    let records = tree.path(leaf);
    let order = node::with_kept(nodes, tree, &records);
    let boundary = node::last_boundary(nodes, &records);
    let beside = Beside::of(nodes, tree, &order, boundary.unwrap_or(0));
    let mut gather = Gather { nodes, beside, sent: Vec::new(), gathered: Vec::new() };
    gather.all(&order);
    let Gather { beside, sent, gathered, .. } = gather;
    let lost_replies = lost_replies(nodes, tree, &records, &beside);
    Path { records, order, sent, gathered, lost_replies }
}

/// What is sent of a record; `None` if it is not a message.
fn message<'a>(nodes: &'a Nodes<'_>, at: usize) -> Option<Sent<'a>> {
    let node = &nodes.list[at];
    let sender = match node.kind {
        Kind::User | Kind::Words | Kind::Hook => Sender::User,
        Kind::Assistant if !node.is_api_error => Sender::Assistant,
        _ => return None,
    };
    Some(Sent {
        record: at,
        place: nodes.lines.place(at),
        sender,
        answer: answer_id(nodes, at),
        content: nodes.sent(at),
    })
}

/// The id of the answer that a record is a piece of.
fn answer_id<'a>(nodes: &'a Nodes<'_>, at: usize) -> Option<Cow<'a, str>> {
    let is_answer = nodes.list[at].kind == Kind::Assistant;
    nodes.message(at).filter(|_| is_answer)?.text("id")
}

/// Messages beside the path.
#[derive(Default)]
struct Beside<'a> {
    /// The pieces of each answer, in file order.
    answers: HashMap<Cow<'a, str>, Vec<usize>>,
    /// The records with results of each call, in file order.
    results: HashMap<Cow<'a, str>, Vec<usize>>,
    /// The user's words that follow each message, without another message in between, in file order.
    words: HashMap<usize, Vec<usize>>,
    sent: HashMap<usize, Sent<'a>>,
}

impl<'a> Beside<'a> {
    /// The messages beside the path `order`, from record `first` on: nothing before a compaction is gathered.
    fn of(nodes: &'a Nodes<'_>, tree: &Tree<'_>, order: &[usize], first: usize) -> Self {
        let mut is_on_path = vec![false; nodes.list.len()];
        order.iter().for_each(|it| is_on_path[*it] = true);
        let is_sidechain = nodes.is_sidechain(order);
        let mut res = Self::default();
        let leads_on = leads_on(nodes, tree);
        let mut messages = vec![None; nodes.list.len()];
        for (at, node) in nodes.list.iter().enumerate().skip(first) {
            let parent = tree.parents[at].map(|it| it as usize);
            let before = parent.filter(|it| !nodes.list[*it].is_message());
            messages[at] = before.map_or(parent, |it| messages[it]);
            let says = node.is_message() || node.is_beside();
            let is_same = says && node.is_sidechain == is_sidechain;
            if !is_same || is_on_path[at] || tree.is_repeated[at] || nodes.uuid(at).is_none() {
                continue;
            }
            let Some(sent) = message(nodes, at) else { continue };
            if let (true, Some(message), false) = (node.is_beside(), messages[at], leads_on[at]) {
                res.words.entry(message).or_default().push(at);
            }
            match (sent.sender, &sent.answer) {
                (Sender::Assistant, Some(id)) => {
                    res.answers.entry(id.clone()).or_default().push(at);
                }
                (Sender::Assistant, None) => {}
                (Sender::User, _) => {
                    for (_, id) in sent.blocks().iter().filter_map(|it| it.result_id()) {
                        res.results.entry(id).or_default().push(at);
                    }
                }
            }
            res.sent.insert(at, sent);
        }
        res
    }
}

/// For each record that is not a message, whether a message follows it. Linear.
fn leads_on(nodes: &Nodes<'_>, tree: &Tree<'_>) -> Vec<bool> {
    let mut res = vec![false; nodes.list.len()];
    let parent = |it: usize| tree.parents[it].map(|it| it as usize);
    for at in (0..nodes.list.len()).filter(|it| nodes.list[*it].is_message()) {
        let mut next = parent(at);
        while let Some(it) = next.filter(|it| !nodes.list[*it].is_message() && !res[*it]) {
            res[it] = true;
            next = parent(it);
        }
    }
    res
}

/// Builds the list of what is sent.
struct Gather<'a, 'n> {
    nodes: &'a Nodes<'n>,
    beside: Beside<'a>,
    sent: Vec<Sent<'a>>,
    gathered: Vec<(usize, usize)>,
}

impl<'a> Gather<'a, '_> {
    /// Takes the records of the path in order. Linear: each answer takes all its records at once.
    fn all(&mut self, order: &[usize]) {
        let mut next = 0;
        while let Some(at) = order.get(next).copied() {
            match answer_id(self.nodes, at) {
                Some(id) => next += self.answer(&id, &order[next..]),
                None => {
                    self.sent.extend(message(self.nodes, at));
                    next += 1;
                }
            }
        }
    }

    /// Takes an answer, which begins at the first record of `order`, with the results that follow it. Returns how many
    /// records of the path these are. Another answer ends it, or a user record without a result.
    fn answer(&mut self, id: &str, order: &[usize]) -> usize {
        let nodes = self.nodes;
        let (mut answer, mut between) = (Vec::new(), Vec::new());
        let mut len = 0;
        for at in order.iter().copied() {
            match nodes.list[at].kind {
                Kind::Assistant if answer_id(nodes, at).is_some_and(|it| it == id) => {
                    answer.push(at);
                }
                Kind::Assistant => break,
                Kind::User => match message(nodes, at).filter(has_result) {
                    Some(it) => between.push((at, Some(it))),
                    None => break,
                },
                _ => between.push((at, message(nodes, at))),
            }
            len += 1;
        }
        let last_on_path = answer.last().copied().unwrap_or_default();
        let on_path = answer.len();
        answer.extend(self.beside.answers.remove(id).unwrap_or_default());
        let first = answer.iter().copied().min().unwrap_or_default();
        let mut pieces = Vec::with_capacity(answer.len());
        for at in answer {
            pieces.extend(self.beside.sent.remove(&at).or_else(|| message(nodes, at)));
        }
        let extra = self.results_beside(&pieces, &between, first);
        for it in &extra {
            let calls = pieces.iter().take(on_path).flat_map(|it| it.blocks());
            let calls: Vec<_> = calls.filter_map(|it| it.call_id()).map(|it| it.1).collect();
            let results = it.blocks().iter().filter_map(|it| it.result_id());
            if results.into_iter().all(|it| calls.contains(&it.1)) {
                self.gathered.push((it.record, last_on_path));
            }
        }
        let count = between.len();
        between.extend(extra.into_iter().map(|it| (it.record, Some(it))));
        let words = self.words_beside(&pieces, &between);
        between.extend(words.into_iter().map(|it| (it.record, Some(it))));
        if between.len() > count {
            msg_core::sort_by_rank(&mut between, |it| it.0);
        }
        self.sent.extend(pieces);
        self.sent.extend(between.into_iter().filter_map(|it| it.1));
        len
    }

    /// The user's words beside the path that follow the pieces of an answer with calls, or their results (SE-163).
    fn words_beside(
        &mut self,
        pieces: &[Sent<'a>],
        between: &[(usize, Option<Sent<'a>>)],
    ) -> Vec<Sent<'a>> {
        let calls = pieces.iter().flat_map(|it| it.blocks()).filter_map(|it| it.call_id());
        if self.beside.words.is_empty() || calls.count() == 0 {
            return Vec::new();
        }
        let messages = pieces.iter().map(|it| it.record).chain(between.iter().map(|it| it.0));
        let beside = &mut self.beside;
        let words = messages.flat_map(|it| beside.words.remove(&it).unwrap_or_default());
        let words: Vec<usize> = words.collect();
        words.into_iter().filter_map(|it| beside.sent.remove(&it)).collect()
    }

    /// The records beside the path that answer calls which have no result yet.
    fn results_beside(
        &mut self,
        pieces: &[Sent<'a>],
        between: &[(usize, Option<Sent<'a>>)],
        first: usize,
    ) -> Vec<Sent<'a>> {
        let results = between.iter().filter_map(|it| it.1.as_ref()).flat_map(|it| it.blocks());
        let mut answered: std::collections::HashSet<_> =
            results.filter_map(|it| it.result_id()).map(|it| it.1).collect();
        let mut found = Vec::new();
        for (_, id) in pieces.iter().flat_map(|it| it.blocks()).filter_map(|it| it.call_id()) {
            if answered.contains(&id) {
                continue;
            }
            let records = self.beside.results.get(&id).into_iter().flatten();
            let sent = &self.beside.sent;
            let Some(at) = records.copied().find(|it| *it > first && sent.contains_key(it)) else {
                continue;
            };
            if let Some(it) = self.beside.sent.remove(&at) {
                answered.extend(it.blocks().iter().filter_map(|it| it.result_id()).map(|it| it.1));
                found.push(it);
            }
        }
        found
    }
}

fn has_result(it: &Sent<'_>) -> bool {
    matches!(it.content, Content::Blocks(..)) && it.blocks().iter().any(|it| it.is_result())
}

/// The answers beside the path that a note of the program replaced. The note follows the same record.
fn lost_replies(
    nodes: &Nodes<'_>,
    tree: &Tree<'_>,
    records: &[usize],
    beside: &Beside<'_>,
) -> Vec<LostReply> {
    let notes: HashMap<usize, usize> = records
        .windows(2)
        .filter(|it| nodes.list[it[1]].kind == Kind::Note)
        .map(|it| (it[0], it[1]))
        .collect();
    let mut replies: Vec<usize> = beside.sent.values().map(|it| it.record).collect();
    replies.retain(|it| nodes.list[*it].kind == Kind::Assistant);
    replies.sort_unstable();
    let mut res: Vec<LostReply> = Vec::new();
    for first in replies {
        let parent = tree.parents[first].map(|it| it as usize);
        let Some(note) = parent.and_then(|it| notes.get(&it).copied()) else { continue };
        let answer = beside.sent.get(&first).and_then(|it| it.answer.as_ref());
        let last = answer.and_then(|it| beside.answers.get(it)?.last().copied()).unwrap_or(first);
        let reply = LostReply { first, last, note };
        match res.iter_mut().find(|it| it.note == note) {
            // A later attempt replaces the earlier one.
            Some(it) if it.last != last => *it = reply,
            Some(_) => {}
            None => res.push(reply),
        }
    }
    res
}

// Token usage of a Claude Code session: each response counts once (SE-40). A response is stored as several records; the
// largest output count is the correct one.

fn of(nodes: &Nodes<'_>) -> Usage {
    let mut responses: BTreeMap<(String, String), Usage> = BTreeMap::new();
    for (at, node) in nodes.list.iter().enumerate() {
        if node.kind != Kind::Assistant || node.is_api_error {
            continue;
        }
        let Some((key, usage)) = response(nodes, at) else { continue };
        let known = responses.entry(key).or_default();
        if usage.output >= known.output {
            *known = usage;
        }
    }
    responses.into_values().fold(Usage::default(), super::add_usage)
}

fn response(nodes: &Nodes<'_>, at: usize) -> Option<((String, String), Usage)> {
    let message = nodes.message(at)?;
    let usage = Usage::from_raw(message.get("usage")?.raw_json());
    let id = message.text("id").map(Into::into).unwrap_or_else(|| format!("record {at}"));
    let request = nodes.lines.object(at)?.text("requestId").map(Into::into).unwrap_or_default();
    Some(((id, request), usage))
}
