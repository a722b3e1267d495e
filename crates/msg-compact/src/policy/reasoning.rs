//! `drop-reasoning` (CP-30): thoughts and signatures of earlier turns.

use serde::{Deserialize, Serialize};

use super::{Policy, Progress};
use crate::{
    outcome::EditKind,
    state::{ChainState, Item},
    token_index::Cost,
};

/// Takes reasoning and call signatures out of all turns but the last ones (CP-30).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DropReasoning {
    /// Turns that keep theirs; at least 1.
    pub keep_turns: u64,
}

impl Default for DropReasoning {
    fn default() -> Self {
        Self { keep_turns: 1 }
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
        if found.iter().any(|it| it.saves(chain)) {
            found.iter().for_each(|it| it.drop_from(chain));
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

    fn drop_from(&self, chain: &mut ChainState<'_>) {
        let input = self.assistant(chain).input;
        chain.replace_without_reasoning(self.section, self.pair, self.cost);
        chain.note(input, EditKind::ReasoningDropped);
    }
}
