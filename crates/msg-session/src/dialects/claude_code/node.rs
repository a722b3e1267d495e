//! The data of a record of a Claude Code session: places in its line, not texts.

use crate::dialects::claude_code::Path;
use crate::dialects::claude_code::tree::Tree;
use crate::dialects::claude_code::write::Mend;
use crate::dialects::holds_message;
use crate::edit::{Edit, Object, Value, drop_elements};
use crate::error::Finding;
use crate::frame::Lines;
use crate::link::Content;
use crate::link::results::Odd;
use crate::parts;

/// The part of a record that the tree needs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// Whether it belongs to a subagent.
    pub(super) is_sidechain: bool,
    /// Whether it is the program's note about a failed request, which is not sent.
    pub(super) is_api_error: bool,
    uuid: Option<Slice>,
    parent: Option<Slice>,
    logical_parent: Option<Slice>,
    /// The message, or the user's words in a record that stores them elsewhere.
    said: Option<Slice>,
    time: Option<Slice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    User,
    Assistant,
    /// The user's words in a record of another type: typed while the agent worked, or a command (SE-126).
    Words,
    /// What a hook says to the model, in an attachment (SE-166).
    Hook,
    /// The start of a compaction.
    Boundary,
    /// A note of the program about a turn, in the chain (SE-128).
    Note,
    /// Another attachment or system record, in the chain but not sent.
    Aside,
    /// A record of a known or newer kind that is not sent; the chain does not continue after it.
    #[default]
    Other,
    /// A record without a kind, or one of an unknown kind that contains a message.
    Unknown,
}

/// A value of a record: offset and length in its line.
#[derive(Debug, Clone, Copy)]
struct Slice {
    offset: u32,
    len: u32,
}

impl Node {
    /// Extracts what the tree needs from a record that begins at `start`.
    pub(super) fn of(start: usize, record: Option<&Object<'_>>) -> Self {
        let Some(record) = record else { return Self::default() };
        let slice = |name: &str| Slice::of(start, record.get(name)?);
        let string = |name: &str| {
            Slice::of(start, record.get(name).filter(|it| it.source.starts_with('"'))?)
        };
        let kind = kind(record);
        let said = match kind {
            Kind::Words => words(record),
            Kind::Hook => record.get("attachment"),
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

    /// Whether it is not a message and sent with one.
    pub(super) fn is_beside(&self) -> bool {
        matches!(self.kind, Kind::Words | Kind::Hook)
    }

    /// Whether a resume may continue after it (SE-163).
    pub(super) fn may_be_last(&self) -> bool {
        !matches!(self.kind, Kind::Other | Kind::Unknown)
    }
}

fn kind(record: &Object<'_>) -> Kind {
    match record.text("type").as_deref() {
        Some("user" | "assistant") if !record.has("message") => Kind::Unknown,
        Some("user") => Kind::User,
        Some("assistant") => Kind::Assistant,
        Some("attachment" | "system") if words(record).is_some() => Kind::Words,
        Some("attachment") if is_hook(record) => Kind::Hook,
        Some("system") => match record.text("subtype").as_deref() {
            Some("compact_boundary") => Kind::Boundary,
            Some("stop_hook_summary" | "api_error" | "turn_duration") => Kind::Note,
            _ => Kind::Aside,
        },
        Some("attachment") => Kind::Aside,
        Some(_) if holds_message(record) => Kind::Unknown,
        Some(_) => Kind::Other,
        None => Kind::Unknown,
    }
}

/// The user's words in a record that is not a message.
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

/// The events whose hooks tell the model what they print.
const TOLD: [&str; 3] = ["SessionStart", "UserPromptExpansion", "UserPromptSubmit"];

/// Whether an attachment is what a hook says to the model.
fn is_hook(record: &Object<'_>) -> bool {
    let says = |attachment: Object<'_>| {
        let has_text = |name: &str| attachment.text(name).is_some_and(|it| !it.is_empty());
        let says = match &*attachment.text("type")? {
            "hook_additional_context" => !attachment.list("content").is_empty(),
            "hook_success" => {
                let event = attachment.text("hookEvent")?;
                TOLD.contains(&&*event) && has_text("content")
            }
            "hook_blocking_error" => attachment.has("blockingError"),
            "hook_stopped_continuation" => has_text("message"),
            _ => false,
        };
        Some(says && attachment.text("hookName").is_some_and(|it| !it.trim().is_empty()))
    };
    record.inner("attachment").and_then(says).unwrap_or_default()
}

/// The text that the program sends for the output of a hook.
fn told_by_hook(attachment: &Object<'_>) -> String {
    let text = |name: &str| parts::text(attachment, name);
    let said = match &*text("type") {
        "hook_additional_context" => {
            let lines = attachment.list("content").into_iter().filter_map(|it| it.text());
            format!("additional context: {}", lines.collect::<Vec<_>>().join("\n"))
        }
        "hook_success" => format!("success: {}", text("content")),
        "hook_stopped_continuation" => format!("stopped continuation: {}", text("message")),
        _ => {
            let error = attachment.inner("blockingError");
            let of = |name| error.as_ref().map(|it| parts::text(it, name)).unwrap_or_default();
            let (command, error) = (of("command"), of("blockingError"));
            format!("blocking error from command: \"{command}\": {error}")
        }
    };
    format!("<system-reminder>\n{} hook {said}\n</system-reminder>", text("hookName"))
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

    /// Whether these records are the request to a subagent and its work.
    pub(super) fn is_sidechain(&self, path: &[usize]) -> bool {
        path.last().is_some_and(|it| self.list[*it].is_sidechain)
    }

    /// The id of a record as JSON, with quotes.
    pub(super) fn uuid(&self, node: usize) -> Option<&str> {
        self.value(node, self.list[node].uuid).map(|it| it.source)
    }

    /// The id of its parent as JSON; `None` if it is `null` or missing.
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

    /// The content of a message, or the user's words in another record.
    pub(super) fn content(&self, node: usize) -> Option<Value<'_>> {
        let said = self.value(node, self.list[node].said)?;
        match self.list[node].kind {
            Kind::Words => Some(said),
            // It is not blank; what is made of it is only for the view.
            Kind::Hook => said.get("hookName"),
            _ => said.get("content"),
        }
    }

    /// What is sent of it. A bare value instead of a message cannot be repaired.
    pub(super) fn sent(&self, node: usize) -> Content<'_> {
        let whole = self.value(node, self.list[node].said);
        let is_message = !self.list[node].is_beside();
        match whole.filter(|it| is_message && it.object().is_none() && !it.is_null()) {
            Some(value) => Content::Other(value, Odd::Unknown),
            None => parts::anthropic_content(self.content(node)),
        }
    }

    /// The text that the program sends for the output of a hook; `None` for another record.
    pub(super) fn told_by_hook(&self, node: usize) -> Option<String> {
        // Reading a record for each of its parts would be quadratic; that of a hook has one.
        if self.list[node].kind != Kind::Hook {
            return None;
        }
        self.message(node).map(|it| told_by_hook(&it))
    }

    /// The record of the path before this one.
    pub(super) fn parent_before(&self, path: &Path<'_>, record: usize) -> Option<usize> {
        let at = path.records.iter().position(|it| *it == record)?;
        path.records.get(at.checked_sub(1)?).copied()
    }

    /// The time of a record.
    pub(super) fn time(&self, node: usize) -> Option<Value<'_>> {
        self.value(node, self.list[node].time)
    }

    /// Whether a record has the member that names its parent, even if the value is `null`.
    pub(super) fn has_parent_member(&self, node: usize) -> bool {
        self.list[node].parent.is_some()
    }

    /// The source of what is sent, where invalid text matters.
    pub(super) fn said(&self, node: usize) -> Option<Value<'_>> {
        self.value(node, self.list[node].said)
    }
}

// The messages that a compaction keeps (SE-125): its boundary names them, and they are sent beside the summary.
//
// ```text
// "compactMetadata":{"preservedMessages":{"anchorUuid":"u9","uuids":["u6","u7"],"allUuids":["u6","u7"]}}
// "compactMetadata":{"preservedSegment":{"headUuid":"u6","tailUuid":"u7","anchorUuid":"u9"}}
// ```

/// The lists of kept messages in a boundary.
const LISTS: [&str; 2] = ["uuids", "allUuids"];

/// The records of a path and those that its last compaction keeps, in the order in which they are sent.
pub(super) fn with_kept(nodes: &Nodes<'_>, tree: &Tree<'_>, path: &[usize]) -> Vec<usize> {
    let mut res = path.to_vec();
    let Some(boundary) = last_boundary(nodes, path) else { return res };
    let Some((anchor, mut kept)) = kept(nodes, tree, boundary) else { return res };
    let mut is_sent = vec![false; nodes.list.len()];
    path.iter().for_each(|it| is_sent[*it] = true);
    kept.retain(|it| !std::mem::replace(&mut is_sent[*it], true));
    let after = path.iter().position(|it| Some(*it) == anchor);
    let after = after.or_else(|| path.iter().position(|it| *it == boundary));
    let at = after.map_or(res.len(), |it| it + 1);
    res.splice(at..at, kept);
    res
}

/// The last compaction of a path.
pub(super) fn last_boundary(nodes: &Nodes<'_>, path: &[usize]) -> Option<usize> {
    path.iter().rev().copied().find(|it| nodes.list[*it].kind == Kind::Boundary)
}

/// The record that the kept messages follow, and the kept messages. `None` if one of them is lost: Claude Code then
/// sends none of them.
fn kept(
    nodes: &Nodes<'_>,
    tree: &Tree<'_>,
    boundary: usize,
) -> Option<(Option<usize>, Vec<usize>)> {
    let metadata = nodes.lines.object(boundary)?.inner("compactMetadata")?;
    let record = |id: Value<'_>| tree.ids.get(id.source).map(|it| *it as usize);
    if let Some(messages) = metadata.inner("preservedMessages") {
        let kept = messages.list("uuids").into_iter().map(record).collect::<Option<Vec<_>>>()?;
        return Some((messages.get("anchorUuid").and_then(record), kept));
    }
    let (kept, _) = kept_chain(nodes, tree, boundary)?;
    let segment = metadata.inner("preservedSegment")?;
    Some((segment.get("anchorUuid").and_then(record), kept))
}

/// The records that a boundary keeps by naming the first and the last one, and the value that names the last one.
pub(super) fn kept_chain<'a>(
    nodes: &'a Nodes<'_>,
    tree: &Tree<'_>,
    boundary: usize,
) -> Option<(Vec<usize>, Value<'a>)> {
    let metadata = nodes.lines.object(boundary)?.inner("compactMetadata")?;
    let segment = metadata.inner("preservedSegment")?;
    let segment = segment.get("headUuid").zip(segment.get("tailUuid"));
    let (head, tail) = segment.filter(|_| !metadata.has("preservedMessages"))?;
    let record = |id: Value<'_>| tree.ids.get(id.source).map(|it| *it as usize);
    let up = |it: &usize| tree.parents[*it].map(|it| it as usize);
    let mut kept: Vec<usize> = std::iter::successors(Some(record(tail)?), up).collect();
    let head = record(head)?;
    kept.truncate(kept.iter().position(|it| *it == head)? + 1);
    kept.reverse();
    Some((kept, tail))
}

/// The finding about lost kept messages of a path.
pub(super) fn check(nodes: &Nodes<'_>, tree: &Tree<'_>, path: &[usize]) -> Option<Finding> {
    let boundary = last_boundary(nodes, path)?;
    let object = nodes.lines.object(boundary)?;
    let lost = lists(&object).into_iter().next()?;
    let is_lost = |it: &&Value<'_>| !tree.ids.contains_key(it.source);
    let count = lost.iter().filter(is_lost).count() as u64;
    let message = "a message that this compaction keeps is missing; Claude Code sends none of the kept messages";
    let finding = Finding::error("session::lost-preserved", nodes.lines.place(boundary), message);
    (count > 0).then(|| {
        Finding { count: (count > 1).then_some(count), ..finding }
            .mended("remove missing messages from the list of kept ones", false)
    })
}

/// The lists of kept messages in a boundary; the list that is sent comes first.
fn lists<'a>(boundary: &Object<'a>) -> Vec<Vec<Value<'a>>> {
    let metadata = boundary.inner("compactMetadata");
    let messages = metadata.and_then(|it| it.inner("preservedMessages"));
    let list = |it: &Object<'a>| LISTS.map(|name| it.list(name)).to_vec();
    messages.as_ref().map(list).unwrap_or_default()
}

/// Edits that remove ids from the lists of all boundaries: ids of records that the repair removes, and in the boundary
/// of the path also lost ids. Records gathered beside the path are kept with the records that they follow.
pub(super) fn mend(
    nodes: &Nodes<'_>,
    tree: &Tree<'_>,
    path: &[usize],
    mend: &Mend<'_, '_>,
) -> Vec<Edit> {
    let active = last_boundary(nodes, path);
    let (came, mut res) = (mend.came(), Vec::new());
    if let Some((tail, new)) = mend.new_tail() {
        res.push(Edit::replace(tail.span(), new));
    }
    for at in (0..nodes.list.len()).filter(|it| nodes.list[*it].kind == Kind::Boundary) {
        let Some(object) = nodes.lines.object(at) else { continue };
        for list in lists(&object) {
            let record = |it: &Value<'_>| tree.ids.get(it.source).map(|it| *it as usize);
            let goes = |it: usize| match record(&list[it]) {
                Some(record) => mend.removes(record),
                None => Some(at) == active,
            };
            for it in list.iter().filter(|_| Some(at) == active) {
                let new = record(it).and_then(|it| came.get(&it));
                res.extend(new.map(|new| Edit::insert(it.end(), format!(",{}", new.join(",")))));
            }
            match (list.first(), list.last()) {
                (Some(first), Some(last)) if (0..list.len()).all(goes) => {
                    res.push(Edit::remove(first.at..last.end()));
                }
                _ => res.extend(drop_elements(&list, goes)),
            }
        }
    }
    res
}
