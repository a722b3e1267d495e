//! What is kept of each record of a Claude Code session: places in its line, not texts.

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
    message: Option<Slice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    User,
    Assistant,
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
        Self {
            kind: kind(record),
            is_sidechain: record.is_true("isSidechain"),
            is_api_error: record.is_true("isApiErrorMessage"),
            uuid: string("uuid"),
            parent: slice("parentUuid"),
            logical_parent: string("logicalParentUuid"),
            message: slice("message"),
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
        Some(_) => Kind::Other,
        None => Kind::Unknown,
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
        self.value(node, self.list[node].message)?.object()
    }

    /// The source of the message, in which faults of the text matter.
    pub(super) fn message_value(&self, node: usize) -> Option<Value<'_>> {
        self.value(node, self.list[node].message)
    }
}
