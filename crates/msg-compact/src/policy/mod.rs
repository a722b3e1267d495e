//! The policies (section 4 of the page): each one a way of cutting a history down, in a file of its
//! own. A policy decides; the chain state does.

mod clear;
mod goal;
mod history;
mod names;
mod placeholder;
mod prune;
mod qa;
mod reasoning;
mod rotate;
mod sections;
mod split;
mod threshold;
mod tool_calls;
mod truncate;
mod window;

pub use clear::ClearToolUses;
pub use goal::GoalBatch;
pub use history::{HistoryForm, HistoryKeep, SummarizeHistory};
pub use names::from_json;
pub use prune::{Amount, PruneToolOutputs};
pub use qa::SummarizeQaPairs;
pub use reasoning::DropReasoning;
pub use rotate::RotateLastSection;
pub use sections::SummarizeSections;
pub use threshold::SummarizeThreshold;
pub use tool_calls::SummarizeToolCalls;
pub use truncate::TruncateToolOutput;
pub use window::SlidingWindow;

use crate::state::ChainState;

/// A way of cutting a history down. Users may add their own.
pub trait Policy: Send + Sync {
    /// Its name in JSON, records and requests.
    fn name(&self) -> &'static str;

    /// Its options, for records.
    fn config(&self) -> serde_json::Value;

    /// One step of it: 0 first; the next one once all that the step before asked is answered and
    /// applied. Must come to [`Progress::Done`] after a number of steps that does not depend on
    /// the answers.
    fn step(&self, at: u32, chain: &mut ChainState<'_>) -> Progress;

    /// The most summaries that one run of it can ask for, of a chain with so many sections and
    /// pairs.
    fn max_requests(&self, sections: usize, pairs: usize) -> usize;

    /// Whether it may change what the floor of CP-14 counts, so that a budget below the floor is
    /// not hopeless.
    fn lowers_floor(&self) -> bool {
        false
    }
}

/// What a policy's step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The policy has done what it can.
    Done,
    /// It may have asked for summaries and wants to be called again when the answers are in.
    Requested,
}

/// The prefix of most summaries (CP-21).
pub(crate) const PREFIX_CONTENT: &str = "**summarized content:**\n";
/// The prefix of summaries of tool calls and of old halves (CP-37, CP-38).
pub(crate) const PREFIX_SUMMARIZED: &str = "[SUMMARIZED] ";
/// The prefix of summaries of several turns (CP-40).
pub(crate) const PREFIX_GOALS: &str = "[GOAL BATCH]\n";
/// The prefix of summaries of the history (CP-39).
pub(crate) const PREFIX_HISTORY: &str = "[Conversation History Summary]\n\n";
