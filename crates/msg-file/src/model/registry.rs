//! Agents as they become known from top to bottom (MF-16, MF-17).

use super::Defaults;
use super::agents::{Agent, AgentConfig, AgentKind, Taken};
use crate::diag::Findings;
use crate::syntax::frontmatter::Frontmatter;
use crate::syntax::raw::RawCell;
use std::collections::HashMap;
use std::sync::Arc;

/// The agents that are known so far, and who answers by default.
#[derive(Debug, Clone, Default)]
pub(crate) struct Registry {
    agents: Vec<Agent>,
    index: HashMap<Arc<str>, usize>,
    /// The first temporary agent, by index.
    first_temporary: Option<usize>,
    presets: usize,
    /// `default_agent` of the frontmatter.
    wanted: Option<Arc<str>>,
    /// What agents of whom only the name is known share.
    unset: Arc<AgentConfig>,
    /// Set by the last effective directive.
    directed: Option<Arc<str>>,
}

impl Registry {
    pub(crate) fn new(front: Option<&Frontmatter>) -> Self {
        let mut registry = Self::default();
        let Some(front) = front else { return registry };
        for (name, config) in &front.agents {
            registry.add(name.as_str().into(), AgentKind::Preset, config.clone().into(), None);
        }
        registry.presets = registry.agents.len();
        registry.wanted = front.default_agent.as_deref().map(Arc::from);
        registry
    }

    fn add(
        &mut self,
        name: Arc<str>,
        kind: AgentKind,
        config: Arc<AgentConfig>,
        cell: Option<usize>,
    ) {
        self.index.insert(Arc::clone(&name), self.agents.len());
        self.agents.push(Agent { name, kind, config, cell });
    }

    /// The name of a registered agent: preset or temporary, known so far.
    pub(crate) fn registered(&self, name: &str) -> Option<Arc<str>> {
        let agent = &self.agents[*self.index.get(name)?];
        (agent.kind != AgentKind::Implicit).then(|| Arc::clone(&agent.name))
    }

    /// The shared form of a name, known or not.
    pub(super) fn name(&self, name: &str) -> Arc<str> {
        self.index.get(name).map_or_else(|| name.into(), |&i| Arc::clone(&self.agents[i].name))
    }

    /// An agent of which only the name is known; says whether it is new.
    pub(crate) fn implicit(&mut self, name: &str, cell: usize) -> (Arc<str>, bool) {
        if let Some(&i) = self.index.get(name) {
            return (Arc::clone(&self.agents[i].name), false);
        }
        let name: Arc<str> = name.into();
        self.add(Arc::clone(&name), AgentKind::Implicit, Arc::clone(&self.unset), Some(cell));
        (name, true)
    }

    /// Introduces or redefines a temporary agent; presets refuse.
    pub(crate) fn introduce(
        &mut self,
        name: &Arc<str>,
        config: &Arc<AgentConfig>,
        cell: usize,
    ) -> bool {
        match self.index.get(name) {
            Some(&i) if self.agents[i].kind == AgentKind::Preset => return false,
            Some(&i) => {
                self.agents[i].kind = AgentKind::Temporary;
                self.agents[i].config = Arc::clone(config);
                self.first_temporary.get_or_insert(i);
            }
            None => {
                self.first_temporary.get_or_insert(self.agents.len());
                self.add(Arc::clone(name), AgentKind::Temporary, Arc::clone(config), Some(cell));
            }
        }
        true
    }

    /// Makes a known agent the default; says whether it is known.
    pub(crate) fn set_default(&mut self, name: &str) -> bool {
        let Some(&i) = self.index.get(name) else { return false };
        self.directed = Some(Arc::clone(&self.agents[i].name));
        true
    }

    /// The default here: directive, frontmatter, first preset, first temporary.
    pub(crate) fn current(&self) -> Option<Arc<str>> {
        let wanted = || self.wanted.as_deref().and_then(|w| self.registered(w));
        let first = if self.presets > 0 { Some(0) } else { self.first_temporary };
        self.directed
            .clone()
            .or_else(wanted)
            .or_else(|| Some(Arc::clone(&self.agents[first?].name)))
    }

    /// Ends the pass: the agents, and where the default changes.
    pub(super) fn finish(
        self,
        mut defaults: Defaults,
        found: &mut Findings,
    ) -> (Vec<Agent>, Defaults) {
        let default = self.current();
        if defaults.last().is_none_or(|(_, d)| *d != default) {
            defaults.push((usize::MAX, default));
        }
        if let Some(wanted) = &self.wanted
            && self.registered(wanted).is_none()
        {
            found.tell(
                0,
                "msgfile::default-agent-unknown",
                format!("`default_agent` names `{wanted}`, which is not known"),
            );
        }
        (self.agents, defaults)
    }
}

/// The attributes of an `[agent]` cell; the default model is the name (MF-17).
pub(super) fn temporary_config(
    cell: &RawCell,
    name: Option<&str>,
    found: &mut Findings,
) -> AgentConfig {
    let mut config = AgentConfig::default();
    let at = cell.span().start;
    for attr in cell.attrs() {
        let key = if attr.key == "model" { "models" } else { &*attr.key };
        if key == "system_prompt" {
            found.add(at, "msgfile::temp-agent-system-prompt-ignored");
        } else if config.take(key, attr.value.as_deref().unwrap_or("true")) == Taken::BadValue {
            found.tell(at, "msgfile::agent-bad-value", format!("`{key}` has a wrong value"));
        }
    }
    if config.models.is_none() {
        config.models = name.map(|n| vec![n.to_owned()]);
    }
    config
}
