//! The branches of a tree (SE-3): leaves beside the active path, each with the records that only it has.

use super::node::{Node, Nodes};
use super::tree::Tree;
use crate::branches::{Branch, BranchKind};
use crate::json::Value;

/// The branches, in the order of their leaves. Linear: a record is counted for one branch only.
pub(super) fn of(nodes: &Nodes<'_>, tree: &Tree<'_>, path: &[usize]) -> Vec<Branch> {
    let count = nodes.list.len();
    let (mut has_child, mut is_seen) = (vec![false; count], vec![false; count]);
    tree.parents.iter().flatten().for_each(|it| has_child[*it as usize] = true);
    path.iter().for_each(|it| is_seen[*it] = true);
    let first = path.first().copied();
    let mut res = Vec::new();
    for at in (0..count).rev() {
        let node = &nodes.list[at];
        let is_leaf = !has_child[at] && !is_seen[at] && !tree.is_repeated[at];
        let (true, Some(leaf)) = (is_leaf, id(nodes, at)) else { continue };
        let mut own = Vec::new();
        let mut next = Some(at);
        while let Some(it) = next.filter(|it| !is_seen[*it]) {
            is_seen[it] = true;
            own.push(it);
            next = tree.parents[it].map(|it| it as usize);
        }
        if !own.iter().any(|it| nodes.list[*it].is_message()) {
            continue;
        }
        let record = u32::try_from(at).unwrap_or(u32::MAX);
        let kind = kind(node, next.is_some(), first.is_some_and(|it| at < it));
        res.push(Branch { leaf, record, kind, records: own.len() });
    }
    res.reverse();
    res
}

fn kind(leaf: &Node, joins: bool, is_before: bool) -> BranchKind {
    match (leaf.is_sidechain, joins, is_before) {
        (true, ..) => BranchKind::Sidechain,
        (false, false, true) => BranchKind::Compacted,
        _ => BranchKind::Abandoned,
    }
}

fn id(nodes: &Nodes<'_>, at: usize) -> Option<String> {
    let source = nodes.uuid(at)?;
    Value { source, at: 0 }.text().map(Into::into)
}
