//! `summarize-threshold` (CP-38): the older half, again and again, while the chain is above a share
//! of the limit.

use serde::{Deserialize, Serialize};

use super::{PREFIX_SUMMARIZED, Policy, Progress, split::Split};
use crate::state::{ChainState, Form, Replaced, SummaryKind};

/// Summarises the older half while the total is above a share of the limit (CP-38).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SummarizeThreshold {
    /// The share of the limit.
    pub percent: u64,
    /// Chains with fewer messages, the system message aside, stay.
    pub min_messages: u64,
}

impl Default for SummarizeThreshold {
    fn default() -> Self {
        Self { percent: 80, min_messages: 4 }
    }
}

/// How often it splits in one run.
const MAX_STEPS: u32 = 8;

impl Policy for SummarizeThreshold {
    fn name(&self) -> &'static str {
        "summarize-threshold"
    }

    fn config(&self) -> serde_json::Value {
        serde_json::json!(self)
    }

    fn step(&self, at: u32, chain: &mut ChainState<'_>) -> Progress {
        let goes_on = at < MAX_STEPS && (at == 0 || chain.accepted() > 0) && self.above(chain);
        let Some(split) = goes_on.then(|| best_split(chain)).flatten() else {
            return Progress::Done;
        };
        let kind = SummaryKind {
            code: "compact::sections-merged",
            form: Form::Text,
            prefix: PREFIX_SUMMARIZED,
        };
        split.request(chain, kind);
        Progress::Requested
    }

    fn max_requests(&self, _sections: usize, _pairs: usize) -> usize {
        2 * MAX_STEPS as usize
    }
}

impl SummarizeThreshold {
    fn above(&self, chain: &ChainState<'_>) -> bool {
        let n = chain.n_without_system() as u64;
        let Some(limits) = chain.measure.limits else { return false };
        let total = u128::from(chain.total()) * 100;
        total >= u128::from(self.percent) * u128::from(limits.limit) && n >= self.min_messages
    }
}

/// Of the legal cuts where a split has something to ask, the last in the older half, else the first
/// behind it.
fn best_split(chain: &ChainState<'_>) -> Option<Split> {
    let half = chain.n_without_system() / 2;
    let mut best = None;
    let mut offer = |place: usize, split: Split| {
        if place <= half || best.is_none() {
            best = Some(split);
        }
    };
    let mut place = 0;
    let mut before = Replaced::default();
    for (section, state) in chain.sections.iter().enumerate() {
        if section > 0 && state.cut && before.has_request() {
            offer(place, Split { section, pair: 0 });
        }
        place += usize::from(state.user.is_some());
        let mut inside = Replaced::default();
        for (pair, it) in chain.pairs_of(state).iter().enumerate() {
            if pair > 0 && it.cut && (before.has_request() || inside.has_request()) {
                offer(place, Split { section, pair });
            }
            inside.add_pair(chain, state, it);
            place += it.len();
        }
        before.add_section(chain, state);
    }
    best
}
