//! What is odd about single cells once they are understood (MF-21, MF-22, MF-24, MF-25).

use crate::diag::Findings;
use crate::model::cell::Cell;
use crate::model::content::{Encoding, FenceState, stays_in_folder};
use crate::model::kinds::CellKind;
use crate::time::is_rfc3339;

pub(super) fn checks(cells: &[Cell], found: &mut Findings) {
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
