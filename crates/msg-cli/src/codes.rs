//! What the diagnostic codes of the program itself mean; those of conversations are the libraries'.

use msg_core::CodeInfo;

/// The codes of input that no library gets to see.
pub(crate) const CODES: &[CodeInfo] = &[
    CodeInfo::error("cli::bad-line", "", "a line is not the JSON that the command takes"),
    CodeInfo::error(
        "cli::not-done",
        "",
        "an input could not be read or answered, or no output written",
    ),
    CodeInfo::error("cli::bad-ops", "", "the operations of a line are not those of the command"),
    CodeInfo::error(
        "cli::bad-option",
        "",
        "an option is unknown or has a value that it cannot have",
    ),
];
