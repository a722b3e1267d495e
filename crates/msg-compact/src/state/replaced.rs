//! What one summary would take the place of: sums that grow pair by pair, so that trying every place of a
//! chain costs one pass.

use msg_chainast::BodyPairKind;

use super::{ChainState, Merge, PairState, SectionState};
use crate::token_index::Cost;

/// Pairs, or whole sections, that may become one summary. Those that are pinned do not count.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Replaced {
    sections: usize,
    pairs: usize,
    /// Whether the first pair is a summary already.
    begins_with_summary: bool,
    has_user: bool,
    /// Users besides the first.
    later_users: Cost,
    /// What the pairs cost.
    pub(crate) pairs_cost: Cost,
    /// Whether some pair calls tools, which decides over the form of a summary.
    pub(crate) has_calls: bool,
    /// Whether some call has a signature.
    pub(crate) is_signed: bool,
    /// The first item with reasoning that the summary may carry.
    pub(crate) reasoning: Option<u32>,
}

impl Replaced {
    /// Adds the section that follows.
    pub(crate) fn add_section(&mut self, chain: &ChainState<'_>, section: &SectionState) {
        if section.pinned {
            return;
        }
        self.sections += 1;
        chain.pairs_of(section).iter().for_each(|it| self.add_pair(chain, section, it));
        if section.user.is_some() {
            if self.has_user {
                self.later_users = self.later_users + chain.cost_at(section.user);
            }
            self.has_user = true;
        }
    }

    /// Adds the pair of a section that follows.
    pub(crate) fn add_pair(
        &mut self,
        chain: &ChainState<'_>,
        section: &SectionState,
        pair: &PairState,
    ) {
        if pair.pinned || section.pinned {
            return;
        }
        self.begins_with_summary |= self.pairs == 0 && chain.is_summary(pair);
        self.pairs += 1;
        self.pairs_cost = self.pairs_cost + pair.cost;
        self.has_calls |= chain.kind(pair) != BodyPairKind::Completion;
        if let Some(message) = chain.reasoning_message(pair) {
            let mut signatures = message.tool_calls().filter_map(|it| it.signature.as_deref());
            self.is_signed |= signatures.any(|it| !it.is_empty());
            let carries = || message.reasoning().any(super::form::says_something);
            self.reasoning = self.reasoning.or_else(|| carries().then_some(pair.first));
        }
    }

    /// Whether there is something to replace: a pair, and not just one summary, or one settled section.
    pub(crate) fn has_request(&self) -> bool {
        let is_one_summary = self.begins_with_summary && self.pairs == 1 && self.sections <= 1;
        self.pairs > 0 && !is_one_summary
    }

    /// What a summary of merged sections would replace. Users that stay, as they are or as one message, are no
    /// part of it.
    pub(crate) fn merged_cost(&self, merge: Merge) -> Cost {
        match merge {
            Merge::AllUsers => self.pairs_cost,
            Merge::FirstUser => self.pairs_cost + self.later_users,
        }
    }
}
