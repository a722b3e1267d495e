//! What cells mean: categories, parents, agents, histories (MF-13 to MF-22).
//!
//! One pass in document order: a cell is judged by what stands before it, so appending never changes
//! it. Summaries and views, which look at the whole file, come after; see `summaries` and `views`.

mod categories;
mod checks;
mod registry;
mod summaries;
mod views;

use crate::agents::{Agent, boolean};
use crate::cell::{Cell, HistoryMode};
use crate::diag::Findings;
use crate::frontmatter::Frontmatter;
use crate::grammar::{self, Kind};
use crate::kinds::{AgentDef, CellKind, Directive, Summary};
pub(crate) use categories::{is_language, lower_case};
use registry::Registry;
use std::collections::HashMap;
use std::sync::Arc;

/// What is known about the record as a whole.
#[derive(Debug, Default)]
pub(crate) struct Meaning {
    pub(crate) agents: Vec<Agent>,
    /// Where the default agent changes: first ordinal for which it holds, and its name.
    pub(crate) defaults: Vec<(usize, Option<Arc<str>>)>,
    /// How many calls have no result.
    pub(crate) unanswered: usize,
}

/// Fills in what the cells mean.
pub(crate) fn meaning(
    cells: &mut [Cell],
    front: Option<&Frontmatter>,
    found: &mut Findings,
) -> Meaning {
    let Some(first) = cells.first() else {
        let registry = Registry::new(front, found);
        return registry.finish(Vec::new(), found);
    };
    let source = Arc::clone(&first.source);
    let mut pass = Pass {
        source: &source,
        registry: Registry::new(front, found),
        ids: HashMap::with_capacity(cells.len()),
        levels: [None; 6],
        last_message: None,
        answering: None,
        defaults: Vec::new(),
    };
    for i in 0..cells.len() {
        pass.cell(cells, i, found);
    }
    let Pass { registry, defaults, .. } = pass;
    summaries::cover(cells, found);
    views::views(cells);
    summaries::sources(cells, found);
    checks::checks(cells, found);
    let is_unanswered =
        |it: &&Cell| matches!(&it.kind, CellKind::ToolCall(call) if call.results.is_empty());
    let unanswered = cells.iter().filter(is_unanswered).count();
    Meaning { unanswered, ..registry.finish(defaults, found) }
}

struct Pass<'a> {
    source: &'a [u8],
    registry: Registry,
    /// The latest cell of each id, by ordinal.
    ids: HashMap<&'a [u8], usize>,
    /// The latest cell of each level.
    levels: [Option<usize>; 6],
    last_message: Option<usize>,
    /// The code cell that an output here answers directly.
    answering: Option<usize>,
    defaults: Vec<(usize, Option<Arc<str>>)>,
}

impl<'a> Pass<'a> {
    fn cell(&mut self, cells: &mut [Cell], i: usize, found: &mut Findings) {
        let ordinal = i + 1;
        let default = self.registry.current();
        if self.defaults.last().is_none_or(|(_, d)| *d != default) {
            self.defaults.push((ordinal, default));
        }
        self.title_type(&mut cells[i]);
        cells[i].history = history(&cells[i], found);
        let level = usize::from(cells[i].head().level);
        cells[i].at.outline_parent = self.levels[..level].iter().flatten().max().copied().into();
        self.levels[level] = Some(ordinal);
        let kind = match cells[i].head().kind {
            Kind::Message => self.message(cells, i, found),
            Kind::Output => self.output(cells, i, found),
        };
        cells[i].kind = kind;
        self.link(cells, i);
        self.remember(&cells[i], found);
    }

    /// A type at the end of the title, where there is no definition (MF-13).
    fn title_type(&self, cell: &mut Cell) {
        let Some(title) = cell.head().title else { return };
        if cell.defined_id().is_some() {
            return;
        }
        let Some((name, before)) = grammar::title_type(title.of(self.source)) else { return };
        let Ok(text) = std::str::from_utf8(name.of(title.of(self.source))) else { return };
        let lower = text.to_ascii_lowercase();
        let known = match cell.head().kind {
            Kind::Message => matches!(lower.as_str(), "markdown" | "md" | "code" | "raw"),
            Kind::Output => {
                self.registry.registered(text).is_some()
                    || categories::is_language(&lower)
                    || matches!(lower.as_str(), "tool" | "summary")
            }
        };
        if known {
            let shift = |s: crate::span::Span| {
                crate::span::Span::new(s.start + title.start, s.end + title.start)
            };
            cell.at.ty = shift(name).into();
            cell.at.title = before.map(shift).into();
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
    fn parent_of(&self, cell: &Cell) -> Option<(usize, &'a str)> {
        let id = std::str::from_utf8(cell.id_span()?.of(self.source)).ok()?;
        let (base, last) = id.rsplit_once('.')?;
        Some((self.lookup(base.as_bytes())?, last))
    }

    fn agent_def(&mut self, cell: &Cell, found: &mut Findings) -> CellKind {
        let at = cell.head().line.start;
        let text = |key| cell.attr(key).filter(|v| !v.is_empty()).map(|v| v.into_owned());
        let title = || cell.head().title.map(|t| cell.text(t).into_owned());
        let name = text("name").or_else(title).or_else(|| cell.id().map(|id| id.into_owned()));
        let config = Arc::new(registry::temporary_config(cell, name.as_deref(), found));
        let Some(name) = name else {
            found.warning(at, "msgfile::agent-unnamed", "the agent has neither name, title nor id");
            return CellKind::AgentDef(AgentDef { agent: None, config });
        };
        let name: Arc<str> = name.into();
        if !self.registry.introduce(&name, &config, cell.ordinal()) {
            found.warning(
                at,
                "msgfile::agent-name-shadows-preset",
                format!("`{name}` is a preset agent and stays as it is"),
            );
        }
        if cell
            .raw_attr("default")
            .is_some_and(|a| cell.value(a).is_none_or(|v| boolean(&v) == Some(true)))
        {
            self.registry.set_default(&name);
        }
        CellKind::AgentDef(AgentDef { agent: Some(name), config })
    }

    fn directive(&mut self, cell: &Cell, found: &mut Findings) -> CellKind {
        let name = cell.attr("default").filter(|n| !n.is_empty()).map(|n| n.into_owned());
        if name.as_deref().is_none_or(|n| !self.registry.set_default(n)) {
            found.warning(
                cell.head().line.start,
                "msgfile::default-agent-unknown",
                "no agent of that name is known here",
            );
        }
        CellKind::Directive(Directive { set_default: name })
    }

    fn summary(&self, cells: &mut [Cell], i: usize, found: &mut Findings) -> CellKind {
        let of = self.parent_of(&cells[i]).filter(|(_, last)| *last == "summary").map(|(p, _)| p);
        let covers =
            cells[i].attr("covers").map(|c| summaries::ranges(&c, |r| self.refer(r, i + 1)));
        let at = cells[i].head().line.start;
        match &covers {
            Some(ranges) if ranges.is_empty() => {
                found.warning(
                    at,
                    "msgfile::summary-covers-nothing",
                    "`covers` names no earlier cell",
                );
            }
            None if of.is_none() => {
                found.warning(
                    at,
                    "msgfile::orphan-summary",
                    "the summary neither belongs to a cell nor covers any",
                );
            }
            _ => {}
        }
        cells[i].at.parent = of.into();
        CellKind::Summary(Summary { of, covers })
    }

    /// Enters the cell in the list of its parent: these lists are derived, never stored (MF-21).
    fn link(&mut self, cells: &mut [Cell], i: usize) {
        let Some(parent) = cells[i].parent() else { return };
        let (before, rest) = cells.split_at_mut(i);
        let parent = &mut before[parent - 1].kind;
        match (&rest[0].kind, parent) {
            (CellKind::ToolCall(_), kind) => {
                kind.calls_mut().into_iter().for_each(|c| c.push(i + 1));
            }
            (CellKind::ToolResult(_), CellKind::ToolCall(call)) => call.results.push(i + 1),
            (CellKind::ExecOutput(_), CellKind::Code(code)) => code.executions.push(i + 1),
            (CellKind::ExecDisplay(_), CellKind::ExecOutput(exec)) => exec.displays.push(i + 1),
            _ => {}
        }
    }

    fn remember(&mut self, cell: &Cell, found: &mut Findings) {
        if let Some(id) = cell.id_span()
            && self.ids.insert(id.of(self.source), cell.ordinal()).is_some()
        {
            found.warning(
                cell.head().line.start,
                "msgfile::duplicate-id",
                "an earlier cell has this id",
            );
        }
        match &cell.kind {
            kind if kind.ask().is_some() => {
                self.last_message = Some(cell.ordinal());
                self.answering = matches!(kind, CellKind::Code(_)).then_some(cell.ordinal());
            }
            CellKind::ExecOutput(_) if cell.parent().is_some() => self.answering = cell.parent(),
            CellKind::ExecDisplay(_) => {}
            _ => self.answering = None,
        }
    }
}

fn history(cell: &Cell, found: &mut Findings) -> HistoryMode {
    let Some(value) = cell.raw_attr("history").and_then(|a| cell.value(a)) else {
        return HistoryMode::Include;
    };
    match value.trim().to_lowercase().as_str() {
        "include" | "1" | "true" => HistoryMode::Include,
        "none" | "exclude" | "0" | "false" => HistoryMode::Exclude,
        "summary" => HistoryMode::Summary,
        _ => {
            let at = cell.head().line.start;
            found.error(
                at,
                "msgfile::history-unknown-value",
                "`history` has an unknown value and is read as `exclude`",
            );
            HistoryMode::Exclude
        }
    }
}
