//! `summarize-qa-pairs` (CP-36): when there are too many sections, the older ones become one.

use serde::{Deserialize, Serialize};

use super::{Policy, Progress};
use crate::state::{ChainState, Form, Merge, SummaryKind};

/// Keeps the number and the size of sections within limits (CP-36). All sizes are bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SummarizeQaPairs {
    /// Sections that there may be.
    pub max_qa_sections: u64,
    /// Bytes that the conversation may have, the system message aside.
    pub max_qa_bytes: u64,
    /// Sections at the end that stay in any case; at least 1.
    pub keep: u64,
    /// Whether the user messages of the merged sections are summarised too.
    pub summ_human_in_qa: bool,
    /// Bytes above which what was said after the first text of the merged users is summarised;
    /// a quarter of `max_qa_bytes` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub human_cap: Option<u64>,
}

impl Default for SummarizeQaPairs {
    fn default() -> Self {
        Self {
            max_qa_sections: 10,
            max_qa_bytes: 65_536,
            keep: 1,
            summ_human_in_qa: false,
            human_cap: None,
        }
    }
}

/// Kept free when further sections are kept, for the summary of the others.
const ROOM_FOR_SUMMARY: u64 = 1000;

impl Policy for SummarizeQaPairs {
    fn name(&self) -> &'static str {
        "summarize-qa-pairs"
    }

    fn config(&self) -> serde_json::Value {
        serde_json::json!(self)
    }

    fn step(&self, at: u32, chain: &mut ChainState<'_>) -> Progress {
        match at {
            0 if self.too_much(chain) => {
                let end = chain.sections() - self.kept(chain);
                let kind = SummaryKind::content("compact::sections-merged", Form::Auto);
                chain.open_sections(kind, 0..end, Merge::AllUsers);
                Progress::Requested
            }
            1 if chain.accepted() > 0 => {
                self.open_users(chain);
                Progress::Requested
            }
            _ => Progress::Done,
        }
    }

    fn max_requests(&self, _sections: usize, _pairs: usize) -> usize {
        2
    }

    fn lowers_floor(&self) -> bool {
        self.summ_human_in_qa
    }
}

impl SummarizeQaPairs {
    fn too_much(&self, chain: &ChainState<'_>) -> bool {
        let bytes: u64 = (0..chain.sections()).map(|it| section_bytes(chain, it)).sum();
        chain.sections() as u64 > self.max_qa_sections || bytes > self.max_qa_bytes
    }

    /// How many sections at the end stay.
    fn kept(&self, chain: &ChainState<'_>) -> usize {
        let n = chain.sections();
        let mut kept = usize::try_from(self.keep.max(1)).unwrap_or(usize::MAX).min(n);
        let room = self.max_qa_bytes.saturating_sub(ROOM_FOR_SUMMARY);
        let mut bytes: u64 = (n - kept..n).map(|it| section_bytes(chain, it)).sum();
        if bytes > room {
            return kept;
        }
        while kept < n && (kept as u64) < self.max_qa_sections.saturating_sub(1) {
            bytes += section_bytes(chain, n - kept - 1);
            if bytes > room {
                break;
            }
            kept += 1;
        }
        kept
    }

    fn open_users(&self, chain: &mut ChainState<'_>) {
        let Some((section, users)) = chain.merged_users.take() else { return };
        let cap = self.human_cap.unwrap_or(self.max_qa_bytes / 4);
        let bytes = chain.cost_at(chain.sections[section].user).bytes;
        let kind = SummaryKind::content("compact::users-summarized", Form::Auto);
        if self.summ_human_in_qa {
            chain.open_users(kind, section, &users, false);
        } else if bytes > cap {
            chain.open_users(kind, section, &users, true);
        }
    }
}

fn section_bytes(chain: &ChainState<'_>, section: usize) -> u64 {
    chain.cost_without_system(&chain.sections[section]).bytes
}
