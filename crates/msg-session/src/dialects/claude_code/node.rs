//! What is kept of each record of a Claude Code session: places in its line, not texts.

use super::path::Path;
use crate::frame::Lines;
use crate::json::{Object, Value};

/// A record, as far as the tree needs it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// Whether it belongs to a subagent.
    pub(super) is_sidechain: bool,
    /// Whether it is what the program says about a failed request, which is not sent.
    pub(super) is_api_error: bool,
    uuid: Option<Slice>,
    parent: Option<Slice>,
    logical_parent: Option<Slice>,
    /// The message, or the words of a record that has them elsewhere.
    said: Option<Slice>,
    time: Option<Slice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    User,
    Assistant,
    /// Words of the user in a record of another type: typed while the agent worked, or a command (SE-126).
    Words,
    /// Where a compaction begins.
    Boundary,
    /// What the program notes about a turn, in the chain (SE-128).
    Note,
    /// A record of a known or later kind that is not sent.
    #[default]
    Other,
    /// No kind at all.
    Unknown,
}

/// A value of a record: offset and length in its line.
#[derive(Debug, Clone, Copy)]
struct Slice {
    offset: u32,
    len: u32,
}

impl Node {
    /// Takes what the tree needs of a record that begins at `start`.
    pub(super) fn of(start: usize, record: Option<&Object<'_>>) -> Self {
        let Some(record) = record else { return Self::default() };
        let slice = |name: &str| Slice::of(start, record.get(name)?);
        let string = |name: &str| {
            Slice::of(start, record.get(name).filter(|it| it.source.starts_with('"'))?)
        };
        let kind = kind(record);
        let said = match kind {
            Kind::Words => words(record),
            _ => record.get("message"),
        };
        Self {
            kind,
            is_sidechain: record.is_true("isSidechain"),
            is_api_error: record.is_true("isApiErrorMessage"),
            uuid: string("uuid"),
            parent: slice("parentUuid"),
            logical_parent: string("logicalParentUuid"),
            said: said.and_then(|it| Slice::of(start, it)),
            time: slice("timestamp"),
        }
    }

    pub(super) fn is_message(&self) -> bool {
        matches!(self.kind, Kind::User | Kind::Assistant)
    }
}

fn kind(record: &Object<'_>) -> Kind {
    match record.text("type").as_deref() {
        Some("user") => Kind::User,
        Some("assistant") => Kind::Assistant,
        Some("attachment" | "system") if words(record).is_some() => Kind::Words,
        Some("system") => match record.text("subtype").as_deref() {
            Some("compact_boundary") => Kind::Boundary,
            Some("stop_hook_summary" | "api_error" | "turn_duration") => Kind::Note,
            _ => Kind::Other,
        },
        Some(_) => Kind::Other,
        None => Kind::Unknown,
    }
}

/// What the user says in a record that is no message.
fn words<'a>(record: &Object<'a>) -> Option<Value<'a>> {
    match &*record.text("type")? {
        "attachment" => {
            let attachment = record.inner("attachment")?;
            let is_queued = attachment.text("type")? == "queued_command";
            attachment.get("prompt").filter(|it| is_queued && it.source != "\"\"")
        }
        _ => {
            let is_command = record.text("subtype")? == "local_command";
            record.get("content").filter(|it| is_command && it.text().is_some())
        }
    }
}

impl Slice {
    fn of(start: usize, value: Value<'_>) -> Option<Self> {
        let offset = u32::try_from(value.at - start).ok()?;
        Some(Self { offset, len: u32::try_from(value.source.len()).ok()? })
    }
}

/// The records of a session with their texts.
pub(super) struct Nodes<'a> {
    pub(super) lines: &'a Lines<'a>,
    pub(super) list: Vec<Node>,
}

impl<'a> Nodes<'a> {
    pub(super) fn of(lines: &'a Lines<'a>) -> Self {
        let node = |it: usize| Node::of(lines.records[it].span().start, lines.object(it).as_ref());
        Self { lines, list: (0..lines.records.len()).map(node).collect() }
    }

    fn value(&self, node: usize, slice: Option<Slice>) -> Option<Value<'_>> {
        let slice = slice?;
        let at = self.lines.records[node].span().start + slice.offset as usize;
        Some(Value { source: &self.lines.text[at..at + slice.len as usize], at })
    }

    /// The id of a record, as JSON: a string with its quotes.
    pub(super) fn uuid(&self, node: usize) -> Option<&str> {
        self.value(node, self.list[node].uuid).map(|it| it.source)
    }

    /// The id of its parent, as JSON; none if it is `null` or missing.
    pub(super) fn parent(&self, node: usize) -> Option<Value<'_>> {
        self.value(node, self.list[node].parent).filter(|it| it.source.starts_with('"'))
    }

    /// The value of `parentUuid`, whatever it is.
    pub(super) fn parent_value(&self, node: usize) -> Option<Value<'_>> {
        self.value(node, self.list[node].parent)
    }

    pub(super) fn logical_parent(&self, node: usize) -> Option<Value<'_>> {
        self.value(node, self.list[node].logical_parent)
    }

    pub(super) fn message(&self, node: usize) -> Option<Object<'_>> {
        self.value(node, self.list[node].said)?.object()
    }

    /// What is said, of a message or of words elsewhere.
    pub(super) fn content(&self, node: usize) -> Option<Value<'_>> {
        let said = self.value(node, self.list[node].said)?;
        match self.list[node].kind {
            Kind::Words => Some(said),
            _ => said.get("content"),
        }
    }

    /// The record of the path before this one.
    pub(super) fn parent_before(&self, path: &Path<'_>, record: usize) -> Option<usize> {
        let at = path.records.iter().position(|it| *it == record)?;
        path.records.get(at.checked_sub(1)?).copied()
    }

    /// When a record was written.
    pub(super) fn time(&self, node: usize) -> Option<Value<'_>> {
        self.value(node, self.list[node].time)
    }

    /// Whether a record says whom it follows, be it nobody.
    pub(super) fn has_parent_member(&self, node: usize) -> bool {
        self.list[node].parent.is_some()
    }

    /// The source of what is said, in which faults of the text matter.
    pub(super) fn said(&self, node: usize) -> Option<Value<'_>> {
        self.value(node, self.list[node].said)
    }
}
