//! What the diagnostic codes of this crate mean.

use msg_core::{CodeInfo, codes};

/// The codes of a document as a whole.
pub const CODES: &[CodeInfo] = codes! {
    error "document::panic" "SC-12" "a defect in `msg` that affected one document";
    info "cache::breakpoint-moved" "CL-63" "the cache breakpoint of a dropped part, moved to the part before";
    error "message::foreign-part" "MS-9" "a part of a type that only another provider has";
    warning "message::unread-content" "RG-11" "what a message or a result says is in a member that its format does not have";
    warning "message::unknown-part" "RG-11" "a part of an unknown kind, beside others that are read";
    error "message::not-understood" "RG-11" "a message with content of which nothing is understood";
    error "profile::shape" "MS-2" "a value or role in a form that `msg` understands and the API refuses";
    warning "convert::lost-value" "MS-24" "a value of the source is missing from the output and from the rest of the report";
    warning "convert::media-place" "PM-82" "media where the API of the target refuses them";
    error "session::no-messages" "RG-11" "a session in which no message was found";
    error "profile::missing-member" "CA-72" "a member that the API requires is missing";
    error "profile::setting" "RQ-15" "a setting outside of the range that the API takes";
    error "profile::unknown-kind" "CA-72" "a part of a type that the API does not have";
    error "profile::other-format" "MS-2" "a request in the format of another API";
    error "document::no-conversation" "RW-2" "a row has no conversation where one is expected";
    error "document::too-large" "SC-16" "the document has more bytes than `max_bytes`";
};
