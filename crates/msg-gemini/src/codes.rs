//! What the diagnostic codes of this crate mean. Sentences about one finding are made where it is
//! found, not here.

use msg_core::CodeInfo;

/// The codes of what only this format does.
pub const CODES: &[CodeInfo] = &[CodeInfo::warning(
    "stream::bad-path",
    "GE-17",
    "a piece of an argument is for a place that cannot be",
)];
