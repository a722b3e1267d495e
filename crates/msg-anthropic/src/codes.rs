//! What the diagnostic codes of this crate mean. Sentences about one finding are made where it is
//! found, not here.

use msg_core::{CodeInfo, codes};

/// The codes of what only this format does.
pub const CODES: &[CodeInfo] = codes! {
    error "convert::missing-max-tokens" "AN-21" "an Anthropic request needs `max_tokens`, and neither the source nor the options have it";
    warning "stream::unknown-delta" "OA-23" "a delta of a type that its block does not have";
    warning "stream::signature-missing" "OA-23" "a thinking block without its signature";
};
