//! What of a Claude Code session is sent: the active path, and the parallel results that hang beside it
//! (SE-41, SE-42).
//!
//! ```text
//! u8  assistant call 2
//! u9  assistant call 3          children of u8
//! u11 user result of 2          child of u8: beside the path, gathered behind u9
//! u12 user result of 3          child of u9
//! ```

use std::collections::{HashMap, HashSet};

use super::node::{Kind, Nodes};
use super::tree::Tree;
use crate::link::{Content, Sender, Sent};
use crate::parts::anthropic;

/// The records that a resume sends.
pub(super) struct Path<'a> {
    /// The records of the path itself, of any kind.
    pub(super) records: Vec<usize>,
    /// What is sent, in order, the gathered records among them.
    pub(super) sent: Vec<Sent<'a>>,
    /// The gathered records, each with the record of the path that it stands behind.
    pub(super) gathered: Vec<(usize, usize)>,
}

pub(super) fn read<'a>(nodes: &'a Nodes<'_>, tree: &Tree, leaf: Option<usize>) -> Path<'a> {
    let records = tree.path(leaf);
    let sent: Vec<_> = records.iter().filter_map(|it| message(nodes, *it)).collect();
    let gathered = gather(nodes, tree, &records, &sent);
    if gathered.is_empty() {
        return Path { records, sent, gathered: Vec::new() };
    }
    let mut res = Path { records, sent: Vec::new(), gathered: Vec::new() };
    let mut behind: HashMap<usize, Vec<Sent<'a>>> = HashMap::new();
    for (record, it) in gathered {
        res.gathered.push((it.record, record));
        behind.entry(record).or_default().push(it);
    }
    for it in sent {
        let joining = behind.remove(&it.record);
        res.sent.push(it);
        res.sent.extend(joining.into_iter().flatten());
    }
    res
}

/// A record as what is sent of it; none of one that is not.
fn message<'a>(nodes: &'a Nodes<'_>, at: usize) -> Option<Sent<'a>> {
    let node = &nodes.list[at];
    let sender = match node.kind {
        Kind::User => Sender::User,
        Kind::Assistant if !node.is_api_error => Sender::Assistant,
        _ => return None,
    };
    let message = nodes.message(at)?;
    Some(Sent {
        record: at,
        place: nodes.lines.place(at),
        sender,
        answer: message.text("id"),
        content: anthropic::content(message.get("content")),
    })
}

/// The records beside the path whose results all answer calls of the path that have none there; each
/// with the record that it joins: the last one of the message of its call.
fn gather<'a>(
    nodes: &'a Nodes<'_>,
    tree: &Tree,
    records: &[usize],
    sent: &[Sent<'a>],
) -> Vec<(usize, Sent<'a>)> {
    let mut open = open_calls(sent);
    let Some(first) = open.values().map(|it| it.record).min() else { return Vec::new() };
    let on_path: HashSet<usize> = records.iter().copied().collect();
    let mut res = Vec::new();
    for at in first + 1..nodes.list.len() {
        let node = &nodes.list[at];
        let is_candidate = node.kind == Kind::User
            && !node.is_sidechain
            && !tree.is_repeated[at]
            && nodes.uuid(at).is_some()
            && !on_path.contains(&at);
        let Some(it) = is_candidate.then(|| message(nodes, at)).flatten() else { continue };
        if let Some(joins) = answered(&open, &it) {
            for (_, id) in it.blocks().iter().filter_map(|it| it.result_id()) {
                open.remove(&*id);
            }
            res.push((joins, it));
        }
    }
    res
}

/// A call without a result on the path.
struct OpenCall {
    record: usize,
    /// The last record of its message.
    last: usize,
}

fn open_calls(sent: &[Sent<'_>]) -> HashMap<String, OpenCall> {
    let mut res = HashMap::new();
    for message in crate::link::messages(sent, true) {
        let last = sent[message.end - 1].record;
        for it in &sent[message] {
            for block in it.blocks() {
                if let (Sender::Assistant, Some((_, id))) = (it.sender, block.call_id()) {
                    res.insert(id.into_owned(), OpenCall { record: it.record, last });
                }
            }
        }
    }
    for (_, id) in sent.iter().flat_map(|it| it.blocks()).filter_map(|it| it.result_id()) {
        res.remove(&*id);
    }
    res
}

/// The record that this one joins, if all of its results answer open calls that stand before it.
fn answered(open: &HashMap<String, OpenCall>, it: &Sent<'_>) -> Option<usize> {
    if !matches!(it.content, Content::Blocks(..)) {
        return None;
    }
    let mut res = None;
    for block in it.blocks().iter().filter(|it| it.is_result()) {
        let (_, id) = block.result_id()?;
        let call = open.get(&*id).filter(|call| call.record < it.record)?;
        res = res.or(Some(call.last));
    }
    res
}
