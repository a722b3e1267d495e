//! The split of CP-37: sections before a place become one, and the pairs before it in its own
//! section become one summary.

use super::PREFIX_SUMMARIZED;
use crate::state::{ChainState, Form, Merge, PairTarget};

/// Where a chain is split: before pair `pair` of section `section`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) section: usize,
    pub(super) pair: usize,
}

/// Who splits, and in which form the sections are summarised.
#[derive(Debug, Clone, Copy)]
pub(super) struct Splitter<'p> {
    pub(super) policy: &'static str,
    pub(super) form: Form,
    pub(super) prefix: &'p str,
}

impl<'p> Splitter<'p> {
    pub(super) fn sections(self) -> PairTarget<'p> {
        let Self { policy, form, prefix } = self;
        PairTarget { policy, code: "compact::sections-merged", form, prefix }
    }

    pub(super) fn pairs(self) -> PairTarget<'p> {
        let Self { policy, prefix, .. } = self;
        PairTarget { policy, code: "compact::pairs-summarized", form: Form::Auto, prefix }
    }
}

impl Split {
    /// Makes its requests; whether there was one.
    pub(super) fn ask(self, chain: &mut ChainState<'_>, who: Splitter<'_>) -> bool {
        let current = self.section + 1 == chain.sections();
        let before = chain.open_sections(who.sections(), 0..self.section, Merge::FirstUser);
        let inside = chain.has_pairs_to_request(self.section, 0..self.pair)
            && chain.open_pairs(who.pairs(), self.section, 0..self.pair, current);
        before || inside
    }
}

/// The splitter of CP-38.
pub(super) fn summarized(policy: &'static str) -> Splitter<'static> {
    Splitter { policy, form: Form::Text, prefix: PREFIX_SUMMARIZED }
}
