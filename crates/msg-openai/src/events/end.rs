//! How a response ended, in the words of the Responses API, and what it cost, in the words of each of the two formats.

use msg_codec::Json;
use msg_core::{FinishReason, Usage};
use msg_json::Writer;

/// The end of a response.
pub(crate) struct End<'a> {
    finish: Option<&'a FinishReason>,
    error: Option<&'a str>,
}

impl<'a> End<'a> {
    pub(crate) fn of(finish: Option<&'a FinishReason>, error: Option<&'a str>) -> Self {
        Self { finish, error }
    }

    /// The status; none of a stream that was cut, which has no end.
    pub(crate) fn status(&self) -> Option<&'static str> {
        match self.finish {
            _ if self.error.is_some() => Some("failed"),
            Some(FinishReason::Length | FinishReason::ContentFilter) => Some("incomplete"),
            Some(FinishReason::Error | FinishReason::Interrupted) | None => None,
            Some(_) => Some("completed"),
        }
    }

    /// The value of `error`.
    pub(crate) fn write_error(&self, it: &mut Writer<'_>) {
        match self.error {
            Some(message) => it.object(|it| {
                it.key("code").str("server_error");
                it.key("message").str(message);
            }),
            None => it.null(),
        }
    }

    /// The value of `incomplete_details`.
    pub(crate) fn write_details(&self, it: &mut Writer<'_>) {
        match (self.status(), self.finish) {
            (Some("incomplete"), Some(FinishReason::ContentFilter)) => reason(it, "content_filter"),
            (Some("incomplete"), _) => reason(it, "max_output_tokens"),
            _ => it.null(),
        }
    }
}

fn reason(it: &mut Writer<'_>, word: &str) {
    it.object(|it| it.key("reason").str(word));
}

/// The words of one format.
pub(crate) struct Words {
    input: &'static str,
    output: &'static str,
    input_details: &'static str,
    output_details: &'static str,
    /// What a detail is that was not counted, where the type asks for it.
    unknown: Option<u64>,
}

pub(crate) const CHAT: Words = Words {
    input: "prompt_tokens",
    output: "completion_tokens",
    input_details: "prompt_tokens_details",
    output_details: "completion_tokens_details",
    unknown: None,
};

pub(crate) const RESPONSES: Words = Words {
    input: "input_tokens",
    output: "output_tokens",
    input_details: "input_tokens_details",
    output_details: "output_tokens_details",
    unknown: Some(0),
};

/// Appends the object: the provider's own where it has these words, else one of the numbers.
pub(crate) fn write_usage(it: &mut Writer<'_>, usage: &Usage, words: &Words) {
    let own = usage.raw.as_ref().filter(|raw| {
        let raw = Json::from_valid(raw.text());
        raw.get(words.input).is_some() && raw.get("total_tokens").is_some()
    });
    if let Some(raw) = own {
        return it.value(|out| raw.write_compact(out));
    }
    let (input, output) = (usage.input.unwrap_or(0), usage.output.unwrap_or(0));
    it.object(|it| {
        it.key(words.input).u64(input);
        it.key(words.output).u64(output);
        it.key("total_tokens").u64(usage.total.unwrap_or(input.saturating_add(output)));
        let cached = usage.cached.or(words.unknown);
        let cache_write = usage.cache_write.or(words.unknown);
        if cached.is_some() || cache_write.is_some() {
            it.key(words.input_details).object(|it| {
                it.optional("cached_tokens", cached, |it, n| it.u64(n));
                it.optional("cache_write_tokens", cache_write, |it, n| it.u64(n));
            });
        }
        if let Some(reasoning) = usage.reasoning.or(words.unknown) {
            it.key(words.output_details).object(|it| it.key("reasoning_tokens").u64(reasoning));
        }
    });
}
