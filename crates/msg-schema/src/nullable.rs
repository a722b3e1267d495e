//! A schema that also takes null, which is what a strict dialect has for an absent property (RQ-6).

use crate::node::Node;

/// Keywords that say nothing about a value.
const NOTES: [&str; 8] = [
    "description",
    "title",
    "default",
    "examples",
    "$comment",
    "deprecated",
    "readOnly",
    "writeOnly",
];
/// Keywords that can refuse null.
const REFUSING: [&str; 8] = ["type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "not"];

/// The schema that takes what this one takes, and null.
pub(crate) fn nullable(mut node: Node) -> Node {
    if node.as_bool() == Some(false) {
        return of_null();
    }
    if !REFUSING.iter().any(|it| node.has(it)) {
        return node;
    }
    if ["const", "$ref", "oneOf", "allOf", "not"].iter().any(|it| node.has(it)) {
        return with_branch(node);
    }
    match node.get_mut("type") {
        Some(Node::Array(types)) if types.iter().any(|it| it.as_text() == Some("null")) => {}
        Some(Node::Array(types)) => types.push(Node::text("null")),
        Some(it) if it.as_text() != Some("null") => {
            *it = Node::Array(vec![std::mem::replace(it, Node::null()), Node::text("null")]);
        }
        _ => {}
    }
    if let Some(Node::Array(values)) = node.get_mut("enum")
        && !values.iter().any(Node::is_null)
    {
        values.push(Node::null());
    }
    if let Some(Node::Array(branches)) = node.get_mut("anyOf")
        && !branches.iter().any(takes_null)
    {
        branches.push(of_null());
    }
    node
}

fn of_null() -> Node {
    Node::member("type", Node::text("null"))
}

fn takes_null(branch: &Node) -> bool {
    branch.types().contains(&"null") && !branch.has("enum") && !branch.has("const")
}

/// The schema as one branch, null as the other; what is said for people stays outside.
fn with_branch(node: Node) -> Node {
    let Node::Object(members) = node else { return node };
    let (mut res, inner): (Vec<_>, Vec<_>) =
        members.into_iter().partition(|it| NOTES.contains(&it.0.as_str()));
    res.push(("anyOf".to_owned(), Node::Array(vec![Node::Object(inner), of_null()])));
    Node::Object(res)
}
