//! What each diagnostic code means: the row type of the crates' tables, and this crate's own table.
//!
//! Each crate lists its codes in a table `CODES`. `docs/diagnostics.md` is written from those tables,
//! and a code that is used but not listed, or listed but not used, does not pass `cargo xtask tidy`.
//! Sentences about one finding are made where it is found, not here.

use crate::{Severity, codes};

/// The codes of messages, their forms, turns and conversions.
pub const CODES: &[CodeInfo] = codes! {
    error "message::bad-json" "MS-9" "the document is not JSON";
    error "message::bad-shape" "MS-9" "the JSON does not have the shape of the format";
    error "message::missing-role" "MS-9" "a message has no role";
    error "message::foreign-format" "MS-9" "the document is in an unsupported format";
    warning "message::no-messages" "MS-9" "the document has no messages";
    info "message::role-spelling" "MS-2" "a role in another spelling";
    info "message::shape" "MS-2" "a value has a shape that the API of its format does not accept";
    warning "message::duplicate-member" "MS-8" "duplicate member, the last value is used";
    warning "message::unread-messages" "RG-8" "messages or instructions in a member that is not read";
    warning "message::lone-surrogate" "MS-8" "unpaired surrogate, replaced with U+FFFD";
    error "message::invalid-role" "MS-18" "the role of the message is unknown";
    error "message::empty-content" "MS-18" "the message has no content";
    error "message::too-long" "MS-18" "a user text exceeds the length limit";
    error "message::misplaced-part" "MS-18" "a part that is not allowed in messages of this role";
    error "message::empty-tool-name" "MS-18" "a call without the name of a tool";
    warning "message::invalid-arguments" "MS-18" "arguments of a call are not valid JSON";
    warning "message::arguments-not-object" "MS-18" "arguments of a call are not an object";
    error "agent::bad-shape" "MS-12" "an agent message of unknown shape";
    error "agent::unknown-role" "MS-12" "an agent message with an unknown role";
    error "turn::bad-shape" "MS-19" "a turn or part is not an object, or parts are not a list";
    warning "message::wrong-type" "MS-6" "a known member has a value of a wrong type";
    warning "convert::lost-part" "MS-24" "the target cannot hold a part";
    warning "convert::lost-member" "MS-24" "the target cannot hold a member";
    warning "convert::usage-inconsistent" "RQ-25" "a count is not a whole number, or is larger than the whole that it is a part of";
    warning "convert::value-changed" "RQ-13" "the target does not support the value, the nearest one was written";
    warning "convert::lost-message" "MS-24" "a message has nothing left to write";
    info "convert::refusal-as-text" "AN-20" "a refusal became text";
};

/// A crate's table of diagnostic codes, one [`CodeInfo`] per row: severity, code, rule and meaning.
///
/// ```
/// use msg_core::{CodeInfo, Severity, codes};
///
/// const CODES: &[CodeInfo] = codes! {
///     error "chain::missing-tool-result" "CA-30" "a tool call has no result";
/// };
/// assert_eq!(CODES[0].severity, Severity::Error);
/// ```
#[macro_export]
macro_rules! codes {
    ($($severity:ident $code:literal $rule:literal $meaning:literal;)*) => {
        &[$($crate::CodeInfo::$severity($code, $rule, $meaning)),*]
    };
}

/// One row of a crate's table of diagnostic codes, written with [`codes!`](crate::codes).
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
