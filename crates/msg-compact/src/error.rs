//! Why nothing was planned, answered or applied.

use std::borrow::Cow;

use msg_core::Diagnostic;

use crate::codes;

/// Why a compaction did not begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The budget makes no sense (CP-10).
    #[error("invalid budget: {reason}")]
    BadBudget {
        /// What is wrong with it.
        reason: Cow<'static, str>,
    },
    /// A policy, preset, option or counter that does not exist.
    #[error("unknown {kind} {name:?}{}", expected.as_ref().map(|it| format!(", expected {it}")).unwrap_or_default())]
    UnknownName {
        /// What was looked for: `policy`, `preset`, `option` …
        kind: &'static str,
        /// The name that was given.
        name: String,
        /// What there is.
        expected: Option<String>,
    },
    /// A value of an option that it cannot have.
    #[error("invalid value of {option}: {reason}")]
    BadOption {
        /// The option.
        option: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The token index is not that of the tree.
    #[error("the token index counts {counted} messages, the chain has {messages}")]
    TokenIndex {
        /// Messages of the tree.
        messages: usize,
        /// Messages of the token index.
        counted: usize,
    },
}

/// Why a summary could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct SummaryError {
    /// What the summariser said.
    pub reason: String,
}

impl SummaryError {
    /// An error with this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// Why a request has no prompt (CP-25).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the shortest prompt costs {needed}, the limit of a prompt is {limit}")]
pub struct PromptTooLong {
    /// What the shortest prompt costs, in the budget's unit.
    pub needed: u64,
    /// What a prompt may cost.
    pub limit: u64,
}

impl From<PromptTooLong> for SummaryError {
    fn from(refused: PromptTooLong) -> Self {
        SummaryError::new(refused.to_string())
    }
}

/// Why an answer was not taken (CP-20).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// No open request has this id.
    #[error("no open request has the id {id}")]
    Unknown {
        /// The id that was given.
        id: u32,
    },
    /// The request has its answer already.
    #[error("request {id} is answered already")]
    Twice {
        /// The id that was given.
        id: u32,
    },
}

/// Why a plan was not applied or undone (CP-61).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The history is not the one that the plan was made for.
    #[error("message {message} is not the one that the plan was made for")]
    Mismatch {
        /// Index of the first message that differs.
        message: usize,
    },
    /// An edit replaces a part of what one turn lowers to.
    #[error("an edit replaces only a part of turn {turn}")]
    SplitsTurn {
        /// Index of the turn.
        turn: usize,
    },
    /// The plan was stored without what it removed, so it cannot be undone.
    #[error("the plan does not hold what it removed")]
    NothingKept,
}

impl PlanError {
    /// The error as a diagnostic.
    pub fn diagnostic(&self) -> Diagnostic {
        let found = Diagnostic::error(codes::of("compact::plan-mismatch"), self.to_string());
        match self {
            PlanError::Mismatch { message } => found.at_message(*message),
            PlanError::SplitsTurn { turn } => found.at_message(*turn),
            PlanError::NothingKept => found,
        }
    }
}
