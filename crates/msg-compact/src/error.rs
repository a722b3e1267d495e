//! The error types: one for what this crate refuses, one for failed summaries; and the diagnostic codes.

use std::borrow::Cow;

use msg_core::{Code, CodeInfo, Diagnostic, codes};

/// Why nothing was planned, answered or applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The budget is invalid (CP-10).
    #[error("invalid budget: {reason}")]
    BadBudget {
        /// The problem.
        reason: Cow<'static, str>,
    },
    /// Unknown name of a policy, preset, option or counter.
    #[error("unknown {kind} {name:?}{}", expected.as_ref().map(|it| format!(", expected {it}")).unwrap_or_default())]
    UnknownName {
        /// The kind of name: `policy`, `preset`, `option` …
        kind: &'static str,
        /// The unknown name.
        name: String,
        /// The names that exist.
        expected: Option<String>,
    },
    /// The option has an invalid value.
    #[error("invalid value of {option}: {reason}")]
    BadOption {
        /// The name of the option.
        option: String,
        /// The problem.
        reason: String,
    },
    /// The token index belongs to another tree.
    #[error("the token index counts {counted} messages, the chain has {messages}")]
    TokenIndex {
        /// The number of messages of the tree.
        messages: usize,
        /// The number of messages of the token index.
        counted: usize,
    },
    /// The prompt of a request cannot be made short enough (CP-25).
    #[error("the shortest prompt costs {needed}, the limit of a prompt is {limit}")]
    PromptTooLong {
        /// The cost of the shortest prompt, in the budget's unit.
        needed: u64,
        /// The limit, in the same unit.
        limit: u64,
    },
    /// No open request has this id (CP-20).
    #[error("no open request has the id {id}")]
    UnknownRequest {
        /// The unknown id.
        id: u32,
    },
    /// The request was already answered (CP-20).
    #[error("request {id} is already answered")]
    AnsweredTwice {
        /// The id of the request.
        id: u32,
    },
    /// The plan was made for another history (CP-61).
    #[error("message {message} does not match the plan")]
    PlanMismatch {
        /// Index of the first message that differs.
        message: usize,
    },
    /// An edit of a plan replaces only a part of the messages of one turn.
    #[error("an edit covers only part of turn {turn}")]
    SplitsTurn {
        /// Index of the turn.
        turn: usize,
    },
    /// The plan was stored without the removed messages, so it cannot be undone.
    #[error("the plan does not contain what it removed")]
    NothingKept,
}

impl Error {
    /// An error for an unknown name of this kind.
    pub(crate) fn unknown(kind: &'static str, name: &str, expected: &str) -> Self {
        let expected = Some(expected.to_owned());
        Error::UnknownName { kind, name: name.to_owned(), expected }
    }

    /// The code of the error, one of [`CODES`].
    fn code(&self) -> &'static str {
        match self {
            Error::BadBudget { .. } => "compact::bad-budget",
            Error::UnknownName { .. } => "compact::unknown-name",
            Error::BadOption { .. } => "compact::bad-option",
            Error::TokenIndex { .. } => "compact::other-index",
            Error::PromptTooLong { .. } => "compact::prompt-too-long",
            Error::UnknownRequest { .. } => "compact::unknown-request",
            Error::AnsweredTwice { .. } => "compact::answered-twice",
            Error::PlanMismatch { .. } => "compact::plan-mismatch",
            Error::SplitsTurn { .. } => "compact::splits-turn",
            Error::NothingKept => "compact::nothing-kept",
        }
    }

    /// The error as a diagnostic, at the message or turn.
    pub fn diagnostic(&self) -> Diagnostic {
        let found = Diagnostic::error(of(self.code()), self.to_string());
        match self {
            Error::PlanMismatch { message } => found.at_message(*message),
            Error::SplitsTurn { turn } => found.at_message(*turn),
            _ => found,
        }
    }
}

/// Why a summary could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct SummaryError {
    /// The reason.
    pub reason: String,
}

impl SummaryError {
    /// An error with this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

impl From<Error> for SummaryError {
    fn from(refused: Error) -> Self {
        SummaryError::new(refused.to_string())
    }
}

/// The diagnostic codes of compaction (CP-5).
pub const CODES: &[CodeInfo] = codes! {
    info "compact::reasoning-dropped" "CP-30" "reasoning of an earlier turn was dropped";
    info "compact::tool-output-pruned" "CP-31" "an old tool output became a placeholder";
    info "compact::tool-use-cleared" "CP-32" "an old tool output or call input was cleared";
    info "compact::tool-output-truncated" "CP-33" "a long tool output was cut to its head and tail";
    info "compact::section-summarized" "CP-34" "the body of a section became a summary";
    info "compact::pair-summarized" "CP-35" "an oversized body pair became a summary";
    info "compact::pairs-summarized" "CP-35, CP-37" "older body pairs of a section became a summary";
    info "compact::sections-merged" "CP-36, CP-37" "older sections became one with a summary";
    info "compact::users-summarized" "CP-36" "merged user messages became a summary";
    info "compact::tool-calls-summarized" "CP-37" "a run of old tool calls became a summary";
    info "compact::goal-batch" "CP-40" "old summarised turns became one";
    info "compact::messages-dropped" "CP-41" "messages outside the window were dropped";
    warning "compact::summary-failed" "CP-23" "a summary failed";
    warning "compact::summary-empty" "CP-23" "a summary was empty";
    warning "compact::summary-not-smaller" "CP-23" "a summary was not smaller than what it would replace";
    warning "compact::summary-unused" "CP-39a" "a summary was not needed: what it would replace fits";
    warning "compact::summary-too-large" "CP-39a" "a summary left no room for what has to stay";
    error "compact::cannot-fit" "CP-14" "the history does not fit the budget";
    error "compact::bad-budget" "CP-10" "a budget is invalid";
    error "compact::unknown-name" "CP-5" "unknown name of a policy, preset, option or counter";
    error "compact::bad-option" "CP-5" "an option has an invalid value";
    error "compact::other-index" "CP-5" "a token index belongs to another history";
    error "compact::prompt-too-long" "CP-25" "the prompt of a summary cannot be made short enough";
    error "compact::unknown-request" "CP-20" "an answer to a request that is not open";
    error "compact::answered-twice" "CP-20" "a second answer to a request";
    error "compact::plan-mismatch" "CP-61" "a plan does not match this history";
    error "compact::splits-turn" "CP-61" "an edit of a plan covers only part of a turn";
    error "compact::nothing-kept" "CP-61" "a plan was stored without what it removed";
};

/// A code of the table.
pub(crate) fn of(code: &'static str) -> Code {
    debug_assert!(CODES.iter().any(|it| it.code == code), "{code} is in the table");
    Code::new(code)
}
