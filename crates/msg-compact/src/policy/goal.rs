//! `goal-batch` (CP-40): old turns that are summaries already become one, several at a time.

use std::ops::Range;

use msg_chainast::BodyPairKind;
use serde::{Deserialize, Serialize};

use super::{PREFIX_GOALS, Policy, Progress};
use crate::state::{ChainState, Form, Merge, PairState, SectionState, SummaryKind};

/// Merges old, summarised turns into batches (CP-40).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GoalBatch {
    /// Messages at the end that are not old.
    pub old_after: u64,
    /// Turns that a batch has at least.
    pub min_turns: u64,
    /// Turns that a batch has at most; at least 1.
    pub max_turns: u64,
}

impl Default for GoalBatch {
    fn default() -> Self {
        Self { old_after: 20, min_turns: 3, max_turns: 6 }
    }
}

impl Policy for GoalBatch {
    fn name(&self) -> &'static str {
        "goal-batch"
    }

    fn config(&self) -> serde_json::Value {
        serde_json::json!(self)
    }

    fn step(&self, at: u32, chain: &mut ChainState<'_>) -> Progress {
        if at > 0 {
            return Progress::Done;
        }
        let kind =
            SummaryKind { code: "compact::goal-batch", form: Form::Text, prefix: PREFIX_GOALS };
        for batch in self.batches(chain) {
            chain.open_sections(kind, batch, Merge::FirstUser);
        }
        Progress::Requested
    }

    fn max_requests(&self, sections: usize, _pairs: usize) -> usize {
        sections
    }
}

impl GoalBatch {
    fn batches(&self, chain: &ChainState<'_>) -> Vec<Range<usize>> {
        let complete = self.complete_turns(chain);
        let max = usize::try_from(self.max_turns.max(1)).unwrap_or(usize::MAX);
        let runs = complete.chunk_by(|a, b| a + 1 == *b);
        runs.flat_map(|it| it.chunks(max))
            .filter(|it| it.len() as u64 >= self.min_turns)
            .map(|it| it[0]..it[it.len() - 1] + 1)
            .collect()
    }

    fn complete_turns(&self, chain: &ChainState<'_>) -> Vec<usize> {
        let old = (chain.n_without_system() as u64).saturating_sub(self.old_after);
        let mut place = 0u64;
        let mut complete = Vec::new();
        let last = chain.sections().saturating_sub(1);
        for (number, state) in chain.sections[..last].iter().enumerate() {
            place += chain.len_without_system(state) as u64;
            if place <= old && !state.pinned && is_complete(chain, state) {
                complete.push(number);
            }
        }
        complete
    }
}

/// A turn with a user whose body is done with: no calls, no batch, and a summary at least.
fn is_complete(chain: &ChainState<'_>, state: &SectionState) -> bool {
    let pairs = chain.pairs_of(state);
    let blocks = |it: &PairState| match chain.kind(it) {
        BodyPairKind::RequestResponse => true,
        BodyPairKind::Completion => chain.first_text(it).starts_with(PREFIX_GOALS),
        BodyPairKind::Summarization => false,
    };
    state.user.is_some() && !pairs.iter().any(blocks) && pairs.iter().any(|it| chain.is_summary(it))
}
