//! The messages that a compaction keeps (SE-125): named in its boundary, sent beside the summary.
//!
//! ```text
//! "compactMetadata":{"preservedMessages":{"anchorUuid":"u9","uuids":["u6","u7"],"allUuids":["u6","u7"]}}
//! "compactMetadata":{"preservedSegment":{"headUuid":"u6","tailUuid":"u7","anchorUuid":"u9"}}
//! ```

use super::node::{Kind, Nodes};
use super::tree::Tree;
use crate::edit::{Edit, drop_elements};
use crate::finding::Finding;
use crate::json::{Object, Value};

/// The lists of kept messages that a boundary has.
const LISTS: [&str; 2] = ["uuids", "allUuids"];

/// The records of a path with those that its last compaction keeps, in the order in which they are sent.
pub(super) fn with_kept(nodes: &Nodes<'_>, tree: &Tree<'_>, path: &[usize]) -> Vec<usize> {
    let mut res = path.to_vec();
    let Some(boundary) = last_boundary(nodes, path) else { return res };
    let Some((anchor, mut kept)) = kept(nodes, tree, boundary) else { return res };
    let mut is_sent = vec![false; nodes.list.len()];
    path.iter().for_each(|it| is_sent[*it] = true);
    kept.retain(|it| !std::mem::replace(&mut is_sent[*it], true));
    let behind = path.iter().position(|it| Some(*it) == anchor);
    let behind = behind.or_else(|| path.iter().position(|it| *it == boundary));
    let at = behind.map_or(res.len(), |it| it + 1);
    res.splice(at..at, kept);
    res
}

/// The last compaction of a path.
pub(super) fn last_boundary(nodes: &Nodes<'_>, path: &[usize]) -> Option<usize> {
    path.iter().rev().copied().find(|it| nodes.list[*it].kind == Kind::Boundary)
}

/// The record behind which messages are kept, and these; none if one of them is lost, since then Claude Code sends
/// none of them.
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
    let segment = metadata.inner("preservedSegment")?;
    let (head, tail) = (record(segment.get("headUuid")?)?, record(segment.get("tailUuid")?)?);
    let up = std::iter::successors(Some(tail), |it| tree.parents[*it].map(|it| it as usize));
    let mut kept = Vec::new();
    for it in up {
        kept.push(it);
        if it == head {
            kept.reverse();
            return Some((segment.get("anchorUuid").and_then(record), kept));
        }
    }
    None
}

/// The finding about kept messages of a path that are lost.
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

/// The lists of kept messages of a boundary, the one that is sent first.
fn lists<'a>(boundary: &Object<'a>) -> Vec<Vec<Value<'a>>> {
    let metadata = boundary.inner("compactMetadata");
    let messages = metadata.and_then(|it| it.inner("preservedMessages"));
    let list = |it: &Object<'a>| LISTS.map(|name| it.list(name)).to_vec();
    messages.as_ref().map(list).unwrap_or_default()
}

/// The edits that take ids out of the lists of all boundaries: those of records that a mend removes, and in that of
/// the path those that are lost.
pub(super) fn mend(
    nodes: &Nodes<'_>,
    tree: &Tree<'_>,
    path: &[usize],
    is_removed: impl Fn(usize) -> bool,
) -> Vec<Edit> {
    let active = last_boundary(nodes, path);
    let mut res = Vec::new();
    for at in (0..nodes.list.len()).filter(|it| nodes.list[*it].kind == Kind::Boundary) {
        let Some(object) = nodes.lines.object(at) else { continue };
        for list in lists(&object) {
            let goes = |it: usize| match tree.ids.get(list[it].source) {
                Some(record) => is_removed(*record as usize),
                None => Some(at) == active,
            };
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
