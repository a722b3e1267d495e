//! Records that name their predecessors; the agent reads the path from the last record to the root
//! (qwen-code, pi).
//!
//! ```text
//! {"id":"a1","parentId":null}  {"id":"a2","parentId":"a1"}  {"id":"a3","parentId":"gone"}
//! the agent sends a3 alone; mended, a3 follows a2
//! ```
//!
//! Also the common parts of sessions whose records are messages with lists of blocks, in lines (goose)
//! or in one array (cline): the edits of their records.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use msg_core::Severity;

use super::Mends;
use crate::edit::{Edit, Object, Value, set_member};
use crate::error::{Finding, SessionPlace};
use crate::frame::{Array, Lines};
use crate::link::{Content, Plan, Rules, Sender, Sent};
use crate::view::{Branch, BranchKind};

/// The member names of a record's id and its parent's id.
#[derive(Clone, Copy)]
pub(super) struct Names {
    pub(super) id: &'static str,
    pub(super) parent: &'static str,
    /// Whether the last record with an id is the effective one, instead of the first.
    pub(super) last_counts: bool,
}

struct Node<'a> {
    id: Value<'a>,
    parent: Option<Value<'a>>,
}

/// Why a link is lost.
#[derive(Clone, Copy)]
enum Lost {
    Cycle,
    Missing,
    Unlinked,
}

/// How records move.
#[derive(Default)]
pub(super) struct Moves {
    /// For each record, the id of the record that it follows after the repair, as JSON.
    pub(super) links: HashMap<usize, String>,
    /// The lines of those that move, in order, each with the record whose line is before it.
    pub(super) lines: Vec<(usize, String)>,
}

/// The links of a session.
pub(super) struct Chain<'a> {
    lines: &'a Lines<'a>,
    names: Names,
    nodes: Vec<Option<Node<'a>>>,
    /// The effective record for each id; ids are JSON text.
    ids: HashMap<&'a str, usize>,
    /// The records that the agent reads, in order.
    pub(super) path: Vec<usize>,
    /// The records that it would read after lost links are repaired.
    pub(super) whole: Vec<usize>,
    pub(super) findings: Vec<Finding>,
    /// New links: a record and its predecessor, if any.
    links: HashMap<usize, Option<usize>>,
}

impl<'a> Chain<'a> {
    /// Reads the chain from the last record, or from `leaf`, to the first; `None` if the requested leaf does not exist.
    /// `says` tells which records are sent. Linear.
    pub(super) fn read(
        lines: &'a Lines<'a>,
        names: Names,
        leaf: Option<&str>,
        is_record: impl Fn(&Object<'a>) -> bool,
        says: impl Fn(usize) -> bool,
    ) -> Option<Self> {
        let text = |it: Value<'a>| Some(it).filter(|it| it.source.starts_with('"'));
        let node = |at: usize| {
            let record = lines.object(at).filter(&is_record)?;
            let id = record.get(names.id).and_then(text)?;
            Some(Node { id, parent: record.get(names.parent).and_then(text) })
        };
        let nodes: Vec<_> = (0..lines.records.len()).map(node).collect();
        let mut ids = HashMap::with_capacity(nodes.len());
        for (at, node) in nodes.iter().enumerate() {
            let Some(node) = node else { continue };
            match names.last_counts {
                true => ids.insert(node.id.source, at),
                false => {
                    ids.get(node.id.source).copied().or_else(|| ids.insert(node.id.source, at))
                }
            };
        }
        let wanted = leaf.map(crate::edit::quoted);
        let last = match &wanted {
            Some(id) => Some(*ids.get(&**id)?),
            None => nodes.iter().rev().flatten().next().map(|it| ids[it.id.source]),
        };
        let (path, whole, findings) = (Vec::new(), Vec::new(), Vec::new());
        let links = HashMap::new();
        let mut res = Self { lines, names, nodes, ids, path, whole, findings, links };
        res.walk(last, &says, wanted.is_none());
        if wanted.is_none() {
            let off_path = res.off_path(says);
            res.findings.extend(off_path);
        }
        Some(res)
    }

    /// Walks to the ancestors of `leaf`. With `is_linked`, a first record is treated as one with a lost link if the
    /// conversation came before it and nothing sent comes after it: it is then read with what is before it, as without
    /// a leaf.
    fn walk(&mut self, leaf: Option<usize>, says: impl Fn(usize) -> bool, is_linked: bool) {
        let is_node = |it: &usize| self.nodes[*it].is_some();
        let begins = (0..self.nodes.len()).filter(is_node).find(|it| says(*it));
        let mut seen = HashSet::new();
        let (mut cut, mut is_said) = (None, !is_linked);
        let mut next = leaf;
        while let Some(at) = next.filter(|it| seen.insert(*it)) {
            self.whole.push(at);
            is_said = is_said || says(at);
            let parent = self.nodes[at].as_ref().and_then(|it| it.parent);
            let lost = match parent {
                None if is_said || begins.is_none_or(|it| it >= at) => break,
                None => Lost::Unlinked,
                Some(parent) => match self.ids.get(parent.source).copied() {
                    Some(it) if !seen.contains(&it) => {
                        next = Some(it);
                        continue;
                    }
                    Some(_) => Lost::Cycle,
                    None => Lost::Missing,
                },
            };
            next = self.before(at).filter(|it| !seen.contains(it));
            self.lost(at, lost, next);
            let is_cut = !matches!(lost, Lost::Unlinked);
            cut = cut.or(is_cut.then_some(self.whole.len()));
        }
        self.path = self.whole[..cut.unwrap_or(self.whole.len())].to_vec();
        self.path.reverse();
        self.whole.reverse();
    }

    /// The record before this one in the file.
    fn before(&self, at: usize) -> Option<usize> {
        let mut before = (0..at).rev().filter_map(|it| self.nodes[it].as_ref());
        before.next().map(|it| self.ids[it.id.source])
    }

    fn lost(&mut self, at: usize, lost: Lost, before: Option<usize>) {
        let (code, message) = match lost {
            Lost::Cycle => ("session::parent-cycle", "the record is its own ancestor"),
            Lost::Missing => (
                "session::missing-parent",
                "the parent record is missing; the agent sends nothing before it",
            ),
            Lost::Unlinked => (
                "session::missing-parent",
                "the session ends at a record without a parent; the agent sends nothing before it",
            ),
        };
        self.links.insert(at, before);
        let finding = Finding::error(code, self.lines.place(at), message);
        self.findings.push(finding.mended("link it to the record before it", false));
    }

    /// What was sent before each compaction of the path. `sent` are the records that are sent now.
    pub(super) fn compactions(
        &self,
        sent: &[usize],
        is_compaction: impl Fn(usize) -> bool,
    ) -> Vec<Branch> {
        let sent: HashSet<_> = sent.iter().copied().collect();
        let mut gone = 0;
        let mut res = Vec::new();
        for pair in self.path.windows(2) {
            gone += usize::from(!sent.contains(&pair[0]));
            let leaf = self.nodes[pair[0]].as_ref().and_then(|it| it.id.text());
            let leaf = leaf.filter(|_| gone > 0 && is_compaction(pair[1]));
            res.extend(leaf.map(|leaf| Branch {
                leaf: leaf.into_owned(),
                record: u32::try_from(pair[0]).unwrap_or(u32::MAX),
                kind: BranchKind::Compacted,
                records: gone,
            }));
        }
        res
    }

    /// The branches: what is before a lost link, and the leaves off the path.
    pub(super) fn branches(&self, says: impl Fn(usize) -> bool) -> Vec<Branch> {
        let mut is_known = vec![false; self.nodes.len()];
        self.path.iter().for_each(|it| is_known[*it] = true);
        let mut res = Vec::new();
        for at in (0..self.nodes.len()).rev() {
            let (mut records, mut is_said) = (0, false);
            let mut next = Some(at).filter(|it| self.nodes[*it].is_some());
            while let Some(it) = next.filter(|it| !std::mem::replace(&mut is_known[*it], true)) {
                records += 1;
                is_said = is_said || says(it);
                let parent = self.nodes[it].as_ref().and_then(|it| it.parent);
                next = parent.and_then(|it| self.ids.get(it.source).copied());
            }
            let leaf = self.nodes[at].as_ref().and_then(|it| it.id.text());
            if let Some(leaf) = leaf.filter(|_| is_said) {
                let record = u32::try_from(at).unwrap_or(u32::MAX);
                let kind = BranchKind::Abandoned;
                res.push(Branch { leaf: leaf.into_owned(), record, kind, records });
            }
        }
        res.reverse();
        res
    }

    /// The finding about sent records in trees that are not on the path and that no lost link explains.
    fn off_path(&self, says: impl Fn(usize) -> bool) -> Option<Finding> {
        let first = self.path.first().filter(|_| self.findings.is_empty())?;
        let counts = |it: &usize| self.nodes[*it].is_some() && says(*it);
        let parent = |at: usize| self.parent(at);
        let count = super::count_off_path(self.nodes.len(), &self.path, parent, counts);
        super::off_path(self.lines.place(*first), count, "message")
    }

    /// Whether any record has this id.
    pub(super) fn has(&self, id: &str) -> bool {
        self.ids.contains_key(&*crate::edit::quoted(id))
    }

    /// The record of the path after this one.
    pub(super) fn after(&self, record: usize) -> Option<usize> {
        let at = self.whole.iter().position(|it| *it == record)?;
        self.whole.get(at + 1).copied()
    }

    /// The last record of the id of this one.
    pub(super) fn last_copy(&self, record: usize) -> usize {
        let id = self.id(record);
        let is_copy = |it: &Option<Node<'_>>| it.as_ref().is_some_and(|it| it.id.source == id);
        self.nodes.iter().rposition(is_copy).unwrap_or(record)
    }

    /// The JSON of a record's id.
    pub(super) fn id(&self, record: usize) -> &'a str {
        self.nodes[record].as_ref().map_or("null", |it| it.id.source)
    }

    /// The edits: repaired links, removed lines, whose children are linked to the record before, and links to new
    /// records. Ids are JSON.
    pub(super) fn edits(
        &self,
        removed: &HashSet<usize>,
        new_links: &HashMap<usize, String>,
    ) -> Vec<Edit> {
        let mut res: Vec<Edit> = removed.iter().map(|it| self.lines.remove(*it)).collect();
        for (at, node) in self.nodes.iter().enumerate().filter(|it| !removed.contains(&it.0)) {
            let Some(node) = node else { continue };
            let json = match new_links.get(&at) {
                Some(json) => json.clone(),
                None => {
                    let parent = self.parent(at);
                    let is_touched = self.links.contains_key(&at)
                        || parent.is_some_and(|it| removed.contains(&it));
                    if !is_touched {
                        continue;
                    }
                    let mut stays = parent;
                    let mut steps = removed.len();
                    while let Some(it) = stays.filter(|it| removed.contains(it)) {
                        stays = self.parent(it).filter(|_| steps > 0);
                        steps = steps.saturating_sub(1);
                    }
                    stays.map_or("null", |it| self.id(it)).to_owned()
                }
            };
            match node.parent {
                Some(old) if old.source == json => {}
                Some(old) => res.push(Edit::replace(old.span(), json)),
                None => {
                    let record = self.lines.object(at);
                    res.extend(record.map(|it| set_member(&it, self.names.parent, json)));
                }
            }
        }
        res
    }

    /// The links of records that follow others in this order, a new one of those that are sent, in which some were
    /// moved; and the lines of these, each with the record that its line follows. None if one cannot be moved, or if
    /// the file would end with another record than the order does.
    pub(super) fn reordered(&self, order: &[usize], is_moved: &HashSet<usize>) -> Option<Moves> {
        let mut res = Moves::default();
        let last = (0..self.nodes.len()).rev().find(|it| {
            let is_node = self.nodes[*it].is_some();
            is_node && !is_moved.contains(it)
        })?;
        if *order.last()? != last && order.last() != self.whole.last() {
            return None;
        }
        let mut anchor = None;
        for (before, at) in order.iter().zip(order.iter().skip(1)) {
            let id = self.id(*before);
            if !is_moved.contains(at) {
                res.links.insert(*at, id.to_owned());
                continue;
            }
            if !is_moved.contains(before) {
                anchor = Some(*before);
            }
            let parent = self.nodes[*at].as_ref()?.parent?.span();
            let line = self.lines.records[*at].span();
            let (head, tail) = (line.start..parent.start, parent.end..line.end);
            let line = format!("{}{id}{}", self.lines.copied(head), self.lines.copied(tail));
            res.lines.push((anchor?, line));
        }
        let is_of_moved = |at: &usize| self.parent(*at).is_some_and(|it| is_moved.contains(&it));
        for at in (0..self.nodes.len()).filter(is_of_moved) {
            let parent = self.parent(at).unwrap_or_default();
            res.links.entry(at).or_insert_with(|| self.id(parent).to_owned());
        }
        Some(res)
    }

    /// Other records with the ids of removed ones, with a finding each: otherwise such a copy would replace the removed
    /// record.
    pub(super) fn copies(&self, removed: &HashSet<usize>) -> (Vec<usize>, Vec<Finding>) {
        let ids: HashSet<&str> = removed.iter().map(|it| self.id(*it)).collect();
        let is_copy = |it: &usize| {
            let node = self.nodes[*it].as_ref();
            !removed.contains(it) && node.is_some_and(|it| ids.contains(it.id.source))
        };
        let copies: Vec<usize> = (0..self.nodes.len()).filter(is_copy).collect();
        let finding = |it: &usize| {
            let message = "another record of the id of one that is removed";
            let finding =
                Finding::warning("session::duplicate-record", self.lines.place(*it), message);
            finding.mended("remove it too", true)
        };
        let findings = copies.iter().map(finding).collect();
        (copies, findings)
    }

    fn parent(&self, at: usize) -> Option<usize> {
        if let Some(link) = self.links.get(&at) {
            return *link;
        }
        let parent = self.nodes[at].as_ref()?.parent?;
        self.ids.get(parent.source).copied()
    }
}

/// The JSON of a new record. It copies from its neighbour `like`: a goose message needs a time, and in an export also
/// `metadata`, or goose does not import it.
fn message(file: File<'_>, sender: Sender, content: &str, like: usize) -> String {
    let created = file.value(like).and_then(|it| it.get("created"));
    let created = created.map(|it| format!(",\"created\":{}", it.source)).unwrap_or_default();
    let is_export = matches!(file, File::Array(_));
    let has_metadata = is_export && file.value(like).is_some_and(|it| it.get("metadata").is_some());
    let metadata = if has_metadata { VISIBLE } else { "" };
    format!(r#"{{"role":"{}"{created},"content":[{content}]{metadata}}}"#, role(sender))
}

/// The members that goose's import requires in each message.
const VISIBLE: &str = r#","metadata":{"userVisible":true,"agentVisible":true}"#;

fn role(sender: Sender) -> &'static str {
    match sender {
        Sender::User => "user",
        Sender::Assistant => "assistant",
    }
}

/// Checks the messages of a list and writes the edits.
pub(super) fn check(
    file: File<'_>,
    sent: &[Sent<'_>],
    rules: &Rules,
    mut findings: Vec<Finding>,
) -> Mends {
    let mut plan = crate::link::check(sent, rules);
    crate::link::check_content(&mut plan);
    plan.findings.append(&mut findings);
    let mut findings = std::mem::take(&mut plan.findings);
    let mut edits = plan.take_edits();
    for it in sent {
        let to = (&mut findings, &mut edits);
        super::replace_lone_surrogates(file.value(it.record), it.place, rules.has_marks, to);
    }
    let gone: Vec<_> =
        (0..sent.len()).filter(|it| plan.is_gone(*it)).map(|it| sent[it].record).collect();
    edits.extend(file.drop(&gone));
    edits.extend(new_records(file, &plan));
    let left = file.len() - gone.len() + plan.new_records.len();
    Mends::new(file.len(), left, findings, edits)
}

/// The edits that insert new records.
fn new_records(file: File<'_>, plan: &Plan<'_>) -> Vec<Edit> {
    let mut res = Vec::new();
    if let Some(first) = plan.missing_start.map(|it| plan.sent[it].record) {
        let text = r#"{"type":"text","text":"(start of the conversation)"}"#;
        res.push(file.insert_before(first, &message(file, Sender::User, text, first)));
    }
    let mut come = plan.new_records.iter().peekable();
    while let Some((after, block)) = come.next() {
        let mut content = block.clone();
        // Results of one message form one record.
        while let Some((_, block)) = come.next_if(|it| it.0 == *after) {
            content = format!("{content},{block}");
        }
        let record = plan.sent[*after].record;
        res.push(file.insert_after(record, &message(file, Sender::User, &content, record)));
    }
    res
}

/// Whether a record is not empty.
pub(super) fn says_something(sent: &Sent<'_>) -> bool {
    !matches!(sent.content, Content::None | Content::Null(_))
}

// The records of a session of one file: its lines (goose, gemini-cli), or the elements of one array (cline, goose
// exports, older gemini-cli files).

/// A session of one file.
#[derive(Clone, Copy)]
pub(super) enum File<'a> {
    Lines(&'a Lines<'a>),
    Array(&'a Array<'a>),
}

impl<'a> File<'a> {
    /// Findings about its frame.
    pub(super) fn findings(self) -> &'a [Finding] {
        match self {
            File::Lines(it) => &it.findings,
            File::Array(it) => &it.findings,
        }
    }

    /// Whether long values are replaced by marks.
    pub(super) fn has_marks(self) -> bool {
        matches!(self, File::Lines(it) if it.has_marks())
    }

    /// How many records there are.
    pub(super) fn len(self) -> usize {
        match self {
            File::Lines(it) => it.records.len(),
            File::Array(it) => it.records.len(),
        }
    }

    /// The value of a record.
    pub(super) fn value(self, record: usize) -> Option<Value<'a>> {
        match self {
            File::Lines(it) => it.value(record),
            File::Array(it) => it.value(record),
        }
    }

    /// Where a record is.
    pub(super) fn place(self, record: usize) -> SessionPlace {
        match self {
            File::Lines(it) => it.place(record),
            File::Array(it) => it.place(record),
        }
    }

    /// The edits that drop these records.
    pub(super) fn drop(self, records: &[usize]) -> Vec<Edit> {
        match self {
            File::Lines(it) => records.iter().map(|at| it.remove(*at)).collect(),
            File::Array(it) => it.drop(|at| records.binary_search(&at).is_ok()),
        }
    }

    /// The edit that inserts a record after another one.
    pub(super) fn insert_after(self, record: usize, json: &str) -> Edit {
        match self {
            File::Lines(it) => it.insert_after(record, json),
            File::Array(it) => it.insert_after(record, json),
        }
    }

    /// The edit that inserts a record before another one.
    pub(super) fn insert_before(self, record: usize, json: &str) -> Edit {
        match self {
            File::Lines(it) => it.insert_before(record, json),
            File::Array(it) => it.insert_before(record, json),
        }
    }
}

// Calls and results of agents that repair most problems themselves (pi, copilot-cli): reports the remaining ones
// (SE-32, SE-33, SE-35, SE-36).

/// The events on a path, in order.
pub(super) enum Event<'a> {
    /// Any message that is not a result begins.
    Says,
    Call(Cow<'a, str>, SessionPlace),
    Result(Cow<'a, str>, SessionPlace),
}

/// Problems of calls and results.
#[derive(Default)]
pub(super) struct Pairs {
    pub(super) findings: Vec<Finding>,
    /// The indexes of results that answer no call, or an already answered one.
    pub(super) dropped: Vec<usize>,
}

/// Checks a path; `severity` is that of a surplus result. Linear.
pub(super) fn check_pairs(events: &[Event<'_>], severity: Severity) -> Pairs {
    let mut res = Pairs::default();
    // For each id, its last call: the index of the event, and whether it has a result.
    let mut calls: HashMap<&str, (usize, bool)> = HashMap::new();
    let mut open = Vec::new();
    let mut last_says = None;
    for (at, event) in events.iter().enumerate() {
        match event {
            Event::Says => last_says = Some(at),
            Event::Call(id, _) => {
                let before = calls.insert(id, (at, false));
                open.extend(before.filter(|it| !it.1).map(|it| it.0));
            }
            Event::Result(id, place) => {
                let (code, message) = match calls.get_mut(&**id) {
                    Some((_, is_answered)) if !*is_answered => {
                        *is_answered = true;
                        continue;
                    }
                    Some(_) => {
                        ("session::duplicate-result", format!("second result of call `{id}`"))
                    }
                    None => {
                        let message = format!("tool result `{id}` matches no earlier call");
                        ("session::orphan-result", message)
                    }
                };
                res.dropped.push(at);
                let finding = Finding::new(severity, code, *place, message);
                res.findings.push(finding);
            }
        }
    }
    open.extend(calls.into_values().filter(|it| !it.1).map(|it| it.0));
    open.sort_unstable();
    for at in open {
        let Event::Call(id, place) = &events[at] else { continue };
        let (code, message) = match last_says > Some(at) {
            true => ("session::unanswered-call", format!("call `{id}` has no result")),
            false => {
                let message = format!("the session ends with call `{id}`, which has no result yet");
                ("session::open-call", message)
            }
        };
        res.findings.push(Finding::warning(code, *place, message));
    }
    res
}
