//! `clear-tool-uses` (CP-32): all outputs but the last few, as Anthropic's context editing does.

use serde::{Deserialize, Serialize};

use super::{
    Policy, Progress,
    placeholder::{CLEARED, Enough, Placeholder},
};
use crate::{
    outcome::EditKind,
    state::{ChainState, Change, ToolOutput},
};

/// Clears all tool outputs but the last ones (CP-32).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClearToolUses {
    /// Outputs at the end that stay, counted one by one.
    pub keep: u64,
    /// Tools whose outputs stay.
    pub exclude_tools: Vec<String>,
    /// Nothing is done unless this much is saved.
    pub clear_at_least: u64,
    /// Whether the arguments of the cleared calls go too.
    pub clear_inputs: bool,
    /// What takes the place of an output.
    pub placeholder: String,
    /// Whether clearing ends, oldest output first, as soon as the chain is at its target.
    pub stop_at_target: bool,
}

impl Default for ClearToolUses {
    fn default() -> Self {
        Self {
            keep: 3,
            exclude_tools: Vec::new(),
            clear_at_least: 0,
            clear_inputs: false,
            placeholder: CLEARED.to_owned(),
            stop_at_target: false,
        }
    }
}

impl Policy for ClearToolUses {
    fn name(&self) -> &'static str {
        "clear-tool-uses"
    }

    fn config(&self) -> serde_json::Value {
        serde_json::json!(self)
    }

    fn step(&self, _at: u32, chain: &mut ChainState<'_>) -> Progress {
        let placeholder = Placeholder::new(chain, &self.placeholder);
        let mut outputs = chain.outputs();
        let keep = usize::try_from(self.keep).unwrap_or(usize::MAX);
        outputs.truncate(outputs.len().saturating_sub(keep));
        outputs.retain(|it| placeholder.may_replace(chain, it, &self.exclude_tools));
        let saved: u64 = outputs.iter().map(|it| it.cost - placeholder.cost).sum();
        if outputs.is_empty() || saved < self.clear_at_least {
            return Progress::Done;
        }
        let enough = Enough::of(self.stop_at_target);
        let cleared = placeholder.replace(chain, &outputs, "compact::tool-use-cleared", enough);
        let cleared = &outputs[..cleared];
        let inputs = if self.clear_inputs { calls_of(chain, cleared) } else { Vec::new() };
        inputs.into_iter().for_each(|it| clear_inputs(chain, &it));
        Progress::Done
    }
}

/// The calls of one pair whose outputs are cleared.
struct Inputs {
    section: usize,
    pair: usize,
    ids: Vec<String>,
}

fn calls_of(chain: &ChainState<'_>, outputs: &[ToolOutput]) -> Vec<Inputs> {
    let same_pair = |a: &ToolOutput, b: &ToolOutput| (a.section, a.pair) == (b.section, b.pair);
    let ids = |group: &[ToolOutput]| {
        group.iter().filter_map(|it| chain.output(it)).map(|it| it.call_id.clone()).collect()
    };
    outputs
        .chunk_by(same_pair)
        .map(|it| Inputs { section: it[0].section, pair: it[0].pair, ids: ids(it) })
        .collect()
}

fn clear_inputs(chain: &mut ChainState<'_>, inputs: &Inputs) {
    let Inputs { section, pair, ids } = inputs;
    let Some(message) = chain.without_inputs(*section, *pair, ids) else { return };
    let cost = chain.cost_of(&message);
    if chain.replace_if_smaller(*section, *pair, 0, (Change::New(message.into()), cost)) {
        let state = &chain.sections[*section];
        let input = chain.assistant(&chain.pairs_of(state)[*pair]).input;
        chain.note(input, EditKind::InputsCleared);
    }
}
