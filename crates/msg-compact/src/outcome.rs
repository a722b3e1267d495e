//! What a compaction came to (CP-14, CP-17).

use msg_core::Diagnostic;

use crate::{plan::Plan, record::CompactionRecord};

/// What a compaction came to.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// It fits, or nothing could be made smaller; nothing changed.
    NotNeeded(Unchanged),
    /// It was changed and fits.
    Compacted(Compaction),
    /// It does not fit.
    CannotFit(CannotFit),
}

/// A history that stays as it is.
#[derive(Debug, Clone)]
pub struct Unchanged {
    /// What it costs.
    pub totals: Totals,
    /// Warnings about summaries that were not used.
    pub edits: Vec<Diagnostic>,
    /// Summaries that were asked for.
    pub requests: usize,
}

/// A history that was made smaller.
#[derive(Debug, Clone)]
pub struct Compaction {
    /// What to do with the history, and how to undo it.
    pub plan: Plan,
    /// What was changed, in the order of the input.
    pub edits: Vec<Diagnostic>,
    /// A record of each stage that changed something, if records were asked for.
    pub records: Vec<CompactionRecord>,
    /// What it cost.
    pub before: Totals,
    /// What it costs now.
    pub after: Totals,
    /// The first message at which output and input differ: what a prompt cache loses.
    pub first_changed: usize,
    /// Summaries that were asked for.
    pub requests: usize,
}

/// Why a history does not fit (CP-14). The input is untouched.
#[derive(Debug, Clone)]
pub struct CannotFit {
    /// The least that it can cost, in the budget's unit.
    pub floor: u64,
    /// What it may cost.
    pub usable: u64,
    /// The largest part of the floor, or the policies if the floor is not the reason.
    pub why: FloorPart,
    /// What was reached, if anything was.
    pub best: Option<Box<Compaction>>,
    /// What it costs.
    pub totals: Totals,
    /// What it costs at best; the totals if nothing was reached.
    pub reached: u64,
    /// Summaries that were asked for.
    pub requests: usize,
}

/// The parts of a history that no policy can shrink (CP-14).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FloorPart {
    /// The request's base, tool definitions above all.
    Tools,
    /// The system message.
    System,
    /// The last section's user message.
    LastUser,
    /// The last body pair.
    LastPair,
    /// What is pinned.
    Pinned,
    /// None of them: the floor would fit, the policies did not reach it.
    Policies,
}

impl FloorPart {
    /// The word: `tools`, `system`, `last-user`, `last-pair`, `pinned`, `policies`.
    pub fn as_str(self) -> &'static str {
        match self {
            FloorPart::Tools => "tools",
            FloorPart::System => "system",
            FloorPart::LastUser => "last-user",
            FloorPart::LastPair => "last-pair",
            FloorPart::Pinned => "pinned",
            FloorPart::Policies => "policies",
        }
    }
}

/// Messages, bytes and tokens of a history, the request's base included in the tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Totals {
    /// How many messages.
    pub messages: usize,
    /// UTF-8 bytes (CA-20).
    pub bytes: u64,
    /// Tokens by the tally's counter.
    pub tokens: u64,
}
