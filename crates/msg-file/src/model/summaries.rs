//! The passes over all cells once they are understood: summaries (MF-20), views (MF-27) and checks of single cells.

use std::ops::RangeInclusive;

use super::cell::{Cell, HistoryMode};
use super::content::{Encoding, FenceState, stays_in_folder};
use super::kinds::{CellKind, Summarised};
use crate::diag::Findings;
use crate::stamp::is_rfc3339;
use crate::syntax::grammar;

/// Splits tried for one item, so that a line of dots stays cheap.
const MAX_SPLITS: usize = 64;

/// Reads `covers`: ranges of ordinals, in order and merged.
pub(crate) fn ranges(
    covers: &str,
    refer: impl Fn(&str) -> Option<usize>,
) -> Vec<RangeInclusive<usize>> {
    let mut all: Vec<(usize, usize)> = Vec::new();
    for item in covers.split(|c: char| c == ',' || c.is_whitespace()).filter(|i| !i.is_empty()) {
        if let Some(one) = refer(item) {
            all.push((one, one));
            continue;
        }
        let range = grammar::covers_range(item)
            .take(MAX_SPLITS)
            .find_map(|(a, b)| Some((refer(a)?, refer(b)?)));
        all.extend(range.filter(|(a, b)| a <= b));
    }
    all.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (a, b) in all {
        match merged.last_mut() {
            Some(last) if a <= last.1 + 1 => last.1 = last.1.max(b),
            _ => merged.push((a, b)),
        }
    }
    merged.into_iter().map(|(a, b)| a..=b).collect()
}

/// Fills in `covered_by`; the newest summary of a cell counts. An excluded one covers nothing.
pub(crate) fn cover(cells: &mut [Cell]) {
    // next[i]: the first ordinal from i on that nothing covers so far.
    let mut next: Vec<usize> = (0..=cells.len() + 1).collect();
    for s in (0..cells.len()).rev() {
        if cells[s].history == HistoryMode::Exclude {
            continue;
        }
        let CellKind::Summary(summary) = &cells[s].kind else { continue };
        for range in summary.covers.clone().unwrap_or_default() {
            let mut at = free(&mut next, *range.start());
            while at <= *range.end() {
                cells[at - 1].sent.covered_by = Some(s + 1).into();
                next[at] = at + 1;
                at = free(&mut next, at + 1);
            }
        }
    }
}

fn free(next: &mut [usize], at: usize) -> usize {
    let mut root = at;
    while next[root] != root {
        root = next[root];
    }
    let mut step = at;
    while next[step] != root {
        step = std::mem::replace(&mut next[step], root);
    }
    root
}

/// Finds the cells of summaries for the cells with that view.
pub(crate) fn sources(cells: &mut [Cell], found: &mut Findings) {
    for i in 0..cells.len() {
        if let CellKind::Summary(summary) = &cells[i].kind
            && cells[i].history != HistoryMode::Exclude
            && let Some(of) = summary.of
        {
            cells[of - 1].sent.summary = Some(i + 1).into();
        }
    }
    for cell in cells.iter().filter(|it| it.summarised() == Some(Summarised::FirstParagraph)) {
        found.add(cell.span().start, "msgfile::summary-missing");
    }
}

// Views: how much of each cell a model sees (MF-27).

/// How much of a cell a model sees (MF-27).
///
/// ```
/// assert_eq!(msg_file::View::Stub.as_str(), "stub");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum View {
    /// All of it.
    #[default]
    Full,
    /// Its summary.
    Summary,
    /// Only that it exists: a private result of a call that is sent.
    Stub,
    /// Nothing.
    None,
}

impl View {
    /// The word of the JSON form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Summary => "summary",
            Self::Stub => "stub",
            Self::None => "none",
        }
    }
}

/// Fills in the views. Parents are before their children, so one pass does.
pub(crate) fn views(cells: &mut [Cell]) {
    for i in 0..cells.len() {
        let view = view(cells, &cells[i]);
        cells[i].sent.view = view;
    }
}

fn view(cells: &[Cell], cell: &Cell) -> View {
    let parent = cell.parent().map(|p| &cells[p - 1]);
    let below = matches!(
        cell.kind,
        CellKind::ToolCall(_)
            | CellKind::ToolResult(_)
            | CellKind::ExecOutput(_)
            | CellKind::ExecDisplay(_)
    );
    if below && parent.is_some_and(|p| matches!(p.view(), View::None | View::Summary)) {
        return View::None;
    }
    let private = cell.history == HistoryMode::Exclude || cell.covered_by().is_some();
    let silent = match &cell.kind {
        CellKind::AgentDef(_) | CellKind::Directive(_) => true,
        CellKind::Summary(s) => s.covers.as_ref().is_none_or(Vec::is_empty),
        CellKind::ToolResult(_) => parent.is_none(),
        _ => false,
    };
    match cell.history {
        _ if silent => View::None,
        // The call is sent, so something has to answer it.
        _ if private && matches!(cell.kind, CellKind::ToolResult(_)) => View::Stub,
        _ if private => View::None,
        HistoryMode::Summary => View::Summary,
        _ => View::Full,
    }
}

// Checks of single cells (MF-21, MF-22, MF-24, MF-25).

pub(crate) fn checks(cells: &[Cell], found: &mut Findings) {
    for cell in cells {
        let at = cell.span().start;
        match &cell.kind {
            CellKind::Code(_) => code(cell, found),
            CellKind::ToolCall(call) if call.results.is_empty() => {
                found.add(at, "msgfile::tool-call-without-result");
            }
            CellKind::ToolResult(_) | CellKind::ExecOutput(_) | CellKind::ExecDisplay(_) => {
                output(cell, found);
            }
            _ => {}
        }
        if !cell.raw.attrs.is_empty() {
            times(cell, found);
        }
    }
}

fn code(cell: &Cell, found: &mut Findings) {
    let at = cell.span().start;
    match cell.code_fence() {
        FenceState::Closed => {}
        FenceState::Absent => {
            found.add(at, "msgfile::code-cell-without-fence");
        }
        FenceState::Open => {
            found.add(at, "msgfile::code-fence-unclosed");
        }
    }
}

fn output(cell: &Cell, found: &mut Findings) {
    let at = cell.span().start;
    if cell.attr("output_file").is_some_and(|p| !stays_in_folder(&p)) {
        found.add(at, "msgfile::output-file-escapes-directory");
    }
    if cell.encoding() == Encoding::Base64 && cell.data().is_none() {
        found.add(at, "msgfile::base64-invalid");
    }
}

fn times(cell: &Cell, found: &mut Findings) {
    let at = cell.span().start;
    if cell.has_attr("duration") && cell.duration().is_none() {
        found.add(at, "msgfile::duration-unparseable");
    }
    if cell.time().is_some_and(|t| !is_rfc3339(&t)) {
        found.add(at, "msgfile::time-not-rfc3339");
    }
}
