//! The answer to a line of `msg fit --jsonl`: a compaction, or what a plan that was given made of the document.

use msg_compact::Plan;
use msg_core::Message;

use super::fitted::{Fitted, openai};
use super::plan::Goal;
use crate::document::Document;
use crate::json::ObjectWriter;

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
    #[expect(
        clippy::wrong_self_convention,
        reason = "the messages go into their document and out again"
    )]
    pub fn to_json(&mut self) -> Vec<u8> {
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
            FitAnswer::Fitted(it) => it.is_clean() && !it.messages.is_empty(),
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
    /// What surrounded it, and the plan, if a document was read.
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
        Some(document.written())
    }

    /// The answer of `--apply` and `--undo`, without its end.
    pub fn to_json(&self) -> Vec<u8> {
        let status = self.goal.status();
        let members = ObjectWriter::new().with("status", &status);
        members.raw("messages", &openai(&self.messages)).finish()
    }
}
