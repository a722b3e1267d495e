//! Writes a session of Claude Code (SE-82): one record per block, in a chain.
//!
//! Also the edits of a Claude Code session: children of removed records get their grandparents
//! (SE-46), added records are linked into the chain (SE-47), and gathered results are linked if
//! necessary (SE-42).

use std::collections::{HashMap, HashSet};

use msg_core::{Message, Part, Report, Role};
use msg_json::{Writer, to_text};

use super::node;
use super::node::{Kind, Nodes};
use super::tree::Tree;
use crate::dialects::claude_code::Path;
use crate::edit::{Edit, Object, Value, quoted, set_member};
use crate::excerpt::spelled;
use crate::link::Plan;
use crate::write::{NEW_ID, WriteOptions, record_id, write_block};

pub(crate) fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    Records::new(options).write(messages)
}

/// New records, each the child of the one before.
pub(crate) struct Records<'o> {
    options: &'o WriteOptions,
    out: Vec<u8>,
    parent: Option<String>,
    count: u64,
    answers: u64,
    prefix: &'static str,
    is_summary: bool,
}

impl<'o> Records<'o> {
    pub(crate) fn new(options: &'o WriteOptions) -> Self {
        Self {
            options,
            out: Vec::new(),
            parent: None,
            count: 0,
            answers: 0,
            prefix: "",
            is_summary: false,
        }
    }

    /// Records whose numbers start after `count`.
    pub(crate) fn after(options: &'o WriteOptions, count: u64) -> Self {
        let mut res = Self::new(options);
        (res.count, res.answers, res.prefix) = (count, count, NEW_ID);
        res
    }

    /// The marker after which earlier records are not sent (SE-97).
    pub(crate) fn boundary(&mut self, leaf: Option<&str>, tokens: u64) {
        self.count += 1;
        let uuid = self.uuid();
        let line = to_text(|it| {
            it.object(|it| {
                it.key("parentUuid").null();
                it.key("logicalParentUuid").opt_str(leaf);
                it.key("isSidechain").bool(false);
                it.key("userType").str("external");
                it.key("cwd").str(&self.options.cwd);
                it.key("sessionId").str(&self.options.session_id);
                it.key("version").str(&self.options.version);
                it.key("type").str("system");
                it.key("subtype").str("compact_boundary");
                it.key("content").str("Conversation compacted");
                it.key("compactMetadata").object(|it| {
                    it.key("trigger").str("manual");
                    it.key("preTokens").u64(tokens);
                });
                it.key("uuid").str(&uuid);
                it.key("timestamp").str(&self.options.now);
            });
        });
        self.end(&line, uuid);
    }

    /// A message of a compacted session; a summary is marked as one.
    pub(crate) fn compacted(&mut self, message: &Message, is_summary: bool) {
        self.is_summary = is_summary && message.role == Role::User;
        self.message(message);
        self.is_summary = false;
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.out
    }

    pub(crate) fn write(mut self, messages: &[Message]) -> Vec<u8> {
        messages.iter().for_each(|it| self.message(it));
        self.out
    }

    fn message(&mut self, message: &Message) {
        if message.role == Role::Assistant {
            self.answers += 1;
            let id = format!("msg_{:024}", self.answers);
            message.parts.iter().for_each(|it| self.answer(&id, it));
        } else if message.role == Role::Tool {
            message.parts.iter().for_each(|it| self.user(std::slice::from_ref(it)));
        } else {
            self.user(&message.parts);
        }
    }

    fn answer(&mut self, id: &str, part: &Part) {
        self.record("assistant", |it| {
            it.key("id").str(id);
            it.key("type").str("message");
            it.key("role").str("assistant");
            it.key("model").str("<synthetic>");
            it.key("content").array([part], write_block);
            it.key("stop_reason").null();
        });
    }

    fn user(&mut self, parts: &[Part]) {
        self.record("user", |it| {
            it.key("role").str("user");
            match parts {
                [Part::Text(text)] => it.key("content").str(&text.text),
                parts => it.key("content").array(parts, write_block),
            }
        });
    }

    fn record(&mut self, kind: &str, message: impl FnOnce(&mut Writer<'_>)) {
        self.count += 1;
        let uuid = self.uuid();
        let line = to_text(|it| {
            it.object(|it| {
                it.key("parentUuid").opt_str(self.parent.as_deref());
                it.key("isSidechain").bool(false);
                it.key("userType").str("external");
                it.key("cwd").str(&self.options.cwd);
                it.key("sessionId").str(&self.options.session_id);
                it.key("version").str(&self.options.version);
                it.key("type").str(kind);
                it.key("message").object(message);
                if self.is_summary {
                    it.key("isCompactSummary").bool(true);
                }
                it.key("uuid").str(&uuid);
                it.key("timestamp").str(&self.options.now);
            });
        });
        self.end(&line, uuid);
    }

    fn end(&mut self, line: &str, uuid: String) {
        self.out.extend_from_slice(line.as_bytes());
        self.out.push(b'\n');
        self.parent = Some(uuid);
    }

    /// The id of a record.
    fn uuid(&self) -> String {
        let session = if self.prefix.is_empty() { &*self.options.session_id } else { "" };
        record_id(session, self.count)
    }
}

/// What a record follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// No record.
    Nothing,
    /// This record of the file.
    Record(usize),
    /// This new record, by its index.
    New(usize),
}

/// A new record.
struct NewRecord {
    after: usize,
    follows: Link,
    uuid: String,
    block: String,
    /// Whether it goes before that record.
    is_before: bool,
}

/// The file after the repair.
pub(super) struct Mend<'m, 'a> {
    nodes: &'m Nodes<'a>,
    /// Records that are removed from the tree.
    removed: HashSet<usize>,
    /// Links that differ from those in the file.
    links: HashMap<usize, Link>,
    new: Vec<NewRecord>,
    /// The value that names the last record a compaction keeps, and what follows it.
    tail: Option<(Value<'m>, Link)>,
}

/// Whether gathered results are chained into the path: when everything is repaired, or when the record at which a
/// resume continues is removed and another one takes its place.
pub(super) fn chains_gathered(plan: &Plan<'_>, path: &Path<'_>, all: bool) -> bool {
    let leaf = path.records.last();
    let leaf_goes = || {
        let sent = plan.sent.iter().position(|it| Some(&it.record) == leaf);
        sent.is_some_and(|it| plan.is_gone(it))
    };
    !path.gathered.is_empty() && (all || leaf_goes())
}

impl<'m, 'a> Mend<'m, 'a> {
    pub(super) fn new(nodes: &'m Nodes<'a>) -> Self {
        let (removed, links) = (HashSet::new(), HashMap::new());
        Self { nodes, removed, links, new: Vec::new(), tail: None }
    }

    /// Takes over the links that were repaired in the tree.
    pub(super) fn links_of(&mut self, tree: &Tree<'_>, all: bool) {
        for (at, is_error) in &tree.mended {
            let at = *at as usize;
            if *is_error || all {
                let link = tree.parents[at].map_or(Link::Nothing, |it| Link::Record(it as usize));
                self.links.insert(at, link);
            }
        }
    }

    /// Takes over the plan of the rules for calls and results.
    pub(super) fn plan(
        &mut self,
        plan: &mut Plan<'_>,
        tree: &Tree<'_>,
        path: &Path<'_>,
        chains: bool,
    ) {
        let boundary = node::last_boundary(self.nodes, &path.records);
        let kept = boundary.and_then(|it| node::kept_chain(self.nodes, tree, it));
        let (kept, tail) = kept.unzip();
        let mut on_path: HashSet<usize> = path.records.iter().copied().collect();
        let kept: Vec<_> = kept.into_iter().flatten().filter(|it| on_path.insert(*it)).collect();
        for it in &path.lost_replies {
            self.links.insert(it.note, Link::Record(it.last));
        }
        let gone = (0..plan.sent.len()).filter(|it| plan.is_gone(*it));
        self.removed = gone.map(|it| plan.sent[it].record).collect();
        let mut comes: HashMap<usize, Vec<String>> = HashMap::new();
        let mut uuids = Uuids::of(self.nodes);
        for (after, block) in std::mem::take(&mut plan.new_records) {
            let after = plan.sent[last_that_stays(plan, after)].record;
            if on_path.contains(&after) {
                comes.entry(after).or_default().push(block);
                continue;
            }
            // Beside the path, a result is found by its call.
            let (follows, uuid) = (Link::Record(after), uuids.next());
            self.new.push(NewRecord { after, follows, uuid, block, is_before: false });
        }
        if let Some(first) = start_of(plan, path, self.nodes) {
            let uuid = uuids.next();
            let block = r#"{"type":"text","text":"(start of the conversation)"}"#.to_owned();
            let parent = self.nodes.parent_before(path, first);
            let follows = parent.map_or(Link::Nothing, Link::Record);
            self.links.insert(first, Link::New(self.new.len()));
            self.new.push(NewRecord { after: first, follows, uuid, block, is_before: true });
        }
        let mut gathered: HashMap<usize, Vec<usize>> = HashMap::new();
        for (record, after) in path.gathered.iter().filter(|_| chains) {
            gathered.entry(*after).or_default().push(*record);
        }
        for chain in [&path.records, &kept] {
            let mut last = None;
            for record in chain {
                if let Some(it) = last.take() {
                    self.links.insert(*record, it);
                }
                let mut link = Link::Record(*record);
                for block in comes.remove(record).into_iter().flatten() {
                    let (follows, uuid) = (link, uuids.next());
                    link = Link::New(self.new.len());
                    let after = *record;
                    self.new.push(NewRecord { after, follows, uuid, block, is_before: false });
                }
                for record in gathered.remove(record).into_iter().flatten() {
                    self.links.insert(record, link);
                    link = Link::Record(record);
                }
                last = Some(link).filter(|it| *it != Link::Record(*record));
            }
            self.tail = tail.zip(last);
        }
    }

    /// The ids of new records, as JSON, by the record that each follows.
    pub(super) fn came(&self) -> HashMap<usize, Vec<String>> {
        let mut res: HashMap<usize, Vec<String>> = HashMap::new();
        for it in self.new.iter().filter(|it| !it.is_before) {
            res.entry(it.after).or_default().push(quoted(&it.uuid));
        }
        res
    }

    /// The value that names the last record a compaction keeps, and its new id as JSON, if that changed.
    pub(super) fn new_tail(&self) -> Option<(Value<'m>, String)> {
        self.tail.map(|(value, link)| (value, self.json(link)))
    }

    /// Writes the edits of links, and the removed and new lines.
    pub(super) fn write(&self, tree: &Tree<'_>, edits: &mut Vec<Edit>) {
        let lines = &self.nodes.lines;
        let mut resolved = Resolved { mend: self, tree, known: HashMap::new() };
        for at in 0..self.nodes.list.len() {
            if self.removed.contains(&at) {
                edits.push(lines.remove(at));
            } else if self.needs_link(tree, at) {
                let link = resolved.link_of(at);
                edits.extend(self.set_parent(at, link));
            }
        }
        for it in &self.new {
            let follows = self.json(resolved.follow(it.follows));
            let template = lines.whole(it.after);
            if let Some(template) = template.as_ref().and_then(|it| Object::whole(it, 0)) {
                let line = record(&template, it, &follows);
                edits.push(match it.is_before {
                    true => lines.insert_before(it.after, &line),
                    false => lines.insert_after(it.after, &line),
                });
            }
        }
    }

    /// Whether a record is removed.
    pub(super) fn removes(&self, record: usize) -> bool {
        self.removed.contains(&record)
    }

    /// The number of records after the repair.
    pub(super) fn records_left(&self) -> usize {
        self.nodes.list.len() + self.new.len() - self.removed.len()
    }

    fn needs_link(&self, tree: &Tree<'_>, at: usize) -> bool {
        self.links.contains_key(&at)
            || tree.parents[at].is_some_and(|it| self.removed.contains(&(it as usize)))
    }

    fn set_parent(&self, at: usize, link: Link) -> Option<Edit> {
        let json = self.json(link);
        match self.nodes.parent_value(at) {
            Some(old) if old.source == json => None,
            Some(old) => Some(Edit::replace(old.span(), json)),
            None => Some(set_member(&self.nodes.lines.object(at)?, "parentUuid", json)),
        }
    }

    fn json(&self, link: Link) -> String {
        match link {
            Link::Nothing => "null".to_owned(),
            Link::Record(it) => self.nodes.uuid(it).unwrap_or("null").to_owned(),
            Link::New(it) => quoted(&self.new[it].uuid),
        }
    }
}

/// The record of the path before which the start of a conversation is inserted; `None` if it would not be sent first.
pub(super) fn start_of(plan: &Plan<'_>, path: &Path<'_>, nodes: &Nodes<'_>) -> Option<usize> {
    let wanted = plan.sent[plan.missing_start?].record;
    if path.records.contains(&wanted) {
        return Some(wanted);
    }
    let boundary = path.records.iter().rposition(|it| nodes.list[*it].kind == Kind::Boundary);
    let rest = &path.records[boundary.map_or(0, |it| it + 1)..];
    let is_kept = boundary.is_some() && !path.gathered.iter().any(|it| it.0 == wanted);
    rest.iter().copied().find(|it| nodes.list[*it].is_message() && !is_kept)
}

/// The last record of a message that is not removed, from `from` backwards.
fn last_that_stays(plan: &Plan<'_>, from: usize) -> usize {
    (0..=from).rev().find(|it| !plan.is_gone(*it)).unwrap_or(from)
}

/// Links that skip removed records; each is resolved once.
struct Resolved<'r, 'm, 'a> {
    mend: &'r Mend<'m, 'a>,
    tree: &'r Tree<'m>,
    known: HashMap<usize, Link>,
}

impl Resolved<'_, '_, '_> {
    /// The link of a record, skipping removed records.
    fn link_of(&mut self, at: usize) -> Link {
        let link = self.own_link(at);
        self.follow(link)
    }

    fn own_link(&self, at: usize) -> Link {
        if let Some(link) = self.mend.links.get(&at) {
            return *link;
        }
        self.tree.parents[at].map_or(Link::Nothing, |it| Link::Record(it as usize))
    }

    fn follow(&mut self, mut link: Link) -> Link {
        let mut passed = Vec::new();
        while let Link::Record(at) = link {
            if !self.mend.removed.contains(&at) {
                break;
            }
            if let Some(known) = self.known.get(&at) {
                link = *known;
                break;
            }
            passed.push(at);
            link = self.own_link(at);
        }
        self.known.extend(passed.into_iter().map(|it| (it, link)));
        link
    }
}

/// The prefix of new record ids.
pub(super) const NEW: &str = "00000000-0000-4000-8000-";

/// Ids for new records: the lowest free ones, so the same input gives the same output.
struct Uuids<'u> {
    used: HashSet<&'u str>,
    last: u64,
}

impl<'u> Uuids<'u> {
    fn of(nodes: &'u Nodes<'_>) -> Self {
        let used = (0..nodes.list.len()).filter_map(|it| nodes.uuid(it));
        let is_of_a_mend = |it: &&str| it.trim_start_matches('"').starts_with(NEW);
        Self { used: used.filter(is_of_a_mend).collect(), last: 0 }
    }

    fn next(&mut self) -> String {
        loop {
            self.last += 1;
            let res = format!("{NEW}{:012x}", self.last);
            if !self.used.contains(&*quoted(&res)) {
                return res;
            }
        }
    }
}

/// The line of a new record (SE-47).
fn record(template: &Object<'_>, new: &NewRecord, follows: &str) -> String {
    const KEPT: [&str; 7] =
        ["isSidechain", "agentId", "userType", "cwd", "sessionId", "version", "gitBranch"];
    let mut res = format!("{{\"parentUuid\":{follows}");
    for name in KEPT {
        if let Some(value) = template.get(name) {
            res.push_str(&format!(",\"{name}\":{}", spelled(value.source)));
        }
    }
    let block = &new.block;
    res.push_str(&format!(
        r#","type":"user","message":{{"role":"user","content":[{block}]}},"uuid":"{}""#,
        new.uuid
    ));
    if let Some(time) = template.get("timestamp") {
        res.push_str(&format!(",\"timestamp\":{}", spelled(time.source)));
    }
    res.push('}');
    // There may be as many as records.
    res.shrink_to_fit();
    res
}
