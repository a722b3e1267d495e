//! Where schemas are in a schema, and what references point to.

use std::collections::HashMap;

use crate::node::Node;

const MAPS: [&str; 5] =
    ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"];
const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
const SINGLE: [&str; 11] = [
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
    "additionalItems",
];

/// How a schema is in another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Step<'a> {
    Named(&'a str, &'a str),
    Listed(&'a str, usize),
    Single(&'a str),
}

impl Step<'_> {
    /// Appends it to a JSON pointer.
    pub(crate) fn push_to(self, pointer: &mut String) {
        match self {
            Step::Named(keyword, name) => {
                push_name(pointer, keyword);
                push_name(pointer, name);
            }
            Step::Listed(keyword, at) => {
                push_name(pointer, keyword);
                push_name(pointer, &at.to_string());
            }
            Step::Single(keyword) => push_name(pointer, keyword),
        }
    }

    /// The keyword.
    pub(crate) fn keyword(&self) -> &str {
        match self {
            Step::Named(it, _) | Step::Listed(it, _) | Step::Single(it) => it,
        }
    }
}

/// Appends a name to a JSON pointer, escaped.
pub(crate) fn push_name(pointer: &mut String, name: &str) {
    pointer.push('/');
    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
}

/// The schemas that are directly in a schema, in the order of the text.
pub(crate) fn children(node: &Node) -> Vec<(Step<'_>, &Node)> {
    let mut res = Vec::new();
    for (keyword, value) in node.members() {
        match value {
            Node::Object(named) if MAPS.contains(&keyword.as_str()) => {
                res.extend(named.iter().map(|it| (Step::Named(keyword, &it.0), &it.1)));
            }
            Node::Array(list) if LISTS.contains(&keyword.as_str()) || keyword == "items" => {
                let listed = list.iter().enumerate();
                res.extend(listed.map(|(at, it)| (Step::Listed(keyword, at), it)));
            }
            Node::Object(_) if SINGLE.contains(&keyword.as_str()) => {
                res.push((Step::Single(keyword), value));
            }
            _ => {}
        }
    }
    res
}

/// Changes each schema that is directly in a schema. Nothing if one cannot be changed.
pub(crate) fn each_child(
    node: &mut Node,
    mut change: impl FnMut(&str, Node) -> Option<Node>,
) -> Option<()> {
    let Node::Object(members) = node else { return Some(()) };
    for (keyword, value) in members {
        let keyword = keyword.as_str();
        match value {
            Node::Object(named) if MAPS.contains(&keyword) => {
                for (_, it) in named {
                    *it = change(keyword, std::mem::replace(it, Node::null()))?;
                }
            }
            Node::Array(list) if LISTS.contains(&keyword) || keyword == "items" => {
                for it in list {
                    *it = change(keyword, std::mem::replace(it, Node::null()))?;
                }
            }
            Node::Object(_) if SINGLE.contains(&keyword) => {
                *value = change(keyword, std::mem::replace(value, Node::null()))?;
            }
            _ => {}
        }
    }
    Some(())
}

/// What a reference points to in this document.
pub(crate) fn resolve<'a>(root: &'a Node, reference: &str) -> Option<&'a Node> {
    if reference == "#" {
        return Some(root);
    }
    let mut res = root;
    for name in reference.strip_prefix("#/")?.split('/') {
        let name = name.replace("~1", "/").replace("~0", "~");
        res = match res {
            Node::Object(_) => res.get(&name)?,
            Node::Array(list) => list.get(name.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(res)
}

/// Which references a walk follows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Through {
    /// All.
    All,
    /// Only those that an instance cannot leave out: properties that are not required are not entered.
    Required,
}

/// The references whose targets lead to themselves again, in the order of the text. Linear.
pub(crate) fn cyclic(root: &Node, through: Through) -> Vec<&str> {
    let mut all = Found::default();
    gather(root, None, &mut all);
    // What each reference leads to directly, and back.
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); all.list.len()];
    let mut previous = next.clone();
    for (from, reference) in all.list.iter().enumerate() {
        let mut found = Found::default();
        if let Some(target) = resolve(root, reference) {
            gather(target, Some(through), &mut found);
        }
        for to in found.list.iter().filter_map(|it| all.places.get(it)) {
            next[from].push(*to);
            previous[*to].push(from);
        }
    }
    let groups = groups(&next, &previous);
    let mut sizes = vec![0_usize; all.list.len()];
    groups.iter().for_each(|it| sizes[*it] += 1);
    let returns = |it: &usize| sizes[groups[*it]] > 1 || next[*it].contains(it);
    (0..all.list.len()).filter(returns).map(|it| all.list[it]).collect()
}

/// Which group each node is in: nodes of a group lead to each other. Goes forward once and back once.
fn groups(next: &[Vec<usize>], previous: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(next.len());
    let mut seen = vec![false; next.len()];
    for start in 0..next.len() {
        let mut open = vec![(start, 0)];
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        while let Some((at, done)) = open.pop() {
            match next[at].get(done) {
                None => order.push(at),
                Some(to) => {
                    open.push((at, done + 1));
                    if !std::mem::replace(&mut seen[*to], true) {
                        open.push((*to, 0));
                    }
                }
            }
        }
    }
    let mut res = vec![usize::MAX; next.len()];
    for start in order.into_iter().rev() {
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            if res[at] == usize::MAX {
                res[at] = start;
                open.extend(previous[at].iter().filter(|it| res[**it] == usize::MAX));
            }
        }
    }
    res
}

/// References, each once, in the order in which they were found.
#[derive(Default)]
struct Found<'a> {
    list: Vec<&'a str>,
    places: HashMap<&'a str, usize>,
}

/// The references in a schema, each once. With `through`, what can be reached from its instances: definitions are
/// not entered.
fn gather<'a>(node: &'a Node, through: Option<Through>, found: &mut Found<'a>) {
    if let Some(reference) = node.get("$ref").and_then(Node::as_text)
        && !found.places.contains_key(reference)
    {
        found.places.insert(reference, found.list.len());
        found.list.push(reference);
    }
    for (step, child) in children(node) {
        let is_entered = match (through, step) {
            (None, _) => true,
            (Some(_), Step::Named("$defs" | "definitions", _)) => false,
            (Some(Through::Required), Step::Named("properties", name)) => {
                node.required().contains(&name)
            }
            _ => true,
        };
        if is_entered {
            gather(child, through, found);
        }
    }
}
