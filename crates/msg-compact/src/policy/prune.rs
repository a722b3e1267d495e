//! `prune-tool-outputs` (CP-31): old outputs become a placeholder, the newest keep their text.

use serde::{Deserialize, Serialize};

use super::{
    Policy, Progress,
    placeholder::{Enough, PRUNED, Placeholder},
};
use crate::{
    budget::share,
    state::{ChainState, ToolOutput},
};

/// Replaces old tool outputs by a placeholder (CP-31).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PruneToolOutputs {
    /// Turns at the end whose outputs are safe.
    pub protect_turns: u64,
    /// The newest outputs that cost this much together stay.
    pub protect: Amount,
    /// Nothing is done for less than this.
    pub minimum: Amount,
    /// Tools whose outputs stay and do not count.
    pub protected_tools: Vec<String>,
    /// What takes the place of an output.
    pub placeholder: String,
    /// Whether pruning ends, oldest output first, as soon as the chain is at its target.
    pub stop_at_target: bool,
}

/// An amount in the budget's unit, or a share of the budget's target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Amount {
    /// This much.
    Fixed(u64),
    /// This percentage of the target; 0 without a budget.
    ShareOfTarget {
        /// The percentage.
        percent: u64,
    },
}

impl Amount {
    fn of(self, chain: &ChainState<'_>) -> u64 {
        match self {
            Amount::Fixed(amount) => amount,
            Amount::ShareOfTarget { percent } => share(chain.target().unwrap_or_default(), percent),
        }
    }
}

impl Default for PruneToolOutputs {
    fn default() -> Self {
        Self {
            protect_turns: 2,
            protect: Amount::Fixed(40_000),
            minimum: Amount::Fixed(20_000),
            protected_tools: Vec::new(),
            placeholder: PRUNED.to_owned(),
            stop_at_target: false,
        }
    }
}

impl Policy for PruneToolOutputs {
    fn name(&self) -> &'static str {
        "prune-tool-outputs"
    }

    fn config(&self) -> serde_json::Value {
        serde_json::json!(self)
    }

    fn step(&self, _at: u32, chain: &mut ChainState<'_>) -> Progress {
        let placeholder = Placeholder::new(chain, &self.placeholder);
        let prunable = self.prunable(chain, &placeholder);
        let cost: u64 = prunable.iter().map(|it| it.cost).sum();
        if cost >= self.minimum.of(chain) {
            let enough = Enough::of(self.stop_at_target);
            placeholder.replace(chain, &prunable, "compact::tool-output-pruned", enough);
        }
        Progress::Done
    }
}

impl PruneToolOutputs {
    /// The outputs to prune, oldest first.
    fn prunable(&self, chain: &ChainState<'_>, placeholder: &Placeholder) -> Vec<ToolOutput> {
        let (first_safe, protect) = (self.first_safe(chain), self.protect.of(chain));
        let mut outputs = chain.outputs();
        outputs.retain(|it| {
            (it.section, it.pair) < first_safe
                && placeholder.may_replace(chain, it, &self.protected_tools)
        });
        let mut sum = 0u64;
        let newest_kept = outputs.iter().rev().take_while(|it| {
            sum += it.cost;
            sum <= protect
        });
        outputs.truncate(outputs.len() - newest_kept.count());
        outputs
    }

    /// The first section and pair that are safe: of the last turns, or, in a chain with no more
    /// turns than that, the newest pairs.
    fn first_safe(&self, chain: &ChainState<'_>) -> (usize, usize) {
        let turns = usize::try_from(self.protect_turns).unwrap_or(usize::MAX);
        let n = chain.sections();
        if n > turns {
            return (n - turns, 0);
        }
        let pairs = (0..n)
            .rev()
            .flat_map(|section| (0..chain.pairs(section)).rev().map(move |pair| (section, pair)));
        pairs.take(turns.max(1)).last().unwrap_or((n, 0))
    }
}
