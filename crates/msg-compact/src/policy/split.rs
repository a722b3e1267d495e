//! The split of CP-37: sections before a place become one, and the pairs before it in its own
//! section become one summary.

use crate::state::{ChainState, Form, Merge, SummaryKind};

/// Where a chain is split: before pair `pair` of section `section`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) section: usize,
    pub(super) pair: usize,
}

impl Split {
    /// Makes its requests, that for the sections of this kind; whether there was one.
    pub(super) fn request(self, chain: &mut ChainState<'_>, kind: SummaryKind<'_>) -> bool {
        let current = self.section + 1 == chain.sections();
        let before = chain.open_sections(kind, 0..self.section, Merge::FirstUser);
        let inside = chain.open_pairs(of_pairs(kind), self.section, 0..self.pair, current);
        before || inside
    }
}

/// How the pairs of a section are summarised where the sections before it are in this way.
pub(super) fn of_pairs(sections: SummaryKind<'_>) -> SummaryKind<'_> {
    SummaryKind { code: "compact::pairs-summarized", form: Form::Auto, ..sections }
}
