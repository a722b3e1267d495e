//! `summarize-qa-pairs` (CP-36): when there are too many sections, the older ones become one.

use serde::{Deserialize, Serialize};

use super::{PREFIX_CONTENT, Policy, Progress};
use crate::bench::{Form, Merge, PairTarget, Workbench};

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

    fn step(&self, at: u32, bench: &mut Workbench<'_>) -> Progress {
        match at {
            0 if self.too_much(bench) => {
                let end = bench.sections() - self.kept(bench);
                let who = self.who("compact::sections-merged");
                bench.ask_sections_as(who, 0..end, Merge::AllUsers);
                Progress::Ask
            }
            1 if bench.accepted() > 0 => {
                self.ask_users(bench);
                Progress::Ask
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
    fn who(&self, code: &'static str) -> PairTarget<'static> {
        PairTarget { policy: self.name(), code, form: Form::Auto, prefix: PREFIX_CONTENT }
    }

    fn too_much(&self, bench: &Workbench<'_>) -> bool {
        let bytes: u64 = (0..bench.sections()).map(|it| section_bytes(bench, it)).sum();
        bench.sections() as u64 > self.max_qa_sections || bytes > self.max_qa_bytes
    }

    /// How many sections at the end stay.
    fn kept(&self, bench: &Workbench<'_>) -> usize {
        let n = bench.sections();
        let mut kept = usize::try_from(self.keep.max(1)).unwrap_or(usize::MAX).min(n);
        let room = self.max_qa_bytes.saturating_sub(ROOM_FOR_SUMMARY);
        let mut bytes: u64 = (n - kept..n).map(|it| section_bytes(bench, it)).sum();
        if bytes > room {
            return kept;
        }
        while kept < n && (kept as u64) < self.max_qa_sections.saturating_sub(1) {
            bytes += section_bytes(bench, n - kept - 1);
            if bytes > room {
                break;
            }
            kept += 1;
        }
        kept
    }

    fn ask_users(&self, bench: &mut Workbench<'_>) {
        let Some((section, users)) = bench.merged_users.take() else { return };
        let cap = self.human_cap.unwrap_or(self.max_qa_bytes / 4);
        let bytes = bench.cost_at(bench.sections[section].user).bytes;
        let who = self.who("compact::users-summarized");
        if self.summ_human_in_qa {
            bench.ask_users(who, section, &users, false);
        } else if bytes > cap {
            bench.ask_users(who, section, &users, true);
        }
    }
}

fn section_bytes(bench: &Workbench<'_>, section: usize) -> u64 {
    bench.cost_without_system(&bench.sections[section]).bytes
}
