//! What answers a call: its results, a placeholder where there is none, all in the order in which a model
//! is sent them (MF-30).
//!
//! Which calls are sent, and where, is decided in `project`.

use super::History;
use super::blocks;
use super::project::{Projection, native};
use crate::model::View;
use crate::model::cell::Cell;
use crate::model::content::Status;
use crate::model::kinds::CellKind;
use msg_core::{Part, ToolResult};
use std::sync::Arc;

/// What answers a call.
pub(super) struct Answer {
    pub(super) result: ToolResult,
    /// Answered ones by their first result, the others behind them in the order of the calls.
    pub(super) order: (usize, usize),
    pub(super) sources: Vec<usize>,
    pub(super) missing: bool,
}

impl Answer {
    fn new(result: ToolResult, order: (usize, usize), sources: Vec<usize>) -> Self {
        Self { result, order, sources, missing: false }
    }
}

impl Projection<'_> {
    pub(super) fn answer(&self, call: &Cell, call_id: String, place: usize) -> Answer {
        let CellKind::ToolCall(it) = call.kind() else {
            return self.missing(call_id, place);
        };
        if let Some(summary) = self.doc.summary_text(call) {
            // The summary of a call stands for its results.
            return Answer {
                missing: false,
                ..Answer::new(ToolResult::new(call_id, summary), (1, place), Vec::new())
            };
        }
        let cells = self.doc.cells();
        let sent: Vec<&Cell> =
            it.results.iter().map(|&r| &cells[r - 1]).filter(|r| r.view() != View::None).collect();
        let (pending, done): (Vec<&Cell>, Vec<&Cell>) =
            sent.into_iter().partition(|r| blocks::is_pending(r));
        let mut used = if done.is_empty() { pending } else { done };
        let Some(first) = used.iter().map(|r| r.ordinal()).min() else {
            return self.missing(call_id, place);
        };
        used.sort_by_key(|r| blocks::number(r));
        let empty_pending = used.iter().all(|r| {
            blocks::is_pending(r) && r.view() == View::Full && blocks::result_text(r).is_empty()
        });
        let content = if empty_pending {
            Arc::clone(&self.unanswered).into()
        } else {
            blocks::results(&used, |r| match r.view() {
                View::Stub => History::OMITTED_RESULT.to_owned(),
                _ => self.doc.summary_text(r).unwrap_or_else(|| blocks::result_text(r)),
            })
        };
        if let [one] = used.as_slice()
            && let Some(whole) = native(one)
            && let Some(Part::ToolResult(mut result)) = whole.parts.into_iter().next()
        {
            result.call_id = call_id;
            return Answer::new(result, (0, first), vec![one.ordinal()]);
        }
        let mut result = ToolResult::new(call_id, content);
        result.is_error = used.iter().any(|r| r.status() == Some(Status::Failure));
        let name = used.iter().rev().find_map(|r| r.attr("name"));
        result.name = name.filter(|n| !n.is_empty()).map(|n| n.into_owned());
        let sources = used.iter().map(|r| r.ordinal()).collect();
        Answer { missing: empty_pending, ..Answer::new(result, (0, first), sources) }
    }

    /// The answer of a call that got none.
    pub(super) fn missing(&self, call_id: String, place: usize) -> Answer {
        let result = ToolResult::new(call_id, Arc::clone(&self.unanswered));
        Answer { missing: true, ..Answer::new(result, (1, place), Vec::new()) }
    }
}
