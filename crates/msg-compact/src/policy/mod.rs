//! The policies: each one cuts a history down in one way. A policy decides; the chain state carries it out. This file
//! defines what a policy is and reads policies by their JSON names.
//!
//! ```text
//! prune       tool(4 KB)           ─▶ tool(placeholder)
//! sections    user, pair, pair     ─▶ user, summary
//! window      sections 0, 1, 2, 3  ─▶ sections 2, 3
//! ```

mod history;
mod outputs;
mod pairs;
mod trim;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{Error, pipeline::When, state::ChainState};

pub use history::{GoalBatch, HistoryKeep, SummarizeHistory};
pub use outputs::{Amount, ClearToolUses, PruneToolOutputs, TruncateToolOutput};
pub(crate) use pairs::of_pairs;
pub use pairs::{SummarizeQaPairs, SummarizeSections, SummarizeThreshold, SummarizeToolCalls};
pub use trim::{DropReasoning, RotateLastSection, SlidingWindow};

/// The prefix of most summaries (CP-21).
pub(crate) const PREFIX_CONTENT: &str = "**summarized content:**\n";
/// The prefix of summaries of tool calls and of old halves (CP-37, CP-38).
pub(crate) const PREFIX_SUMMARIZED: &str = "[SUMMARIZED] ";
/// The prefix of summaries of several turns (CP-40).
pub(crate) const PREFIX_GOALS: &str = "[GOAL BATCH]\n";
/// The prefix of summaries of the history (CP-39).
pub(crate) const PREFIX_HISTORY: &str = "[Conversation History Summary]\n\n";

// What a policy is.

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
    /// pairs; 0 for a policy that requests no summaries.
    fn max_requests(&self, sections: usize, pairs: usize) -> usize {
        let _ = (sections, pairs);
        0
    }

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

// Policies by their JSON names, for programs and configurations.

/// Reads `{"policy":NAME,"when":"over|always",…options}` (section 4 of the page).
///
/// # Errors
/// No object, no policy of this name, an option that it does not have, or a value that the option
/// cannot have.
///
/// ```
/// use msg_compact::policy::from_json;
///
/// let (policy, when) = from_json(&serde_json::json!({"policy": "clear-tool-uses", "keep": 5}))?;
/// assert_eq!((policy.name(), when), ("clear-tool-uses", None));
/// assert!(from_json(&serde_json::json!({"policy": "forget"})).is_err());
/// # Ok::<(), msg_compact::Error>(())
/// ```
pub fn from_json(value: &Value) -> Result<(Box<dyn Policy>, Option<When>), Error> {
    let bad = |reason: &str| Error::BadOption { option: "policies".into(), reason: reason.into() };
    let mut options = value.as_object().ok_or_else(|| bad("expected an object"))?.clone();
    let name = match options.remove("policy") {
        Some(Value::String(name)) => name,
        _ => return Err(bad("expected the name of a policy in \"policy\"")),
    };
    let when = options.remove("when").map(|it| When::from_json(&it)).transpose()?;
    Ok((named(&name, options)?, when))
}

const NAMES: &str = "drop-reasoning, prune-tool-outputs, clear-tool-uses, truncate-tool-output, \
    summarize-sections, rotate-last-section, summarize-qa-pairs, summarize-tool-calls, \
    summarize-threshold, summarize-history, goal-batch or sliding-window";

fn named(name: &str, options: Map<String, Value>) -> Result<Box<dyn Policy>, Error> {
    Ok(match name {
        "drop-reasoning" => read::<DropReasoning>(name, options)?,
        "prune-tool-outputs" => read::<PruneToolOutputs>(name, options)?,
        "clear-tool-uses" => read::<ClearToolUses>(name, options)?,
        "truncate-tool-output" => read::<TruncateToolOutput>(name, options)?,
        "summarize-sections" => read::<SummarizeSections>(name, options)?,
        "rotate-last-section" => read::<RotateLastSection>(name, options)?,
        "summarize-qa-pairs" => read::<SummarizeQaPairs>(name, options)?,
        "summarize-tool-calls" => read::<SummarizeToolCalls>(name, options)?,
        "summarize-threshold" => read::<SummarizeThreshold>(name, options)?,
        "summarize-history" => read::<SummarizeHistory>(name, options)?,
        "goal-batch" => read::<GoalBatch>(name, options)?,
        "sliding-window" => read::<SlidingWindow>(name, options)?,
        _ => return Err(Error::unknown("policy", name, NAMES)),
    })
}

fn read<P: Policy + DeserializeOwned + 'static>(
    name: &str,
    options: Map<String, Value>,
) -> Result<Box<dyn Policy>, Error> {
    match serde_json::from_value::<P>(Value::Object(options)) {
        Ok(policy) => Ok(Box::new(policy)),
        Err(it) => Err(Error::BadOption { option: name.to_owned(), reason: it.to_string() }),
    }
}
