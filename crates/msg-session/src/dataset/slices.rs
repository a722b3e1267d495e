//! What of a session one of its leaves is read from: where records name the one before them, those on the way up and
//! what is gathered beside it. A session of many short branches is then read once, and a slice of it for each.
//!
//! ```text
//! a ─ b ─ c1 ─ d1          the slice of d1   a b c1 d1
//!      └─ c2 ─ d2          the slice of d2   a b c2 d2
//! ```
//!
//! Only where nothing is odd about the links. A path through a compaction needs the whole session. Where records are not
//! linked, their dialect says which are of a leaf.

use std::collections::{BTreeSet, HashMap};

use crate::dialects;
use crate::edit::{Object, quoted};
use crate::frame::{Lines, read_lines};
use crate::view::View;
use crate::{Blob, Dialect, Session, SessionOptions};

/// The records of a session by their links.
pub(super) struct Slices {
    dialect: Dialect,
    name: String,
    lines: Lines<'static>,
    /// The record of each id, by its JSON.
    ids: HashMap<String, usize>,
    nodes: Vec<Node>,
    /// The records that are gathered, by what they share with those of a path.
    gathered: HashMap<Share, Vec<usize>>,
}

/// A record of the tree, as far as a slice needs it.
#[derive(Default)]
struct Node {
    /// Whether it has an id.
    is_linked: bool,
    parent: Option<usize>,
    is_message: bool,
    /// Whether the whole session says what comes before it.
    is_boundary: bool,
    /// What gathers other records, if it is sent.
    gathers: Vec<Share>,
}

/// What a record beside a path has in common with one that is on it (SE-123 to SE-126).
#[derive(Clone, PartialEq, Eq, Hash)]
enum Share {
    /// Both are pieces of one answer.
    Answer(String),
    /// One has the call, the other its result.
    Call(String),
    /// It answers this record.
    Reply(usize),
}

/// A slice of a session.
#[derive(Debug)]
pub(super) struct Slice {
    pub(super) session: Session,
    /// The leaf that it is read along, if it goes on after that.
    pub(super) leaf: Option<String>,
    /// The numbers of its records in the session.
    records: Vec<u32>,
}

/// As many records before the first message may be a header.
const HEAD: usize = 16;

impl Slices {
    /// None of a session whose records are not linked, or not each to one before it.
    pub(super) fn of(session: &Session) -> Option<Self> {
        let (id, parent) = match session.dialect() {
            Dialect::ClaudeCode | Dialect::QwenCode => ("uuid", "parentUuid"),
            Dialect::Pi => ("id", "parentId"),
            _ => return None,
        };
        let [blob] = session.blobs() else { return None };
        let lines = read_lines(&blob.bytes, SessionOptions::default().max_record).without_source();
        if !lines.findings.is_empty() {
            return None;
        }
        let mut res = Slices {
            dialect: session.dialect(),
            name: blob.name.clone(),
            lines,
            ids: HashMap::new(),
            nodes: Vec::new(),
            gathered: HashMap::new(),
        };
        for at in 0..res.lines.records.len() {
            let node = res.node(at, id, parent)?;
            res.nodes.push(node);
        }
        Some(res)
    }

    fn node(&mut self, at: usize, id: &str, parent: &str) -> Option<Node> {
        let record = self.lines.object(at)?;
        let is_header = self.dialect == Dialect::Pi && record.text("type")? == "session";
        let id = record.get(id).filter(|it| it.source.starts_with('"') && !is_header);
        let Some(id) = id else { return Some(Node::default()) };
        let parent = match record.get(parent) {
            Some(it) if it.is_null() => None,
            Some(it) => Some(*self.ids.get(it.source)?),
            None if self.ids.is_empty() || self.dialect == Dialect::Pi => None,
            None => return None,
        };
        let mut node = Node { is_linked: true, parent, ..Node::default() };
        let mut shares = Vec::new();
        if self.dialect == Dialect::ClaudeCode {
            shares = shared(&record, &mut node);
        }
        if self.ids.insert(id.source.to_owned(), at).is_some() {
            return None;
        }
        for it in shares {
            self.gathered.entry(it).or_default().push(at);
        }
        Some(node)
    }

    /// The first record on the way to one.
    fn root(&self, record: usize) -> usize {
        self.way(record).last().unwrap_or(record)
    }

    /// Up from a record.
    fn way(&self, record: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(record), |it| self.nodes[*it].parent)
    }

    /// The root of the records of a view.
    pub(super) fn root_of(&self, view: &View) -> Option<usize> {
        let first = view.origins.iter().flatten().next()?;
        let first = usize::try_from(first.record).ok().filter(|it| *it < self.nodes.len())?;
        Some(self.root(first))
    }

    /// What is enough to read a leaf; none if that is not below this root, or a compaction is on the way to it. As long
    /// as what is read.
    pub(super) fn of_leaf(&self, leaf: &str, root: usize) -> Option<Slice> {
        let mut way: Vec<usize> = self.way(*self.ids.get(&quoted(leaf))?).collect();
        way.reverse();
        if way.first() != Some(&root) || way.iter().any(|it| self.nodes[*it].is_boundary) {
            return None;
        }
        let mut records: BTreeSet<usize> = way.iter().copied().collect();
        let notes = way.windows(2).filter(|it| !self.nodes[it[1]].is_message);
        let replies = notes.map(|it| Share::Reply(it[0]));
        let mut shares: Vec<Share> = replies.collect();
        shares.extend(way.iter().flat_map(|it| self.nodes[*it].gathers.iter().cloned()));
        while let Some(share) = shares.pop() {
            for at in self.gathered.get(&share).into_iter().flatten() {
                if !records.contains(at) {
                    shares.extend(self.nodes[*at].gathers.iter().cloned());
                    let above = self.way(*at).take_while(|it| !records.contains(it));
                    let above: Vec<usize> = above.collect();
                    records.extend(above);
                }
            }
        }
        let first = *records.first()?;
        records.extend((0..HEAD.min(first)).filter(|it| !self.nodes[*it].is_linked));
        Some(Slice {
            leaf: Some(leaf.to_owned()),
            ..Slice::of(self.dialect, &self.name, &self.lines, records)
        })
    }

    /// Whether what is beside a leaf says nothing about it: then a compaction is before it if one is before this root.
    pub(super) fn has_roots(&self) -> bool {
        self.dialect == Dialect::ClaudeCode
    }
}

/// What others gather a record by, while what it gathers itself is noted.
fn shared(record: &Object<'_>, node: &mut Node) -> Vec<Share> {
    let kind = record.text("type");
    let is_answer = kind.as_deref() == Some("assistant");
    node.is_message = is_answer || kind.as_deref() == Some("user");
    node.is_boundary = record.has("logicalParentUuid")
        || record.has("compactMetadata")
        || record.is_true("isCompactSummary");
    let mut res = Vec::new();
    let Some(message) = record.inner("message").filter(|_| node.is_message) else { return res };
    if is_answer {
        let answer = message.text("id").map(|it| Share::Answer(it.into_owned()));
        node.gathers.extend(answer.clone());
        res.extend(answer);
        res.extend(node.parent.map(Share::Reply));
    }
    for it in message.list("content").into_iter().filter_map(|it| it.object()) {
        let text = |name: &str| it.text(name).map(|it| Share::Call(it.into_owned()));
        match is_answer {
            true => node.gathers.extend(text("id")),
            false => res.extend(text("tool_use_id")),
        }
    }
    res
}

/// The records of each leaf of a session, by the number of the leaf (codex, gemini-cli).
pub(super) struct Replayed {
    dialect: Dialect,
    name: String,
    lines: Lines<'static>,
    records: HashMap<usize, Vec<usize>>,
}

impl Replayed {
    /// What is enough to read each of these leaves, once for all. None of a session that is damaged.
    pub(super) fn of(session: &Session, leaves: &[usize]) -> Option<Self> {
        let ([blob], dialect) = (session.blobs(), session.dialect()) else { return None };
        let rules = dialects::format(dialect).line_rules(&blob.name, &blob.bytes)?;
        let lines = read_lines(&blob.bytes, SessionOptions::default().max_record).without_source();
        if !lines.findings.is_empty() {
            return None;
        }
        let found = rules.leaves(&lines, leaves);
        let records = leaves.iter().zip(found).filter_map(|it| Some((*it.0, it.1?))).collect();
        Some(Self { dialect, name: blob.name.clone(), lines, records })
    }

    /// The slice of a leaf.
    pub(super) fn of_leaf(&mut self, leaf: &str) -> Option<Slice> {
        let records = self.records.remove(&leaf.parse().ok()?)?;
        Some(Slice::of(self.dialect, &self.name, &self.lines, records))
    }
}

impl Slice {
    fn of(
        dialect: Dialect,
        name: &str,
        lines: &Lines<'_>,
        records: impl IntoIterator<Item = usize>,
    ) -> Self {
        let (mut text, mut numbers) = (String::new(), Vec::new());
        for it in records {
            text.push_str(&lines.text[lines.records[it].span()]);
            text.push('\n');
            numbers.push(u32::try_from(it).unwrap_or(u32::MAX));
        }
        let session = Session::new(dialect, vec![Blob::new(name, text)]);
        Self { session, leaf: None, records: numbers }
    }

    /// The number that a record of the slice has in the session.
    pub(super) fn number(&self, record: u32) -> u32 {
        let number = usize::try_from(record).ok().and_then(|it| self.records.get(it));
        number.copied().unwrap_or(u32::MAX)
    }
}
