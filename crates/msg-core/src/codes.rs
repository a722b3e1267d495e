//! What each diagnostic code means: the row type of the crates' tables, and this crate's own table.
//!
//! Each crate lists its codes in `src/codes.rs`. `docs/diagnostics.md` is written from those tables,
//! and a code that is used but not listed, or listed but not used, does not pass `cargo xtask tidy`.
//! Sentences about one finding are made where it is found, not here.

use crate::Severity;

/// One row of a crate's table of diagnostic codes.
///
/// ```
/// use msg_core::{CodeInfo, Severity};
///
/// const CODES: &[CodeInfo] = &[
///     CodeInfo::error("chain::missing-tool-result", "CA-30", "a tool call has no result"),
/// ];
/// assert_eq!(CODES[0].severity, Severity::Error);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeInfo {
    /// The stable name, `area::kebab-case`.
    pub code: &'static str,
    /// The severity that it usually has; a provider's profile may say another.
    pub severity: Severity,
    /// The rule of `docs/formats/` that it comes from, such as `CA-30`; several are separated by a
    /// comma and a blank.
    pub rule: &'static str,
    /// What is wrong or was changed, in general: lower case, no full stop.
    pub summary: &'static str,
}

impl CodeInfo {
    /// A code for what is not well formed, or refused.
    pub const fn error(code: &'static str, rule: &'static str, summary: &'static str) -> Self {
        Self { code, severity: Severity::Error, rule, summary }
    }

    /// A code for what is probably not meant, but accepted.
    pub const fn warning(code: &'static str, rule: &'static str, summary: &'static str) -> Self {
        Self { code, severity: Severity::Warning, rule, summary }
    }

    /// A code for what is worth knowing; nothing is wrong.
    pub const fn info(code: &'static str, rule: &'static str, summary: &'static str) -> Self {
        Self { code, severity: Severity::Info, rule, summary }
    }
}
