//! `summarize-sections` (CP-34): the body of each older section becomes one summary.

use serde::{Deserialize, Serialize};

use super::{Policy, Progress};
use crate::state::{ChainState, Form, SummaryKind};

/// Summarises the body of every section but the last ones, each on its own (CP-34).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SummarizeSections {
    /// Sections at the end that stay; at least 1.
    pub keep: u64,
}

impl Default for SummarizeSections {
    fn default() -> Self {
        Self { keep: 1 }
    }
}

impl Policy for SummarizeSections {
    fn name(&self) -> &'static str {
        "summarize-sections"
    }

    fn config(&self) -> serde_json::Value {
        serde_json::json!(self)
    }

    fn step(&self, at: u32, chain: &mut ChainState<'_>) -> Progress {
        if at > 0 {
            return Progress::Done;
        }
        let kind = SummaryKind::content("compact::section-summarized", Form::Auto);
        let keep = usize::try_from(self.keep.max(1)).unwrap_or(usize::MAX);
        for section in 0..chain.sections().saturating_sub(keep) {
            chain.open_pairs(kind, section, 0..chain.pairs(section), false);
        }
        Progress::Requested
    }

    fn max_requests(&self, sections: usize, _pairs: usize) -> usize {
        sections
    }
}
