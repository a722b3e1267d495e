//! What the diagnostic codes of this crate mean. Sentences about one finding are made where it is found, not here.

use msg_core::{CodeInfo, codes};

/// The codes of what only this format does.
pub const CODES: &[CodeInfo] = codes! {
    info "convert::name-synthesised" "BR-8" "a document without a name, which the API requires; a name was made";
};
