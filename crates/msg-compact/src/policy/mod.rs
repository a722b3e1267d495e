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

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Error;
use crate::budget::share;
use crate::outcome::EditKind;
use crate::pipeline::When;
use crate::state::{ChainState, Form, Item, SummaryKind};
use crate::token_index::Cost;

pub use history::{GoalBatch, HistoryKeep, SummarizeHistory};
pub use outputs::{Amount, ClearToolUses, PruneToolOutputs, TruncateToolOutput};
pub(crate) use pairs::of_pairs;
pub use pairs::{SummarizeQaPairs, SummarizeSections, SummarizeThreshold, SummarizeToolCalls};

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

// Policies that drop or fold what is oldest: the sliding window (CP-41), the rotation of the last section (CP-35), and
// reasoning of earlier turns (CP-30).

/// Keeps the newest units that fit the target and drops the rest, with a note in their place
/// (CP-41).
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlidingWindow {}

impl SlidingWindow {
    pub(crate) const NAME: &'static str = "sliding-window";
}

impl Policy for SlidingWindow {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn config(&self) -> serde_json::Value {
        serde_json::json!(self)
    }

    fn step(&self, _at: u32, chain: &mut ChainState<'_>) -> Progress {
        chain.slide_window();
        Progress::Done
    }
}

// `rotate-last-section` (CP-35): oversized pairs, then the older part of long sections, become
// summaries.

/// Keeps the last sections within a size (CP-35). All sizes are bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RotateLastSection {
    /// Bytes that a section may have.
    pub last_sec_bytes: u64,
    /// Bytes that a body pair may have.
    pub max_bp_bytes: u64,
    /// Share of `last_sec_bytes` that is freed when a section is over it.
    pub reserve_percent: u64,
    /// Sections at the end that are kept within their size; at least 1.
    pub keep: u64,
}

impl Default for RotateLastSection {
    fn default() -> Self {
        Self { last_sec_bytes: 51_200, max_bp_bytes: 16_384, reserve_percent: 25, keep: 1 }
    }
}

impl Policy for RotateLastSection {
    fn name(&self) -> &'static str {
        "rotate-last-section"
    }

    fn config(&self) -> serde_json::Value {
        serde_json::json!(self)
    }

    fn step(&self, at: u32, chain: &mut ChainState<'_>) -> Progress {
        let keep = usize::try_from(self.keep.max(1)).unwrap_or(usize::MAX);
        let sections = chain.sections().saturating_sub(keep)..chain.sections();
        match at {
            0 => sections.for_each(|it| self.ask_oversized(chain, it)),
            1 => sections.for_each(|it| self.ask_older(chain, it)),
            _ => return Progress::Done,
        }
        Progress::Requested
    }

    fn max_requests(&self, sections: usize, pairs: usize) -> usize {
        sections + pairs
    }
}

impl RotateLastSection {
    /// Step 1: each pair but the last that is too large by itself.
    fn ask_oversized(&self, chain: &mut ChainState<'_>, section: usize) {
        let kind = SummaryKind::content("compact::pair-summarized", Form::Auto);
        for pair in 0..chain.pairs(section).saturating_sub(1) {
            let state = &chain.pairs_of(&chain.sections[section])[pair];
            if state.cost.bytes > self.max_bp_bytes {
                chain.open_pairs(kind, section, pair..pair + 1, true);
            }
        }
    }

    /// Step 2: what does not fit beside header and last pair.
    fn ask_older(&self, chain: &mut ChainState<'_>, section: usize) {
        let state = &chain.sections[section];
        if chain.cost_of_section(state).bytes > self.last_sec_bytes {
            let end = self.first_kept(chain, section);
            chain.open_pairs(
                SummaryKind::content("compact::pairs-summarized", Form::Auto),
                section,
                0..end,
                true,
            );
        }
    }

    /// The first pair that stays: the oldest of the newest ones that fit.
    fn first_kept(&self, chain: &ChainState<'_>, section: usize) -> usize {
        let state = &chain.sections[section];
        let room = share(self.last_sec_bytes, 100u64.saturating_sub(self.reserve_percent));
        let Some((last, older)) = chain.pairs_of(state).split_last() else { return 0 };
        let header = chain.cost_at(state.system) + chain.cost_at(state.user);
        let mut sum = (header + last.cost).bytes;
        for (number, pair) in older.iter().enumerate().rev() {
            sum += pair.cost.bytes;
            if sum > room {
                return number + 1;
            }
        }
        0
    }
}

// `drop-reasoning` (CP-30): thoughts and signatures of earlier turns.

/// Takes reasoning and call signatures out of all turns but the last ones (CP-30).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DropReasoning {
    /// Turns that keep theirs; at least 1.
    pub keep_turns: u64,
    /// Whether no more is dropped than the target asks for, oldest reasoning first.
    pub stop_at_target: bool,
}

impl Default for DropReasoning {
    fn default() -> Self {
        Self { keep_turns: 1, stop_at_target: false }
    }
}

impl Policy for DropReasoning {
    fn name(&self) -> &'static str {
        "drop-reasoning"
    }

    fn config(&self) -> serde_json::Value {
        serde_json::json!(self)
    }

    fn step(&self, _at: u32, chain: &mut ChainState<'_>) -> Progress {
        let keep = usize::try_from(self.keep_turns.max(1)).unwrap_or(usize::MAX);
        let old = chain.sections.len().saturating_sub(keep).min(chain.forms.signed_from);
        let found: Vec<Found> = (0..old)
            .filter(|it| !chain.sections[*it].pinned)
            .flat_map(|section| (0..chain.pairs(section)).map(move |pair| (section, pair)))
            .filter_map(|(section, pair)| {
                let cost = chain.cost_without_reasoning(section, pair)?;
                Some(Found { section, pair, cost })
            })
            .collect();
        if !found.iter().any(|it| it.saves(chain)) {
            return Progress::Done;
        }
        for it in &found {
            if self.stop_at_target && chain.is_at_target() {
                break;
            }
            let Some(before) = chain.before(it.section, it.pair, 0) else { continue };
            chain.replace_without_reasoning(it.section, it.pair, it.cost);
            match self.stop_at_target {
                true => chain.note_reduced(before, EditKind::ReasoningDropped),
                false => chain.note(before.1.input, EditKind::ReasoningDropped),
            }
        }
        if self.stop_at_target {
            chain.put_back_reduced();
        }
        Progress::Done
    }
}

/// A pair whose assistant message has reasoning.
struct Found {
    section: usize,
    pair: usize,
    /// What the message costs without it.
    cost: Cost,
}

impl Found {
    fn assistant(&self, chain: &ChainState<'_>) -> Item {
        let state = &chain.sections[self.section];
        *chain.assistant(&chain.pairs_of(state)[self.pair])
    }

    fn saves(&self, chain: &ChainState<'_>) -> bool {
        chain.measure.unit.of(self.cost) < chain.measure.unit.of(self.assistant(chain).cost)
    }
}
