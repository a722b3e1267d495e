//! `drop-reasoning` (CP-30): thoughts and signatures of earlier turns.

use msg_core::{Diagnostic, Message};
use serde::{Deserialize, Serialize};

use super::{Policy, Progress};
use crate::{bench::Workbench, codes};

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
        let old = bench.sections.len().saturating_sub(keep);
        let found: Vec<_> = (0..old)
            .filter(|it| !bench.sections[*it].pinned)
            .flat_map(|section| (0..bench.pairs(section)).map(move |pair| (section, pair)))
            .filter_map(|at| bench.without_reasoning(at.0, at.1).map(|it| (at, it)))
            .collect();
        if saves(bench, &found) {
            for ((section, pair), message) in found {
                drop_from(bench, section, pair, message);
            }
        }
        Progress::Done
    }

    fn max_requests(&self, _sections: usize, _pairs: usize) -> usize {
        0
    }
}

/// Whether all these changes together lower the cost.
fn saves(bench: &Workbench<'_>, found: &[((usize, usize), Message)]) -> bool {
    found.iter().any(|((section, pair), message)| {
        let old = bench.sections[*section].pairs[*pair].items[0].cost;
        bench.unit.of(bench.cost_of(message)) < bench.unit.of(old)
    })
}

fn drop_from(bench: &mut Workbench<'_>, section: usize, pair: usize, message: Message) {
    let item = &bench.sections[section].pairs[pair].items[0];
    let input = item.input;
    let new = bench.made(message, input);
    let (old_cost, new_cost) = (item.cost, new.cost);
    bench.sections[section].pairs[pair].items[0] = new;
    bench.sum = bench.sum - old_cost + new_cost;
    let edit = Diagnostic::info(
        codes::of("compact::reasoning-dropped"),
        "reasoning of an earlier turn was dropped",
    )
    .at_message(input as usize)
    .with_fix("removed reasoning parts and call signatures");
    bench.note(edit);
}
