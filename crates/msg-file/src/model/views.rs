//! How much of each cell a model sees (MF-27).

use super::cell::{Cell, HistoryMode};
use super::kinds::CellKind;

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

/// Fills in the views. Parents stand before their children, so one pass does.
pub(super) fn views(cells: &mut [Cell]) {
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
