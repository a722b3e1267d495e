//! Why a candidate ended (GE-16): Gemini's words in those of `msg-core`.

use msg_codec::ProviderError;
use msg_core::{FinishReason, RawJson};

/// What a reason means; an unknown one is kept.
pub(crate) fn meaning(raw: &str) -> FinishReason {
    match raw {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" | "CONTINUATION" => FinishReason::Length,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => FinishReason::ContentFilter,
        "MALFORMED_FUNCTION_CALL"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MISSING_THOUGHT_SIGNATURE"
        | "MALFORMED_RESPONSE" => FinishReason::Error,
        other => FinishReason::from(other),
    }
}

/// The error that a reason is: an answer that came to nothing is never a success.
pub(super) fn error(raw: &str, message: Option<&str>) -> ProviderError {
    let what = if raw.contains("CALL") { "tool call" } else { "answer" };
    let sentence = || format!("the model's {what} was refused: {raw}");
    coded(message.map_or_else(sentence, str::to_owned), raw)
}

/// The error of a prompt that was not answered.
pub(super) fn blocked(raw: &str, message: Option<&str>) -> ProviderError {
    let sentence = || format!("the prompt was blocked: {raw}");
    coded(message.map_or_else(sentence, str::to_owned), raw)
}

fn coded(message: String, raw: &str) -> ProviderError {
    let mut error = ProviderError::new(message);
    error.code = Some(RawJson::string(raw));
    error
}
