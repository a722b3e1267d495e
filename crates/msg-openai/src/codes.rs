//! What the diagnostic codes of this crate mean. Sentences about one finding are made where it is
//! found, not here.

use msg_core::CodeInfo;

/// The codes of what only these formats do.
pub const CODES: &[CodeInfo] = &[
    CodeInfo::warning(
        "convert::order-lost",
        "OA-2",
        "what stood behind a tool call or a refusal is written before it",
    ),
    CodeInfo::warning("stream::item-id-changed", "OA-22", "the id of an output item changed"),
];
