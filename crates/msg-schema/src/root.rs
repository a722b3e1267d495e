//! The root of a schema: an object without a union (RQ-6).

use crate::dialect::{Dialect, Root};
use crate::mend::describe;
use crate::merge::{any_of_both, merged_all};
use crate::node::Node;
use crate::refs::resolve;

/// How many references at the root lead to each other.
const MAX_REFERENCES: usize = 16;

/// The schema with a root that the dialect accepts; none if its instances are not objects.
pub(crate) fn settle_root(node: Node, dialect: Dialect) -> Option<Node> {
    let mut root = follow(node)?;
    let refused: &[&str] = match dialect.root {
        Root::Without(keywords) => keywords,
        Root::Object => &[],
    };
    if root.has("allOf") && (refused.contains(&"allOf") || !root.has("type")) {
        root = merged_all(root.clone(), &root)?;
    }
    settle_type(&mut root)?;
    for keyword in ["anyOf", "oneOf"] {
        let is_refused =
            refused.contains(&keyword) || keyword == "anyOf" && !dialect.type_beside_union;
        let is_refused = is_refused || dialect.closed || dialect.refused.contains(&keyword);
        if is_refused && root.has(keyword) {
            merge_union(&mut root, keyword)?;
        }
    }
    for keyword in ["enum", "not"] {
        if refused.contains(&keyword)
            && let Some(value) = root.remove(keyword)
        {
            describe(&mut root, vec![(keyword.to_owned(), value)]);
        }
    }
    Some(root)
}

/// Puts the target of a reference in its place, as often as needed.
fn follow(mut root: Node) -> Option<Node> {
    for _ in 0..MAX_REFERENCES {
        if root.has("type") || !root.has("$ref") {
            return Some(root);
        }
        let reference = root.remove("$ref")?;
        let target = resolve(&root, reference.as_text()?).filter(|it| **it != root)?;
        let mut res = target.clone();
        for (name, value) in root.members() {
            let is_same = res.get(name).is_none_or(|it| it == value);
            let is_note = matches!(name.as_str(), "title" | "description" | "default" | "examples");
            if !is_same && !is_note {
                return None;
            }
            res.set(name, value.clone());
        }
        root = res;
    }
    None
}

/// Gives the root the type of an object; none if it has another, which `OBJECT` in capitals is too.
fn settle_type(root: &mut Node) -> Option<()> {
    match root.has("type") {
        true => {
            let types = root.types();
            let is_object = types.contains(&"object")
                && types.iter().all(|it| matches!(*it, "object" | "null"));
            is_object.then_some(())?;
            root.set("type", Node::text("object"));
        }
        false => {
            let branches = ["anyOf", "oneOf"].iter().filter_map(|it| root.get(it)?.as_list());
            let mut branches = branches.flatten();
            let is_value = root.has("const") || root.has("enum") || root.has("items");
            if is_value || !branches.all(|it| accepts_objects(root, it)) {
                return None;
            }
            root.set_first("type", Node::text("object"));
        }
    }
    Some(())
}

/// Whether a branch is about objects, or about null, which no call has as its arguments.
fn accepts_objects(root: &Node, branch: &Node) -> bool {
    let target = branch.get("$ref").and_then(Node::as_text).and_then(|it| resolve(root, it));
    let it = target.unwrap_or(branch);
    let types = it.types();
    it.is_object()
        && !it.has("const")
        && !it.has("enum")
        && types.iter().all(|it| matches!(*it, "object" | "null"))
}

/// Makes one object of a union of them: all properties, what all require, and the alternatives described.
fn merge_union(root: &mut Node, keyword: &str) -> Option<()> {
    let union = root.remove(keyword)?;
    let mut branches: Vec<Node> = Vec::new();
    for branch in union.as_list()? {
        if !accepts_objects(root, branch) {
            return None;
        }
        let target = branch.get("$ref").and_then(Node::as_text).and_then(|it| resolve(root, it));
        let branch = target.unwrap_or(branch).clone();
        // A map says something of all the properties that it does not declare.
        if branch.get("additionalProperties").is_some_and(|it| it.as_bool() != Some(false)) {
            return None;
        }
        if branch.types() != ["null"] {
            branches.push(branch);
        }
    }
    let mut properties = root.get("properties").map(Node::members).unwrap_or_default().to_vec();
    let n_own = properties.len();
    for (name, value) in
        branches.iter().flat_map(|it| it.get("properties").map(Node::members).unwrap_or_default())
    {
        match properties.iter().position(|it| it.0 == *name) {
            None => properties.push((name.clone(), value.clone())),
            // What the root itself says holds for all branches.
            Some(at) if at < n_own => {}
            Some(at) => {
                let old = std::mem::replace(&mut properties[at].1, Node::null());
                properties[at].1 = any_of_both(old, value.clone());
            }
        }
    }
    let mut required: Vec<Node> =
        root.get("required").and_then(Node::as_list).unwrap_or_default().to_vec();
    if let Some((first, others)) = branches.split_first() {
        for name in first.required() {
            let name_node = Node::text(name);
            if others.iter().all(|it| it.required().contains(&name))
                && !required.contains(&name_node)
            {
                required.push(name_node);
            }
        }
    }
    let is_closed =
        |it: &Node| it.get("additionalProperties").and_then(Node::as_bool) == Some(false);
    if !branches.is_empty() && branches.iter().all(is_closed) && !root.has("additionalProperties") {
        root.set("additionalProperties", Node::bool(false));
    }
    if !properties.is_empty() {
        root.set("properties", Node::Object(properties));
    }
    if !required.is_empty() {
        root.set("required", Node::Array(required));
    }
    let alternatives = branches.iter().map(alternative).collect();
    describe(root, vec![(keyword.to_owned(), Node::Array(alternatives))]);
    Some(())
}

/// What a branch is described by: the names that it requires, or all of it where it says more.
fn alternative(branch: &Node) -> Node {
    const SIMPLE: [&str; 6] =
        ["type", "properties", "required", "additionalProperties", "title", "description"];
    match branch.members().iter().all(|it| SIMPLE.contains(&it.0.as_str())) {
        true => Node::Array(branch.required().into_iter().map(Node::text).collect()),
        false => branch.clone(),
    }
}
