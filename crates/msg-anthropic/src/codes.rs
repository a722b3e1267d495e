//! What the diagnostic codes of this crate mean. Sentences about one finding are made where it is
//! found, not here.

use msg_core::CodeInfo;

/// The codes of what only this format does.
pub const CODES: &[CodeInfo] = &[
    CodeInfo::error(
        "convert::missing-max-tokens",
        "AN-21",
        "a request for Anthropic must limit its answer, and neither source nor options do",
    ),
    CodeInfo::warning("stream::unknown-delta", "OA-23", "a delta that its block does not have"),
    CodeInfo::warning(
        "stream::signature-missing",
        "OA-23",
        "a thinking block came without its signature",
    ),
];
