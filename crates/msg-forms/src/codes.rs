//! The diagnostic codes of this crate. Those of documents that cannot be read are `msg-core`'s.

use msg_core::{CodeInfo, codes};

/// The codes of turns and of what a form has no place for.
pub const CODES: &[CodeInfo] = codes! {
    error "turn::illegal-transition" "MS-21" "illegal state transition";
    warning "turn::half-streamed" "MS-21" "call stored before its arguments were complete";
    error "turn::unexpected-event" "MS-21" "unexpected stream event";
    warning "turn::skipped-role" "OA-6" "turn with a role that is not sent";
    warning "turn::empty-message" "OA-6" "empty turn, not sent";
    warning "turn::filtered-call" "OA-7" "tool call in a state that is not sent";
    warning "turn::ignored-tool-part" "OA-6" "tool part outside an assistant turn";
    warning "turn::skipped-part" "OA-6" "part of a type that is not sent";
    warning "turn::placeholder-output" "OA-7" "placeholder text for an empty output";
    warning "turn::synthesised-output" "OA-7" "placeholder result for an unfinished call";
    warning "turn::unknown-status" "OA-7" "tool call in an unknown state";
    warning "turn::generated-id" "OA-8" "call without an id, an id was generated";
    warning "turn::renamed-id" "OA-8" "duplicate call id, renamed";
    warning "turn::empty-tool-name" "OA-8" "call without a tool name";
    warning "turn::invalid-arguments" "OA-8" "call arguments are not valid JSON";
    warning "turn::non-object-arguments" "OA-8" "call arguments are not an object";
    warning "convert::orphan-result" "MS-22, MS-24" "result without a pending call";
    warning "convert::split-message" "MS-5, MS-24" "message split into several";
    warning "convert::merged-parts" "MS-24" "texts joined into one";
    warning "convert::json-as-text" "MS-24" "JSON converted to text";
    warning "convert::invalid-arguments" "MS-13, MS-24" "arguments that are not valid JSON, converted to a string";
    warning "convert::text-as-call" "MS-24" "text that is read as a call or a result in the target";
    warning "convert::role-changed" "MS-24" "role changed, the target has no such role";
};
