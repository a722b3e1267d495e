//! An agent's answer as a message: who gave it, its thoughts, the model that made it (MF-29).
//!
//! Where its calls and their results go is decided in `project`.

use super::project::{Projection, native};
use crate::model::View;
use crate::model::cell::Cell;
use crate::model::kinds::{CellKind, Turn};
use msg_core::{Message, Part, Provenance, Reasoning, Role};

impl<'a> Projection<'a> {
    pub(super) fn turn(&mut self, cell: &'a Cell, turn: &Turn, waiting: &mut Option<&'a Cell>) {
        if let Some(mut message) = native(cell) {
            note_model(&mut message, cell);
            return self.native_turn(message, cell);
        }
        let calls = self.sent_calls(cell);
        let thought = turn.is_reasoning && cell.view() == View::Full;
        if thought && calls.is_empty() && self.next_takes_reasoning(cell, turn) {
            *waiting = Some(cell);
            return;
        }
        let mut message = Message::new(Role::Assistant);
        note_model(&mut message, cell);
        let before = waiting.take();
        let sources = before.into_iter().chain([cell]).map(Cell::ordinal).collect();
        if let Some(before) = before {
            message = message.with_part(reasoning(before));
        }
        message.name = self.name_of(cell, turn.agent.as_deref());
        if thought && !calls.is_empty() {
            message = message.with_part(reasoning(cell));
        } else {
            let text = self.text(cell);
            if !text.is_empty() || calls.is_empty() {
                message = message.with_text(text);
            }
        }
        self.with_calls(message, sources, &calls);
    }

    /// A turn that is there as JSON: its calls are answered like those of cells, by native results
    /// wherever they stand, and cells below it are calls of it too.
    fn native_turn(&mut self, message: Message, cell: &'a Cell) {
        let mut answers = Vec::new();
        for call in message.tool_calls() {
            self.call_ids.entry(call.id.clone()).or_insert(0);
            if !self.native_results.contains(&call.id) {
                answers.push(self.missing(call.id.clone(), answers.len()));
            }
        }
        let calls = self.sent_calls(cell);
        self.with_answers(message, vec![cell.ordinal()], &calls, answers);
    }

    /// Whether the next cell is an answer of the same agent to which this thought belongs.
    fn next_takes_reasoning(&self, cell: &Cell, turn: &Turn) -> bool {
        let Some(next) = self.doc.cells().get(cell.ordinal()) else { return false };
        matches!(next.kind(), CellKind::Agent(it) if it.agent == turn.agent && !it.is_reasoning)
            && next.view() == View::Full
            && next.attr("format").as_deref() != Some("native")
    }

    /// `name`, else the agent if somebody else was chosen to answer.
    pub(super) fn name_of(&self, cell: &Cell, agent: Option<&str>) -> Option<String> {
        cell.raw.said("name").or_else(|| {
            agent.filter(|a| self.answering.is_some_and(|it| it != *a)).map(str::to_owned)
        })
    }
}

fn reasoning(cell: &Cell) -> Part {
    let mut it = Reasoning::new(cell.content().into_owned());
    it.signature = cell.raw.said("signature");
    Part::Reasoning(it)
}

/// A turn's cell says which model gave it, to which a signature is bound (MS-1).
fn note_model(message: &mut Message, cell: &Cell) {
    let model = cell.raw.said("model");
    if model.is_some() {
        message.set_provenance(Provenance { model, ..Provenance::default() });
    }
}
