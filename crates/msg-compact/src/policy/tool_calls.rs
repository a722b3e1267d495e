//! `summarize-tool-calls` (CP-37): runs of old calls become one text each.

use std::ops::Range;

use msg_chainast::BodyPairKind;
use serde::{Deserialize, Serialize};

use super::{PREFIX_SUMMARIZED, Policy, Progress};
use crate::state::{ChainState, Form, SummaryKind};

/// Summarises runs of old tool calls, when there are enough of them or one is old enough (CP-37).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SummarizeToolCalls {
    /// Messages at the end that are not old.
    pub old_after: u64,
    /// Old calls that are enough.
    pub min_calls: u64,
    /// Messages to the end from the oldest call that are enough.
    pub max_distance: u64,
}

impl Default for SummarizeToolCalls {
    fn default() -> Self {
        Self { old_after: 20, min_calls: 10, max_distance: 40 }
    }
}

/// A pair that may be summarised.
struct Eligible {
    section: usize,
    pair: usize,
    /// Place of its first message among those that are no system message.
    first: u64,
    calls: u64,
}

impl Policy for SummarizeToolCalls {
    fn name(&self) -> &'static str {
        "summarize-tool-calls"
    }

    fn config(&self) -> serde_json::Value {
        serde_json::json!(self)
    }

    fn step(&self, at: u32, chain: &mut ChainState<'_>) -> Progress {
        if at > 0 {
            return Progress::Done;
        }
        let n = chain.n_without_system() as u64;
        let eligible = self.eligible(chain, n);
        let calls: u64 = eligible.iter().map(|it| it.calls).sum();
        let distance = eligible.first().map_or(0, |it| n - it.first);
        if eligible.is_empty() || calls < self.min_calls && distance < self.max_distance {
            return Progress::Done;
        }
        let kind = SummaryKind {
            code: "compact::tool-calls-summarized",
            form: Form::Text,
            prefix: PREFIX_SUMMARIZED,
        };
        let last = chain.sections() - 1;
        for (section, run) in runs(&eligible) {
            chain.open_pairs(kind, section, run, section == last);
        }
        Progress::Requested
    }

    fn max_requests(&self, _sections: usize, pairs: usize) -> usize {
        pairs
    }
}

impl SummarizeToolCalls {
    fn eligible(&self, chain: &ChainState<'_>, n: u64) -> Vec<Eligible> {
        let old = n.saturating_sub(self.old_after);
        let mut eligible = Vec::new();
        let mut place = 0u64;
        for (section, state) in chain.sections.iter().enumerate() {
            place += u64::from(state.user.is_some());
            let pairs = chain.pairs_of(state);
            for (pair, it) in pairs.iter().enumerate() {
                let first = place;
                place += it.len() as u64;
                let is_open = place <= old
                    && pair + 1 < pairs.len()
                    && !chain.locked(section, pair)
                    && chain.kind(it) == BodyPairKind::RequestResponse;
                if is_open {
                    let calls = chain.unreduced(chain.assistant(it)).tool_calls().count() as u64;
                    eligible.push(Eligible { section, pair, first, calls });
                }
            }
        }
        eligible
    }
}

/// Runs of neighbouring pairs of one section.
fn runs(eligible: &[Eligible]) -> impl Iterator<Item = (usize, Range<usize>)> {
    eligible
        .chunk_by(|a, b| a.section == b.section && a.pair + 1 == b.pair)
        .map(|it| (it[0].section, it[0].pair..it[it.len() - 1].pair + 1))
}
