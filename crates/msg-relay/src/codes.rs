//! What the codes of this crate mean.

use msg_core::{CodeInfo, codes};

/// The codes of the relay.
pub const CODES: &[CodeInfo] = codes! {
    warning "relay::lost-seal" "RE-30" "a signature is too long for an id, and no store keeps it";
};
