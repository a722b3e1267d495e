//! The second pass: from raw cells to cells, which know what they mean (MF-13 to MF-27).
//!
//! ```text
//! ## %% [^1]       user           asks bot                  calls: none
//! ## %%% [^2]      agent bot      answers [^1]              calls: [^2.a]
//! ### %%% [^2.a]   tool_call      below [^2]                results: [^2.a.1]
//! ### %%% [^2.a.1] tool_result    below [^2.a]
//! ```
//!
//! One pass in document order: a cell is judged by what is before it, so appending never changes it.
//! Summaries and views, which look at the whole file, come after; see `summaries` and `views`. What a cell
//! says is read from its bytes when somebody asks for it, see `content`.

pub(crate) mod agents;
pub(crate) mod cell;
pub(crate) mod content;
pub(crate) mod kinds;
mod summaries;

use std::collections::HashMap;
use std::sync::Arc;

use crate::diag::Findings;
use crate::syntax::frontmatter::Frontmatter;
use crate::syntax::grammar;
use crate::syntax::grammar::Kind;
use crate::syntax::raw::RawCell;
use agents::{Agent, AgentKind};
use cell::{Cell, HistoryMode, Sent};
use kinds::{AgentDef, CellKind, Directive, Summary};

pub(crate) use agents::Registry;
pub(crate) use kinds::{OutputRow, is_language, lower_case};
pub use summaries::View;

/// The record: its cells, and what is known about it as a whole.
#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    pub(crate) cells: Vec<Cell>,
    pub(crate) agents: Vec<Agent>,
    pub(crate) defaults: Defaults,
}

/// Where the default agent changes: first ordinal for which it holds, and its name.
type Defaults = Vec<(usize, Option<Arc<str>>)>;

impl Model {
    /// How many cells the file takes room for: an unanswered call makes two messages, a picture two
    /// parts, and a cell may make an agent next to its own.
    pub(crate) fn weight(&self) -> usize {
        let is_double = |it: &&Cell| match &it.kind {
            CellKind::ToolCall(call) => call.results.is_empty(),
            CellKind::ExecOutput(_) | CellKind::ExecDisplay(_) => {
                it.mime_type().starts_with("image/")
            }
            _ => false,
        };
        let made = self.agents.iter().filter(|it| it.kind != AgentKind::Preset).count();
        self.cells.len() + self.cells.iter().filter(is_double).count() + made
    }
}

/// Works out what the cells mean.
pub(crate) fn model(raw: Vec<RawCell>, front: Option<&Frontmatter>, found: &mut Findings) -> Model {
    let source = raw.first().map_or_else(|| Arc::from([]), |it| Arc::clone(&it.source));
    let mut pass = Pass {
        source: &source,
        cells: Vec::with_capacity(raw.len()),
        registry: Registry::new(front),
        ids: HashMap::with_capacity(raw.len()),
        levels: [None; 6],
        last_message: None,
        answering: None,
        defaults: Vec::new(),
        found,
    };
    for raw in raw {
        pass.cell(raw);
    }
    let Pass { mut cells, registry, defaults, found, .. } = pass;
    summaries::cover(&mut cells);
    summaries::views(&mut cells);
    summaries::sources(&mut cells, found);
    summaries::checks(&cells, found);
    let (agents, defaults) = registry.finish(defaults, found);
    Model { cells, agents, defaults }
}

struct Pass<'a> {
    source: &'a [u8],
    /// Those before the one that is looked at.
    cells: Vec<Cell>,
    registry: Registry,
    /// The latest cell of each id, by ordinal.
    ids: HashMap<&'a [u8], usize>,
    /// The latest cell of each level.
    levels: [Option<usize>; 6],
    last_message: Option<usize>,
    /// The code cell that an output here answers directly.
    answering: Option<usize>,
    defaults: Defaults,
    found: &'a mut Findings,
}

/// What a cell is, and which cell it belongs to.
type Sorted = (CellKind, Option<usize>);

impl<'a> Pass<'a> {
    fn cell(&mut self, raw: RawCell) {
        let ordinal = raw.ordinal();
        let default = self.registry.current();
        if self.defaults.last().is_none_or(|(_, d)| *d != default) {
            self.defaults.push((ordinal, default));
        }
        let titled = self.is_titled(&raw);
        let history = history(&raw, self.found);
        let outline_parent = self.outline(&raw);
        let ty = raw.named(titled).0;
        let (kind, parent) = match raw.at.kind {
            Kind::Message => self.message(&raw, ty),
            Kind::Output => self.output(&raw, ty),
        };
        self.link(ordinal, &kind, parent);
        self.remember(&raw, &kind, parent);
        let (parent, outline_parent) = (parent.into(), outline_parent.into());
        let sent = Sent::default();
        self.cells.push(Cell { raw, kind, history, titled, parent, outline_parent, sent });
    }

    /// The nearest earlier cell of a lower level (MF-18).
    fn outline(&mut self, raw: &RawCell) -> Option<usize> {
        let level = usize::from(raw.at.level);
        let parent = self.levels[..level].iter().flatten().max().copied();
        self.levels[level] = Some(raw.ordinal());
        parent
    }

    /// Whether the title ends in a type, where the definition is missing (MF-13).
    fn is_titled(&self, raw: &RawCell) -> bool {
        let title = raw.title().filter(|_| raw.defined_id().is_none());
        let Some(title) = title.map(|it| it.of(self.source)) else { return false };
        let name = grammar::title_type(title).map(|it| it.0.of(title));
        let Some(text) = name.and_then(|it| std::str::from_utf8(it).ok()) else { return false };
        let lower = text.to_ascii_lowercase();
        match raw.at.kind {
            Kind::Message => matches!(lower.as_str(), "markdown" | "md" | "code" | "raw"),
            Kind::Output => {
                self.registry.registered(text).is_some()
                    || is_language(&lower)
                    || matches!(lower.as_str(), "tool" | "summary")
            }
        }
    }

    /// The nearest earlier cell of an id, as ordinal.
    fn lookup(&self, id: &[u8]) -> Option<usize> {
        self.ids.get(id).copied()
    }

    /// A reference in an attribute: an id or `#n`, of an earlier cell.
    fn refer(&self, text: &str, before: usize) -> Option<usize> {
        self.lookup(text.as_bytes())
            .or_else(|| grammar::ordinal(text).filter(|n| (1..before).contains(n)))
    }

    /// The id cut at its last dot, where the cell before the dot exists (MF-15).
    fn parent_of(&self, cell: &RawCell) -> Option<(usize, &'a str)> {
        let id = std::str::from_utf8(cell.id_span()?.of(self.source)).ok()?;
        let (base, last) = id.rsplit_once('.')?;
        Some((self.lookup(base.as_bytes())?, last))
    }

    fn agent_def(&mut self, cell: &RawCell) -> CellKind {
        let at = cell.span().start;
        let title = || cell.title().map(|t| cell.text(t).into_owned());
        let name = cell.said("name").or_else(title).or_else(|| cell.id().map(|id| id.into_owned()));
        let config = Arc::new(agents::temporary_config(cell, name.as_deref(), self.found));
        let Some(name) = name else {
            self.found.add(at, "msgfile::agent-unnamed");
            return CellKind::AgentDef(AgentDef { agent: None, config });
        };
        let name: Arc<str> = name.into();
        if !self.registry.introduce(&name, &config, cell.ordinal()) {
            self.found.tell(
                at,
                "msgfile::agent-name-shadows-preset",
                format!("`{name}` is a preset agent and stays unchanged"),
            );
        }
        if cell.is_flagged("default") {
            self.registry.set_default(&name);
        }
        CellKind::AgentDef(AgentDef { agent: Some(name), config })
    }

    fn directive(&mut self, cell: &RawCell) -> CellKind {
        let name = cell.said("default");
        if name.as_deref().is_none_or(|n| !self.registry.set_default(n)) {
            self.found.add(cell.span().start, "msgfile::default-agent-unknown");
        }
        CellKind::Directive(Directive { set_default: name })
    }

    fn summary(&mut self, cell: &RawCell) -> Sorted {
        let of = self.parent_of(cell).filter(|(_, last)| *last == "summary").map(|(p, _)| p);
        let covers = cell.attr("covers");
        let covers = covers.map(|c| summaries::ranges(&c, |r| self.refer(r, cell.ordinal())));
        let at = cell.span().start;
        match &covers {
            Some(ranges) if ranges.is_empty() => {
                self.found.add(at, "msgfile::summary-covers-nothing");
            }
            None if of.is_none() => {
                self.found.add(at, "msgfile::orphan-summary");
            }
            _ => {}
        }
        (CellKind::Summary(Summary { of, covers }), of)
    }

    /// Enters a cell in the list of its parent: these lists are derived, never stored (MF-21).
    fn link(&mut self, ordinal: usize, kind: &CellKind, parent: Option<usize>) {
        let Some(parent) = parent.and_then(|it| self.cells.get_mut(it - 1)) else { return };
        match (kind, &mut parent.kind) {
            (CellKind::ToolCall(_), kind) => {
                kind.calls_mut().into_iter().for_each(|c| c.push(ordinal));
            }
            (CellKind::ToolResult(_), CellKind::ToolCall(call)) => call.results.push(ordinal),
            (CellKind::ExecOutput(_), CellKind::Code(code)) => code.executions.push(ordinal),
            (CellKind::ExecDisplay(_), CellKind::ExecOutput(exec)) => exec.displays.push(ordinal),
            _ => {}
        }
    }

    fn remember(&mut self, cell: &RawCell, kind: &CellKind, parent: Option<usize>) {
        let ordinal = cell.ordinal();
        if let Some(id) = cell.id_span()
            && self.ids.insert(id.of(self.source), ordinal).is_some()
        {
            self.found.add(cell.span().start, "msgfile::duplicate-id");
        }
        match kind {
            kind if kind.ask().is_some() => {
                self.last_message = Some(ordinal);
                self.answering = matches!(kind, CellKind::Code(_)).then_some(ordinal);
            }
            CellKind::ExecOutput(_) if parent.is_some() => self.answering = parent,
            CellKind::ExecDisplay(_) => {}
            _ => self.answering = None,
        }
    }
}

fn history(cell: &RawCell, found: &mut Findings) -> HistoryMode {
    let Some(value) = cell.raw_attr("history").and_then(|a| cell.value(a)) else {
        return HistoryMode::Include;
    };
    match value.trim().to_lowercase().as_str() {
        "include" | "1" | "true" => HistoryMode::Include,
        "none" | "exclude" | "0" | "false" => HistoryMode::Exclude,
        "summary" => HistoryMode::Summary,
        _ => {
            let at = cell.span().start;
            found.add(at, "msgfile::history-unknown-value");
            HistoryMode::Exclude
        }
    }
}
