//! `clear-tool-uses` (CP-32): all outputs but the last few, as Anthropic's context editing does.

use msg_core::Diagnostic;
use serde::{Deserialize, Serialize};

use super::{
    Policy, Progress,
    prune::{CLEARED, is_placeholder, set_to},
};
use crate::{
    bench::{ToolOutput, Workbench},
    codes,
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
}

impl Default for ClearToolUses {
    fn default() -> Self {
        Self {
            keep: 3,
            exclude_tools: Vec::new(),
            clear_at_least: 0,
            clear_inputs: false,
            placeholder: CLEARED.to_owned(),
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

    fn step(&self, _at: u32, bench: &mut Workbench<'_>) -> Progress {
        let least = bench.text_cost(&self.placeholder);
        let mut outputs = bench.outputs();
        let keep = usize::try_from(self.keep).unwrap_or(usize::MAX);
        outputs.truncate(outputs.len().saturating_sub(keep));
        outputs.retain(|it| self.is_open(bench, it) && it.cost > least);
        let saved: u64 = outputs.iter().map(|it| it.cost - least).sum();
        if outputs.is_empty() || saved < self.clear_at_least {
            return Progress::Done;
        }
        let inputs = if self.clear_inputs { calls_of(bench, &outputs) } else { Vec::new() };
        set_to(bench, &outputs, &self.placeholder, "compact::tool-use-cleared");
        inputs.into_iter().for_each(|it| clear_inputs(bench, &it));
        Progress::Done
    }

    fn max_requests(&self, _sections: usize, _pairs: usize) -> usize {
        0
    }
}

impl ClearToolUses {
    fn is_open(&self, bench: &Workbench<'_>, output: &ToolOutput) -> bool {
        !bench.locked(output.section, output.pair)
            && !is_placeholder(bench, output, &self.placeholder)
            && (self.exclude_tools.is_empty()
                || !self.exclude_tools.iter().any(|it| it == bench.tool_of(output)))
    }
}

/// The calls of one pair whose outputs are cleared.
struct Inputs {
    section: usize,
    pair: usize,
    ids: Vec<String>,
}

fn calls_of(bench: &Workbench<'_>, outputs: &[ToolOutput]) -> Vec<Inputs> {
    let same_pair = |a: &ToolOutput, b: &ToolOutput| (a.section, a.pair) == (b.section, b.pair);
    let ids = |group: &[ToolOutput]| {
        group.iter().filter_map(|it| bench.output(it)).map(|it| it.call_id.clone()).collect()
    };
    outputs
        .chunk_by(same_pair)
        .map(|it| Inputs { section: it[0].section, pair: it[0].pair, ids: ids(it) })
        .collect()
}

fn clear_inputs(bench: &mut Workbench<'_>, inputs: &Inputs) {
    let Some(message) = bench.without_inputs(inputs.section, inputs.pair, &inputs.ids) else {
        return;
    };
    let input = bench.sections[inputs.section].pairs[inputs.pair].items[0].input;
    if bench.replace_item(inputs.section, inputs.pair, 0, message) {
        let edit = Diagnostic::info(
            codes::of("compact::tool-use-cleared"),
            "arguments of a cleared call were cut out",
        )
        .at_message(input as usize)
        .with_fix("set them to {}");
        bench.note(edit);
    }
}
