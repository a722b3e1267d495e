//! From the file to the messages that a model gets (MF-27 to MF-33).
//!
//! ```text
//! # %% Question      ─▶ user: What is 2 + 2?
//! ## %%% [bot]        ─▶ assistant: 4
//! text behind the record's section ─▶ nothing
//! ```

mod answers;
pub(crate) mod arguments;
mod blocks;
mod project;
pub(crate) mod record_end;
mod turns;

use crate::model::cell::Cell;
use crate::model::content::{self, Encoding};
use msg_core::Message;
pub(crate) use project::{messages, project};
use serde::Deserialize;

/// How a history is made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HistoryOptions {
    /// Who shall answer; else the last message's addressee, else the default (MF-28).
    pub agent: Option<String>,
    /// Leave calls at the end unanswered where they have no result (MF-30).
    pub open: bool,
}

impl HistoryOptions {
    /// This agent shall answer.
    #[must_use]
    pub fn with_agent(mut self, agent: impl Into<String>) -> Self {
        self.agent = Some(agent.into());
        self
    }

    /// Calls at the end stay unanswered where they have no result.
    #[must_use]
    pub fn with_open_end(mut self) -> Self {
        self.open = true;
        self
    }
}

/// The messages for a model, and where each comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// Who shall answer.
    pub agent: Option<String>,
    /// What is sent.
    pub messages: Vec<Message>,
    /// Ordinals of the cells of each message.
    pub sources: Vec<Vec<usize>>,
}

impl History {
    /// Content of a result that is kept private while its call is sent (MF-30).
    pub const OMITTED_RESULT: &str = "this result is not part of the history";

    /// What a summary of several cells begins with (MF-33).
    pub const SUMMARY_PREFIX: &str = "Summary of earlier messages:\n\n";
}

/// The first paragraph of a cell; of base64 data what stands for it (MF-20).
pub(crate) fn first_paragraph(cell: &Cell) -> String {
    use crate::model::kinds::CellKind::{ExecDisplay, ExecOutput, ToolResult};
    let output = matches!(cell.kind, ExecDisplay(_) | ExecOutput(_) | ToolResult(_));
    if output && cell.encoding() == Encoding::Base64 {
        return blocks::bracket(cell);
    }
    String::from_utf8_lossy(content::first_paragraph(&cell.body())).into_owned()
}
