//! Finish reasons and usage in Gemini's words.

use msg_core::{FinishReason, Usage};
use msg_json::Writer as JsonWriter;

/// Gemini's word for a finish reason; none for a stream that was stopped.
pub(super) fn word(reason: &FinishReason) -> Option<String> {
    let word = match reason {
        FinishReason::Stop | FinishReason::ToolCalls => "STOP",
        FinishReason::Length => "MAX_TOKENS",
        FinishReason::ContentFilter => "SAFETY",
        FinishReason::Interrupted => return None,
        FinishReason::Error => "OTHER",
        other => other.as_str(),
    };
    Some(word.to_owned())
}

/// The provider's own object where it is Gemini's, else one of the numbers.
pub(crate) fn usage_metadata(usage: &Usage, it: &mut JsonWriter<'_>) {
    let own = usage.raw.as_ref().filter(|raw| {
        let members = msg_codec::codec::object_members(raw).unwrap_or_default();
        members.iter().any(|it| it.name.ends_with("TokenCount"))
    });
    if let Some(own) = own {
        let mut compact = Vec::new();
        own.write_compact(&mut compact);
        return it.value(|out| out.extend_from_slice(&compact));
    }
    it.object(|it| {
        for (name, count) in [
            ("promptTokenCount", usage.input),
            // Thoughts are beside the output here, and inside of it elsewhere (RQ-25).
            (
                "candidatesTokenCount",
                usage.output.map(|it| it.saturating_sub(usage.reasoning.unwrap_or(0))),
            ),
            (
                "totalTokenCount",
                usage.total.or(usage.input.zip(usage.output).map(|it| it.0.saturating_add(it.1))),
            ),
            ("cachedContentTokenCount", usage.cached),
            ("thoughtsTokenCount", usage.reasoning),
        ] {
            it.optional(name, count, |it, n| it.u64(n));
        }
    });
}
