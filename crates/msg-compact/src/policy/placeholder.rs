//! The text that takes the place of an old tool output (CP-31, CP-32), and which outputs may give way to
//! it.

use crate::{
    outcome::EditKind,
    state::{ChainState, Replacement, ToolOutput},
};

/// The placeholder of a pruned output.
pub(crate) const PRUNED: &str = "[Output pruned to save context space]";
/// The placeholder of a cleared output (CP-32).
pub(crate) const CLEARED: &str = "[Old tool result content cleared]";

/// A placeholder, counted once for all outputs.
pub(super) struct Placeholder {
    text: Replacement,
    /// What it costs in the unit in use.
    pub(super) cost: u64,
    /// What the default placeholders cost.
    defaults: [u64; 2],
}

impl Placeholder {
    pub(super) fn new(chain: &ChainState<'_>, text: &str) -> Self {
        let defaults = [PRUNED, CLEARED].map(|it| chain.text_cost(it));
        Self { text: chain.replacement(text), cost: chain.text_cost(text), defaults }
    }

    /// Whether an output may become the placeholder: it is not locked, costs more, is no placeholder
    /// already, and its tool is not one of these.
    pub(super) fn may_replace(
        &self,
        chain: &ChainState<'_>,
        output: &ToolOutput,
        kept_tools: &[String],
    ) -> bool {
        output.cost > self.cost
            && !chain.locked(output.section, output.pair)
            && !self.is_default(chain, output)
            && (kept_tools.is_empty() || !kept_tools.iter().any(|it| it == chain.tool_of(output)))
    }

    /// Whether an output is a default placeholder. Only an output of that cost is looked at.
    fn is_default(&self, chain: &ChainState<'_>, output: &ToolOutput) -> bool {
        self.defaults.contains(&output.cost)
            && chain.output_text(output).is_some_and(|it| it == PRUNED || it == CLEARED)
    }

    /// Puts the placeholder in the place of outputs; one edit a message. How many gave way before
    /// `enough` was true; the others stay.
    pub(super) fn replace(
        &self,
        chain: &mut ChainState<'_>,
        outputs: &[ToolOutput],
        code: &'static str,
        enough: Enough,
    ) -> usize {
        let mut done = 0;
        for group in outputs.chunk_by(ToolOutput::same_message) {
            if enough == Enough::AtTarget && chain.is_at_target() {
                break;
            }
            done += group.len();
            let first = &group[0];
            let is_set = match group {
                [one] => chain.set_outputs(first, &[(one.part, &self.text)], false),
                all => {
                    let texts: Vec<_> = all.iter().map(|it| (it.part, &self.text)).collect();
                    chain.set_outputs(first, &texts, false)
                }
            };
            if is_set {
                let placeholder = self.text.text.clone();
                chain.note(chain.input_of(first), EditKind::Replaced { code, placeholder });
            }
        }
        done
    }
}

/// When a policy has put enough outputs away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Enough {
    /// When all are away that its options name.
    WhenAllAreAway,
    /// As soon as the chain is at its target.
    AtTarget,
}

impl Enough {
    pub(super) fn of(stop_at_target: bool) -> Self {
        if stop_at_target { Enough::AtTarget } else { Enough::WhenAllAreAway }
    }
}
