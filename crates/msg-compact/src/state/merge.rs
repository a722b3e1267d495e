//! Whether there is something to summarise before a place, and what it costs: sums that grow unit by
//! unit, so that trying every place of a chain costs one pass.

use super::{ChainState, Merge, PairState, SectionState};
use crate::token_index::Cost;

/// Sections that may become one. Those that are pinned do not count.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MergeSum {
    open: usize,
    has_pairs: bool,
    /// Whether the first open section is settled.
    settled: bool,
    has_user: bool,
    body: Cost,
    /// Users besides the first.
    later_users: Cost,
    /// Whether some pair calls tools, which decides over the form of a summary.
    pub(crate) has_calls: bool,
    /// Whether the summary may carry the reasoning of some pair.
    pub(crate) has_reasoning: bool,
}

impl MergeSum {
    /// Adds the section that follows.
    pub(crate) fn add(&mut self, chain: &ChainState<'_>, section: &SectionState) {
        if section.pinned {
            return;
        }
        self.settled = self.open == 0 && chain.settled(section);
        self.open += 1;
        for pair in chain.pairs_of(section) {
            self.has_pairs = true;
            self.body = self.body + pair.cost;
            self.has_calls |= chain.is_call(pair);
            self.has_reasoning |= chain.has_reasoning(pair);
        }
        if section.user.is_some() {
            if self.has_user {
                self.later_users = self.later_users + chain.cost_at(section.user);
            }
            self.has_user = true;
        }
    }

    /// Whether there is something to replace: a pair, and not just one settled section.
    pub(crate) fn has_request(&self) -> bool {
        self.has_pairs && !self.settled
    }

    /// What a summary would replace. Users that stay, as they are or as one message, are no part of it.
    pub(crate) fn replaced(&self, merge: Merge) -> Cost {
        match merge {
            Merge::AllUsers => self.body,
            Merge::FirstUser => self.body + self.later_users,
        }
    }
}

/// Pairs of one section that may become one summary. Those that are pinned do not count.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PairSum {
    open: usize,
    /// Whether the one open pair is a summary.
    settled: bool,
    pub(crate) cost: Cost,
    pub(crate) has_calls: bool,
    pub(crate) has_reasoning: bool,
}

impl PairSum {
    /// Adds the pair of a section that follows.
    pub(crate) fn add(&mut self, chain: &ChainState<'_>, section: &SectionState, pair: &PairState) {
        if pair.pinned || section.pinned {
            return;
        }
        self.settled = self.open == 0 && chain.is_summary(pair);
        self.open += 1;
        self.cost = self.cost + pair.cost;
        self.has_calls |= chain.is_call(pair);
        self.has_reasoning |= chain.has_reasoning(pair);
    }

    /// Whether there is something to replace: a pair, and not just one summary.
    pub(crate) fn has_request(&self) -> bool {
        self.open > 0 && !self.settled
    }
}

impl ChainState<'_> {
    fn is_call(&self, pair: &PairState) -> bool {
        self.kind(pair) != msg_chainast::BodyPairKind::Completion
    }
}
