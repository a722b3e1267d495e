//! The diagnostic codes of this crate.

use msg_core::{Code, CodeInfo, codes};

/// All codes that compaction reports (CP-5).
pub const CODES: &[CodeInfo] = codes! {
    info "compact::reasoning-dropped" "CP-30" "reasoning of an earlier turn was dropped";
    info "compact::tool-output-pruned" "CP-31" "an old tool output became a placeholder";
    info "compact::tool-use-cleared" "CP-32" "an old tool output or call input was cleared";
    info "compact::tool-output-truncated" "CP-33" "a long tool output was cut to its head and tail";
    info "compact::section-summarized" "CP-34" "the body of a section became a summary";
    info "compact::pair-summarized" "CP-35" "an oversized body pair became a summary";
    info "compact::pairs-summarized" "CP-35, CP-37" "older body pairs of a section became a summary";
    info "compact::sections-merged" "CP-36, CP-37" "older sections became one with a summary";
    info "compact::users-summarized" "CP-36" "merged user messages became a summary";
    info "compact::tool-calls-summarized" "CP-37" "a run of old tool calls became a summary";
    info "compact::goal-batch" "CP-40" "old summarised turns became one";
    info "compact::messages-dropped" "CP-41" "messages outside the window were dropped";
    warning "compact::summary-failed" "CP-23" "a summary failed";
    warning "compact::summary-empty" "CP-23" "a summary was empty";
    warning "compact::summary-not-smaller" "CP-23" "a summary was not smaller than what it would replace";
    warning "compact::summary-unused" "CP-39a" "a summary was not needed: what it would replace fits";
    warning "compact::summary-too-large" "CP-39a" "a summary left no room for what has to stay";
    error "compact::cannot-fit" "CP-14" "the history does not fit the budget";
    error "compact::plan-mismatch" "CP-61" "a plan does not match this history";
};

/// A code of the table.
pub(crate) fn of(code: &'static str) -> Code {
    debug_assert!(CODES.iter().any(|it| it.code == code), "{code} is in the table");
    Code::new(code)
}
