//! Two schemas as one: what fits both (`allOf`), and what fits either.

use crate::node::Node;
use crate::refs::resolve;

/// How deep `allOf` may be in `allOf`.
const MAX_DEPTH: usize = 16;

/// The schema with its `allOf` merged into it; none if two of them clash.
pub(crate) fn merged_all(node: Node, root: &Node) -> Option<Node> {
    flat(node, root, MAX_DEPTH)
}

fn flat(mut node: Node, root: &Node, depth: usize) -> Option<Node> {
    let depth = depth.checked_sub(1)?;
    let Some(branches) = node.remove("allOf") else { return Some(node) };
    for branch in branches.as_list()? {
        let branch = match branch.get("$ref").and_then(Node::as_text) {
            Some(reference) if branch.members().len() == 1 => resolve(root, reference)?,
            Some(_) => return None,
            None => branch,
        };
        if branch.as_bool() == Some(true) {
            continue;
        }
        let branch = flat(branch.clone(), root, depth)?;
        branch.is_object().then_some(())?;
        node = both(node, &branch)?;
    }
    Some(node)
}

/// What fits both; none if they clash in a way that one schema cannot say.
fn both(mut one: Node, other: &Node) -> Option<Node> {
    for (name, value) in other.members() {
        let Some(old) = one.get(name) else {
            match (name.as_str(), &mut one) {
                // A type is what people look for first.
                ("type", it) => it.set_first(name, value.clone()),
                (_, it) => it.set(name, value.clone()),
            }
            continue;
        };
        if old == value {
            continue;
        }
        let new = match name.as_str() {
            "properties" | "$defs" | "definitions" => named_both(old, value)?,
            "required" => {
                let mut all = old.as_list()?.to_vec();
                all.extend(
                    value
                        .as_list()?
                        .iter()
                        .filter(|it| !old.as_list().unwrap_or_default().contains(it))
                        .cloned(),
                );
                Node::Array(all)
            }
            "type" => common_types(&one, other)?,
            "enum" => {
                let others = value.as_list()?;
                let common: Vec<_> =
                    old.as_list()?.iter().filter(|it| others.contains(it)).cloned().collect();
                (!common.is_empty()).then_some(Node::Array(common))?
            }
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
                let is_more = value.as_number()? > old.as_number()?;
                if is_more { value.clone() } else { old.clone() }
            }
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
                let is_less = value.as_number()? < old.as_number()?;
                if is_less { value.clone() } else { old.clone() }
            }
            "additionalProperties" if old.as_bool() == Some(true) => value.clone(),
            "additionalProperties" if value.as_bool() == Some(true) => old.clone(),
            "additionalProperties" if old.as_bool() == Some(false) => old.clone(),
            "additionalProperties" if value.as_bool() == Some(false) => value.clone(),
            "description" => Node::Text(format!("{}\n\n{}", old.as_text()?, value.as_text()?)),
            "title" | "default" | "examples" | "$comment" | "$schema" => old.clone(),
            _ => return None,
        };
        one.set(name, new);
    }
    Some(one)
}

fn named_both(one: &Node, other: &Node) -> Option<Node> {
    let mut res = one.clone();
    for (name, value) in other.members() {
        let new = match one.get(name) {
            Some(old) if old == value => continue,
            Some(old) if old.is_object() && value.is_object() => both(old.clone(), value)?,
            Some(_) => return None,
            None => value.clone(),
        };
        res.set(name, new);
    }
    Some(res)
}

fn common_types(one: &Node, other: &Node) -> Option<Node> {
    let (one, other) = (one.types(), other.types());
    let mut common: Vec<&str> = one.iter().copied().filter(|it| other.contains(it)).collect();
    for (wide, narrow) in [(&one, &other), (&other, &one)] {
        if wide.contains(&"number")
            && narrow.contains(&"integer")
            && !common.contains(&"integer")
            && !common.contains(&"number")
        {
            common.push("integer");
        }
    }
    match common.as_slice() {
        [] => None,
        [one] => Some(Node::text(one)),
        all => Some(Node::Array(all.iter().map(|it| Node::text(it)).collect())),
    }
}

/// What fits either of two: constants become one `enum`, others branches.
pub(crate) fn any_of_both(one: Node, other: Node) -> Node {
    if one == other {
        return one;
    }
    if let (Some(mut values), Some(more)) = (constants(&one), constants(&other)) {
        let new: Vec<Node> = more.into_iter().filter(|it| !values.contains(it)).collect();
        values.extend(new);
        return Node::member("enum", Node::Array(values));
    }
    let mut branches = alternatives(one);
    for it in alternatives(other) {
        if !branches.contains(&it) {
            branches.push(it);
        }
    }
    Node::member("anyOf", Node::Array(branches))
}

/// The values of a schema that is a list of them and nothing else.
fn constants(node: &Node) -> Option<Vec<Node>> {
    let is_plain =
        |it: &(String, Node)| matches!(it.0.as_str(), "const" | "enum" | "type" | "title");
    node.members().iter().all(is_plain).then_some(())?;
    match (node.get("const"), node.get("enum")) {
        (Some(it), None) => Some(vec![it.clone()]),
        (None, Some(it)) => Some(it.as_list()?.to_vec()),
        _ => None,
    }
}

fn alternatives(node: Node) -> Vec<Node> {
    match node.get("anyOf") {
        Some(Node::Array(all)) if node.members().len() == 1 => all.clone(),
        _ => vec![node],
    }
}
