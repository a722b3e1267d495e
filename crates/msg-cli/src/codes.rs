//! What the diagnostic codes of the program itself mean; those of conversations are the libraries'.

use msg_core::{CodeInfo, codes};

/// The codes of input that no library gets to see.
pub(crate) const CODES: &[CodeInfo] = codes! {
    error "cli::bad-line" "" "a line is not the JSON that the command expects";
    error "cli::not-done" "" "an input could not be read or answered, or an output could not be written";
    error "cli::bad-ops" "" "the operations of a line are not operations of the command";
    error "cli::bad-option" "" "an unknown option, or an invalid value";
};
