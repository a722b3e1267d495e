//! What the diagnostic codes of this crate mean. Sentences about one finding are made where it is
//! found, not here.

use msg_core::{CodeInfo, codes};

/// The codes of what only these formats do.
pub const CODES: &[CodeInfo] = codes! {
    warning "convert::order-lost" "OA-2" "content after a tool call or a refusal is written before it";
    warning "stream::item-id-changed" "OA-22" "the id of an output item changed";
};
