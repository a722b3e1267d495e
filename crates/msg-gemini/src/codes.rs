//! What the diagnostic codes of this crate mean. Sentences about one finding are made where it is
//! found, not here.

use msg_core::{CodeInfo, codes};

/// The codes of what only this format does.
pub const CODES: &[CodeInfo] = codes! {
    warning "stream::bad-path" "GE-17" "a fragment of an argument has an impossible path";
};
