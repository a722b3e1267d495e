//! How much of each cell a model sees (MF-27).

use crate::cell::{Cell, HistoryMode};
use crate::history::View;
use crate::kinds::CellKind;

/// Fills in the views. Parents stand before their children, so one pass does.
pub(super) fn views(cells: &mut [Cell]) {
    for i in 0..cells.len() {
        let view = view(cells, &cells[i]);
        cells[i].view = view;
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
    if below && parent.is_some_and(|p| matches!(p.view, View::None | View::Summary)) {
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
