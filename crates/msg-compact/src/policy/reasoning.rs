//! `drop-reasoning` (CP-30): thoughts and signatures of earlier turns.

use serde::{Deserialize, Serialize};

use super::{Policy, Progress};
use crate::{
    bench::{Item, Workbench},
    outcome::EditKind,
    tally::Cost,
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

    fn step(&self, _at: u32, bench: &mut Workbench<'_>) -> Progress {
        let keep = usize::try_from(self.keep_turns.max(1)).unwrap_or(usize::MAX);
        let old = bench.sections.len().saturating_sub(keep).min(bench.signed_from);
        let found: Vec<Found> = (0..old)
            .filter(|it| !bench.sections[*it].pinned)
            .flat_map(|section| (0..bench.pairs(section)).map(move |pair| (section, pair)))
            .filter_map(|(section, pair)| {
                let cost = bench.cost_without_reasoning(section, pair)?;
                Some(Found { section, pair, cost })
            })
            .collect();
        if found.iter().any(|it| it.saves(bench)) {
            found.iter().for_each(|it| it.drop_from(bench));
        }
        Progress::Done
    }

    fn max_requests(&self, _sections: usize, _pairs: usize) -> usize {
        0
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
    fn assistant(&self, bench: &Workbench<'_>) -> Item {
        let state = &bench.sections[self.section];
        *bench.assistant(&bench.pairs_of(state)[self.pair])
    }

    fn saves(&self, bench: &Workbench<'_>) -> bool {
        bench.unit.of(self.cost) < bench.unit.of(self.assistant(bench).cost)
    }

    fn drop_from(&self, bench: &mut Workbench<'_>) {
        let input = self.assistant(bench).input;
        bench.put_without_reasoning(self.section, self.pair, self.cost);
        bench.note(input, EditKind::ReasoningDropped);
    }
}
