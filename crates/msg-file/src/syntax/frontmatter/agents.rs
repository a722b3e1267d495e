//! Preset agents (MF-16): a mapping of names to attributes, or a list of names and mappings.

use std::collections::HashSet;

use super::Frontmatter;
use super::yaml::Node;
use crate::diag::Findings;
use crate::model::agents::{AgentConfig, Taken};

/// Takes the value of `agents`.
pub(super) fn agents<'a>(value: &'a Node, front: &'a mut Frontmatter, found: &'a mut Findings) {
    let mut all = Agents { names: HashSet::new(), front, found };
    match value {
        Node::Map(items) => {
            for (name, attrs) in items.iter().filter_map(|it| Some((it.0.text()?, &it.1))) {
                all.add(name, attrs, None);
            }
        }
        Node::Seq(items) => items.iter().for_each(|it| all.listed(it)),
        Node::Scalar { .. } => all.found.add(0, "msgfile::agents-bad-shape"),
    }
}

struct Agents<'a> {
    names: HashSet<&'a str>,
    front: &'a mut Frontmatter,
    found: &'a mut Findings,
}

impl<'a> Agents<'a> {
    /// An item of a list: a name, or attributes with a name among them.
    fn listed(&mut self, item: &'a Node) {
        let name = match item {
            Node::Map(items) => items.iter().find(|it| it.0.text() == Some("name")).map(|it| &it.1),
            _ => Some(item),
        };
        let name = name.and_then(Node::text).filter(|it| !it.is_empty() && !item.absent());
        match name {
            Some(name) => self.add(name, item, Some("name")),
            None => self.found.add(0, "msgfile::agents-bad-shape"),
        }
    }

    /// Adds an agent, of whose attributes `skip` is none.
    fn add(&mut self, name: &'a str, attrs: &Node, skip: Option<&str>) {
        if !self.names.insert(name) {
            let what = format!("agent `{name}` is there twice; the first one counts");
            return self.found.tell(0, "msgfile::yaml-duplicate-key", what);
        }
        let mut config = AgentConfig::default();
        match attrs {
            Node::Map(items) => {
                let known = items.iter().filter_map(|it| Some((it.0.text()?, &it.1)));
                self.attributes(name, known.filter(|it| Some(it.0) != skip), &mut config);
            }
            // A list may hold names alone.
            Node::Scalar { .. } if skip.is_some() || attrs.absent() => {}
            _ => {
                let what = format!("the attributes of agent `{name}` are no mapping");
                self.found.tell(0, "msgfile::agents-bad-shape", what);
            }
        }
        self.front.agents.push((name.to_owned(), config));
    }

    fn attributes<'n>(
        &mut self,
        name: &str,
        attrs: impl Iterator<Item = (&'n str, &'n Node)>,
        config: &mut AgentConfig,
    ) {
        let mut seen: Vec<&str> = Vec::new();
        for (key, value) in attrs {
            // Only keys that mean something are remembered, so that this stays linear.
            let is_known = AgentConfig::default().take(key, "") != Taken::UnknownKey;
            let (code, what) = if seen.contains(&key) {
                let what = format!("agent `{name}` has `{key}` twice; the first one counts");
                ("msgfile::yaml-duplicate-key", what)
            } else if !is_known {
                ("msgfile::agent-unknown-key", format!("`{key}` of agent `{name}` is not known"))
            } else {
                seen.push(key);
                if value.absent() || take(config, key, value) == Taken::Yes {
                    continue;
                }
                ("msgfile::agent-bad-value", format!("`{key}` of agent `{name}` has a wrong value"))
            };
            self.found.tell(0, code, what);
        }
    }
}

/// Takes the value of a key that is known.
fn take(config: &mut AgentConfig, key: &str, value: &Node) -> Taken {
    match value {
        Node::Scalar { text, .. } => config.take(key, text),
        Node::Seq(items) if key == "models" => {
            config.models = items.iter().map(|it| it.text().map(str::to_owned)).collect();
            if config.models.is_some() { Taken::Yes } else { Taken::BadValue }
        }
        _ => Taken::BadValue,
    }
}
