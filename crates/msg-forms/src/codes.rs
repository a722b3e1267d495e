//! The diagnostic codes of this crate. Those of documents that cannot be read are `msg-core`'s.

use msg_core::CodeInfo;

/// The codes of turns and of what a form has no place for.
pub const CODES: &[CodeInfo] = &[
    CodeInfo::error("turn::illegal-transition", "MS-21", "illegal state transition"),
    CodeInfo::warning(
        "turn::half-streamed",
        "MS-21",
        "call stored before its arguments were complete",
    ),
    CodeInfo::error("turn::unexpected-event", "MS-21", "unexpected stream event"),
    CodeInfo::warning("turn::skipped-role", "OA-6", "turn with a role that is not sent"),
    CodeInfo::warning("turn::empty-message", "OA-6", "empty turn, not sent"),
    CodeInfo::warning("turn::filtered-call", "OA-7", "tool call in a state that is not sent"),
    CodeInfo::warning("turn::ignored-tool-part", "OA-6", "tool part outside an assistant turn"),
    CodeInfo::warning("turn::skipped-part", "OA-6", "part of a type that is not sent"),
    CodeInfo::warning("turn::placeholder-output", "OA-7", "placeholder text for an empty output"),
    CodeInfo::warning(
        "turn::synthesised-output",
        "OA-7",
        "placeholder result for an unfinished call",
    ),
    CodeInfo::warning("turn::unknown-status", "OA-7", "tool call in an unknown state"),
    CodeInfo::warning("turn::generated-id", "OA-8", "call without an id, an id was generated"),
    CodeInfo::warning("turn::renamed-id", "OA-8", "duplicate call id, renamed"),
    CodeInfo::warning("turn::empty-tool-name", "OA-8", "call without a tool name"),
    CodeInfo::warning("turn::invalid-arguments", "OA-8", "call arguments are not valid JSON"),
    CodeInfo::warning("turn::non-object-arguments", "OA-8", "call arguments are not an object"),
    CodeInfo::warning("convert::orphan-result", "MS-22, MS-24", "result without a pending call"),
    CodeInfo::warning("convert::split-message", "MS-5, MS-24", "message split into several"),
    CodeInfo::warning("convert::merged-parts", "MS-24", "texts joined into one"),
    CodeInfo::warning("convert::json-as-text", "MS-24", "JSON converted to text"),
    CodeInfo::warning(
        "convert::invalid-arguments",
        "MS-13, MS-24",
        "arguments that are not valid JSON, converted to a string",
    ),
    CodeInfo::warning(
        "convert::role-changed",
        "MS-24",
        "role changed, the target has no such role",
    ),
];
