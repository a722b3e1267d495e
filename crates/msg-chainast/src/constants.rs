//! The fixed texts of a chain: placeholders, the summarization tool, the fake signature.
//!
//! They are part of what a repaired chain looks like, so they never change.

/// Arguments of a call that was made up, and of one that came without any.
pub const FALLBACK_REQUEST_ARGS: &str = "{}";
/// Content of the result that a call without one is given (CA-31).
pub const FALLBACK_RESPONSE_CONTENT: &str = "the call was not handled, please try again";
/// Name of a call whose name is nowhere.
pub const FALLBACK_TOOL_NAME: &str = "unknown_tool";
/// Text of the user message that opens a chain which began otherwise.
pub const FIRST_USER_CONTENT: &str = "(start of the conversation)";
/// Text of a message without content, where a provider refuses one.
pub const EMPTY_CONTENT: &str = "(no content)";
/// Text of the assistant message between tool results and a user message, where a provider wants one.
pub const BRIDGE_CONTENT: &str = "(tool results received)";
/// The tool whose call makes a pair a summarization (CA-2).
pub const SUMMARIZATION_TOOL_NAME: &str = "execute_task_and_return_summary";
/// Arguments of the summarization call.
pub const SUMMARIZATION_TOOL_ARGS: &str =
    r#"{"question": "delegate and execute the task, then return the summary of the result"}"#;
/// Pattern of fresh tool call ids (CA-50).
pub const TOOL_CALL_ID_PATTERN: &str = "call_{r:24:x}";
/// What Gemini accepts in the place of a thought signature.
pub const FAKE_SIGNATURE_GEMINI: &str = "skip_thought_signature_validator";
