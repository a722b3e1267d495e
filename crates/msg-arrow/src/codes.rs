//! What the diagnostic codes of this crate mean.

use msg_core::{CodeInfo, codes};

/// The codes of columns.
pub const CODES: &[CodeInfo] = codes! {
    warning "document::padded-arguments" "SC-7" "null members of arguments in a nested column, left out";
};
