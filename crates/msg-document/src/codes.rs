//! What the diagnostic codes of this crate mean.

use msg_core::CodeInfo;

/// The codes of a document as a whole.
pub const CODES: &[CodeInfo] = &[
    CodeInfo::error(
        "document::panic",
        "SC-12",
        "a defect of these crates, which cost one document",
    ),
    CodeInfo::error(
        "message::foreign-part",
        "MS-9",
        "a part of a type that only another provider's messages have",
    ),
    CodeInfo::error(
        "message::not-understood",
        "RG-11",
        "a message that says something, nothing of which is understood",
    ),
    CodeInfo::error(
        "profile::shape",
        "MS-2",
        "a shape of a value, or a word for a role, that is understood here and that the API refuses",
    ),
    CodeInfo::warning(
        "convert::lost-value",
        "MS-24",
        "a value of the source is not in what was written, and nothing else of the report says so",
    ),
    CodeInfo::error(
        "session::no-messages",
        "RG-11",
        "a session of which nothing is read as a message",
    ),
    CodeInfo::error(
        "profile::missing-member",
        "CA-72",
        "a member that the API requires is missing",
    ),
    CodeInfo::error(
        "profile::unknown-kind",
        "CA-72",
        "a part of a kind that the API does not have",
    ),
    CodeInfo::error("document::too-large", "SC-16", "the document has more bytes than `max_bytes`"),
];
