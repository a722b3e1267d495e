//! Preset agents (MF-16): a mapping of names to attributes, or a list of names and mappings.

use std::collections::HashSet;

use super::Frontmatter;
use super::yaml::Node;
use crate::diag::Findings;
use crate::model::agents::{AgentConfig, Taken};

/// Takes the value of `agents`.
pub(super) fn agents(value: &Node, front: &mut Frontmatter, found: &mut Findings) {
    match value {
        Node::Map(items) => {
            let mut names = HashSet::new();
            for (key, attrs) in items {
                if let Node::Scalar { text, .. } = key {
                    if !names.insert(text) {
                        twice(text, found);
                    } else {
                        agent(text, attrs, None, front, found);
                    }
                }
            }
        }
        Node::Seq(items) => {
            let mut names = HashSet::new();
            items.iter().for_each(|item| listed_agent(item, &mut names, front, found));
        }
        Node::Scalar { .. } => {
            found.add(0, "msgfile::agents-bad-shape");
        }
    }
}

fn twice(name: &str, found: &mut Findings) {
    let what = format!("agent `{name}` is there twice; the first one counts");
    found.tell(0, "msgfile::yaml-duplicate-key", what);
}

fn listed_agent<'a>(
    item: &'a Node,
    names: &mut HashSet<&'a str>,
    front: &mut Frontmatter,
    found: &mut Findings,
) {
    let name = match item {
        Node::Scalar { text, .. } => Some(text),
        Node::Map(items) => items.iter().find_map(|(k, v)| match (k, v) {
            (Node::Scalar { text: key, .. }, Node::Scalar { text, .. }) if key == "name" => {
                Some(text)
            }
            _ => None,
        }),
        Node::Seq(_) => None,
    };
    match name.filter(|n| !n.is_empty() && !item.absent()) {
        Some(name) if !names.insert(name) => {
            twice(name, found);
        }
        Some(name) => {
            let empty = Node::Map(Vec::new());
            let attrs = if matches!(item, Node::Map(_)) { item } else { &empty };
            agent(name, attrs, Some("name"), front, found);
        }
        None => found.add(0, "msgfile::agents-bad-shape"),
    }
}

fn agent(
    name: &str,
    attrs: &Node,
    skip: Option<&str>,
    front: &mut Frontmatter,
    found: &mut Findings,
) {
    let mut config = AgentConfig::default();
    match attrs {
        Node::Map(items) => {
            let mut seen: Vec<&str> = Vec::new();
            for (key, value) in items {
                let Node::Scalar { text: key, .. } = key else { continue };
                if Some(key.as_str()) == skip {
                    continue;
                }
                if seen.contains(&key.as_str()) {
                    found.tell(
                        0,
                        "msgfile::yaml-duplicate-key",
                        format!("agent `{name}` has `{key}` twice; the first one counts"),
                    );
                    continue;
                }
                // Only keys that mean something are remembered, so that this stays linear.
                if config_key(key) {
                    seen.push(key);
                }
                attribute(name, key, value, &mut config, found);
            }
        }
        node if node.absent() => {}
        _ => found.tell(
            0,
            "msgfile::agents-bad-shape",
            format!("the attributes of agent `{name}` are no mapping"),
        ),
    }
    front.agents.push((name.to_owned(), config));
}

fn config_key(key: &str) -> bool {
    AgentConfig::default().take(key, "") != Taken::UnknownKey
}

fn attribute(name: &str, key: &str, value: &Node, config: &mut AgentConfig, found: &mut Findings) {
    if config_key(key) && value.absent() {
        return;
    }
    let taken = match value {
        Node::Scalar { text, .. } => config.take(key, text),
        Node::Seq(items) if key == "models" => {
            let names: Option<Vec<String>> = items
                .iter()
                .map(|n| match n {
                    Node::Scalar { text, .. } => Some(text.clone()),
                    _ => None,
                })
                .collect();
            config.models.clone_from(&names);
            if names.is_some() { Taken::Yes } else { Taken::BadValue }
        }
        _ if config_key(key) => Taken::BadValue,
        _ => Taken::UnknownKey,
    };
    match taken {
        Taken::Yes => {}
        Taken::BadValue => found.tell(
            0,
            "msgfile::agent-bad-value",
            format!("`{key}` of agent `{name}` has a wrong value"),
        ),
        Taken::UnknownKey => found.tell(
            0,
            "msgfile::agent-unknown-key",
            format!("`{key}` of agent `{name}` is not known"),
        ),
    }
}
