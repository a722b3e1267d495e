//! What the diagnostic codes of this crate mean.

use msg_core::CodeInfo;

/// The codes of columns.
pub const CODES: &[CodeInfo] = &[CodeInfo::warning(
    "document::padded-arguments",
    "SC-7",
    "null members of arguments in a nested column were left out: which were written cannot be known",
)];
