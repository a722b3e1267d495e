//! The JSON form of a compaction (CP-70).

use msg_compact::{CompactionRecord, Outcome, Plan};
use msg_core::Message;
use msg_openai::chat;
use serde::Serialize;

use super::plan::Goal;
use super::run::Fitted;
use crate::codec::WriteOptions;
use crate::document::Document;
use crate::json::ObjectWriter;

#[derive(Serialize)]
struct CannotFitForm {
    floor: u64,
    limit: u64,
    why: &'static str,
}

impl Fitted {
    /// The line of `msg fit --jsonl`, without its end.
    pub fn to_json(&self) -> Vec<u8> {
        let (before, after) = self.totals();
        let requests = match &self.outcome {
            Outcome::NotNeeded(it) => it.requests,
            Outcome::Compacted(it) => it.requests,
            Outcome::CannotFit(it) => it.requests,
        };
        let mut members = ObjectWriter::new()
            .with("fits", &self.fits())
            .with("status", &self.status())
            .with("before", &before)
            .with("after", &after)
            .with("requests", &requests)
            .with("first_changed", &self.first_changed)
            .with("edits", &self.edits())
            .raw("messages", &openai(&self.messages));
        if let Outcome::CannotFit(it) = &self.outcome {
            let form = CannotFitForm { floor: it.floor, limit: it.usable, why: it.why.as_str() };
            members = members.with("cannot_fit", &form);
        }
        if self.told.records {
            members = members.with("records", &self.records());
        }
        if let Some(plan) = self.plan.as_ref().filter(|_| self.told.plan) {
            members = members.with("plan", plan);
        }
        members.finish()
    }

    /// What became of it: `not-needed`, `compacted` or `cannot-fit`.
    pub fn status(&self) -> &'static str {
        match &self.outcome {
            Outcome::NotNeeded(_) => "not-needed",
            Outcome::Compacted(_) => "compacted",
            Outcome::CannotFit(_) => "cannot-fit",
        }
    }

    /// What the history cannot have less than, where it cannot fit.
    pub fn floor(&self) -> Option<u64> {
        match &self.outcome {
            Outcome::CannotFit(it) => Some(it.floor),
            _ => None,
        }
    }

    /// The records of what was done.
    pub fn records(&self) -> &[CompactionRecord] {
        match &self.outcome {
            Outcome::Compacted(it) => &it.records,
            Outcome::CannotFit(it) => {
                it.best.as_ref().filter(|_| self.told.best_effort).map_or(&[], |it| &it.records)
            }
            Outcome::NotNeeded(_) => &[],
        }
    }
}

/// The answer to a line of `msg fit --jsonl`.
#[derive(Debug)]
pub enum FitAnswer {
    /// A compaction.
    Fitted(Box<Fitted>),
    /// What a plan that was given made of it.
    Reached(Reached),
}

impl FitAnswer {
    /// The line of `msg fit --jsonl`, without its end.
    pub fn to_json(&self) -> Vec<u8> {
        match self {
            FitAnswer::Fitted(it) => it.to_json(),
            FitAnswer::Reached(it) => it.to_json(),
        }
    }

    /// What became of the document: [`Fitted::status`], `applied` or `undone`.
    pub fn status(&self) -> &'static str {
        match self {
            FitAnswer::Fitted(it) => it.status(),
            FitAnswer::Reached(it) => it.goal.status(),
        }
    }

    /// The compaction, if it is one.
    pub fn fitted(&self) -> Option<&Fitted> {
        match self {
            FitAnswer::Fitted(it) => Some(it),
            FitAnswer::Reached(_) => None,
        }
    }

    /// The document in its own format, as [`Fitted::take_document`] gives it.
    pub fn take_document(&mut self) -> Option<Vec<u8>> {
        match self {
            FitAnswer::Fitted(it) => it.take_document(),
            FitAnswer::Reached(it) => it.take_document(),
        }
    }

    /// Whether it fits, and there was something to fit.
    pub fn is_clean(&self) -> bool {
        match self {
            FitAnswer::Fitted(it) => it.fits() && !it.messages.is_empty(),
            FitAnswer::Reached(_) => true,
        }
    }
}

/// The history to which a plan was applied, or that it was undone of.
#[derive(Debug)]
pub struct Reached {
    /// What was done.
    pub goal: Goal,
    /// The history.
    pub messages: Vec<Message>,
    /// What stood around it, and the plan, if a document was read.
    pub(super) source: Option<(Box<Document>, Option<Plan>)>,
    /// The text that was read before the plan, if the plan holds it.
    pub(super) undone: Option<Vec<u8>>,
}

impl Reached {
    /// A history that a plan was applied to, or undone of.
    pub fn new(goal: Goal, messages: Vec<Message>) -> Self {
        Reached { goal, messages, source: None, undone: None }
    }

    fn take_document(&mut self) -> Option<Vec<u8>> {
        if let Some(text) = self.undone.take() {
            return Some(text);
        }
        let (mut document, plan) = self.source.take()?;
        document.put_planned(std::mem::take(&mut self.messages), plan.as_ref());
        let mut out = Vec::new();
        document.write(&WriteOptions::default(), &mut out);
        Some(out)
    }

    /// The answer of `--apply` and `--undo`, without its end.
    pub fn to_json(&self) -> Vec<u8> {
        let status = self.goal.status();
        let members = ObjectWriter::new().with("status", &status);
        members.raw("messages", &openai(&self.messages)).finish()
    }
}

fn openai(messages: &[Message]) -> Vec<u8> {
    let mut json = Vec::new();
    chat::write(messages, &msg_openai::WriteOptions::default(), &mut json);
    json
}
