//! The diagnostic codes of this crate. Those of documents that cannot be read are `msg-core`'s.

use msg_core::CodeInfo;

/// The codes of turns and of what a form has no place for.
pub const CODES: &[CodeInfo] = &[
    CodeInfo::error("turn::illegal-transition", "MS-21", "a step that the lifecycle has not"),
    CodeInfo::warning(
        "turn::half-streamed",
        "MS-21",
        "a call that was stored while it was streamed",
    ),
    CodeInfo::error("turn::unexpected-event", "MS-21", "a stream event that does not fit the turn"),
    CodeInfo::warning("turn::skipped-role", "OA-6", "a turn whose role is not sent"),
    CodeInfo::warning("turn::empty-message", "OA-6", "nothing of a turn was left to send"),
    CodeInfo::warning("turn::filtered-call", "OA-7", "a tool call in a state that is not sent"),
    CodeInfo::warning("turn::ignored-tool-part", "OA-6", "a tool part outside an assistant turn"),
    CodeInfo::warning("turn::skipped-part", "OA-6", "a part of a type that is not sent"),
    CodeInfo::warning("turn::placeholder-output", "OA-7", "a sentence stands for an empty output"),
    CodeInfo::warning(
        "turn::synthesised-output",
        "OA-7",
        "an answer was made up for a call that did not end",
    ),
    CodeInfo::warning("turn::unknown-status", "OA-7", "a tool call in a state that nobody knows"),
    CodeInfo::warning("turn::generated-id", "OA-8", "a call without an id got one"),
    CodeInfo::warning("turn::renamed-id", "OA-8", "the id of a call was in use and got a number"),
    CodeInfo::warning("turn::empty-tool-name", "OA-8", "a call without the name of a tool"),
    CodeInfo::warning("turn::invalid-arguments", "OA-8", "arguments of a call are not JSON"),
    CodeInfo::warning("turn::non-object-arguments", "OA-8", "arguments of a call are no object"),
    CodeInfo::warning("convert::orphan-result", "MS-22, MS-24", "a result without a pending call"),
    CodeInfo::warning("convert::split-message", "MS-5, MS-24", "one message became several"),
    CodeInfo::warning("convert::merged-parts", "MS-24", "several texts became one"),
    CodeInfo::warning("convert::json-as-text", "MS-24", "JSON became its text"),
    CodeInfo::warning(
        "convert::invalid-arguments",
        "MS-13, MS-24",
        "arguments that are no JSON became a string",
    ),
    CodeInfo::warning(
        "convert::role-changed",
        "MS-24",
        "the target has no such role, another was written",
    ),
];
