//! The policies (section 4 of the page): each one a way of cutting a history down, in a file of its
//! own. A policy decides; the chain state does.
//!
//! ```text
//! prune       tool(4 KB)           ─▶ tool(placeholder)
//! sections    user, pair, pair     ─▶ user, summary
//! window      sections 0, 1, 2, 3  ─▶ sections 2, 3
//! ```

mod clear;
pub(crate) mod contract;
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
pub(crate) use contract::{Policy, Progress};
pub use goal::GoalBatch;
pub use history::{HistoryKeep, SummarizeHistory};
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

/// The prefix of most summaries (CP-21).
pub(crate) const PREFIX_CONTENT: &str = "**summarized content:**\n";
/// The prefix of summaries of tool calls and of old halves (CP-37, CP-38).
pub(crate) const PREFIX_SUMMARIZED: &str = "[SUMMARIZED] ";
/// The prefix of summaries of several turns (CP-40).
pub(crate) const PREFIX_GOALS: &str = "[GOAL BATCH]\n";
/// The prefix of summaries of the history (CP-39).
pub(crate) const PREFIX_HISTORY: &str = "[Conversation History Summary]\n\n";
