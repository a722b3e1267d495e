//! Streams written (OA-27): what Chat Completions and Responses would send, of a message that is whole or
//! live of any stream's events, so that a proxy speaks OpenAI whatever the model after it speaks. Nothing
//! is sent from here.
//!
//! ```text
//! StreamEvent text-delta "Hi"     data: {"object":"chat.completion.chunk","choices":[{"delta":{"content":"Hi"},…}]}
//!                                 event: response.output_text.delta + the events that open the item before it
//!             finish stop         data: {…"finish_reason":"stop"}      event: response.completed
//!             (end)               data: [DONE]
//! ```

mod chunks;
mod responses;
mod whole;

use msg_codec::{Json, stream::SentCall};
use msg_core::{Code, Diagnostic, FinishReason, Part, RawJson, Report, Usage};
use msg_json::{Writer, to_text};

pub use chunks::{ChunkWriter, write_chunks};
pub use responses::ResponseEventWriter;
pub use whole::write_response_events;

pub(crate) use responses::defaults as response_defaults;
pub(crate) use whole::whole_items;

/// Reports, once for each kind, what a part has that no delta says: these streams have no place for it.
fn lose_part(part: &Part, report: &mut Report) {
    let lost = match part {
        Part::Text(_) | Part::Reasoning(_) | Part::Refusal(_) => Diagnostic::info(
            Code::new("convert::lost-member"),
            "what a part has besides its text has no place and is left out",
        ),
        _ => Diagnostic::warning(
            Code::new("convert::lost-part"),
            "a part that has no place in the stream is left out",
        ),
    };
    if !report.iter().any(|it| *it == lost) {
        report.push(lost);
    }
}

/// Whether a stream ended as the model meant it; one that was cut is left without an end.
fn is_end(reason: &FinishReason) -> bool {
    !matches!(reason, FinishReason::Error | FinishReason::Interrupted)
}

// How a response ended, in the words of the Responses API, and what it cost, in the words of each of the two formats.

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

pub(crate) const CHAT_USAGE: Words = Words {
    input: "prompt_tokens",
    output: "completion_tokens",
    input_details: "prompt_tokens_details",
    output_details: "completion_tokens_details",
    unknown: None,
};

pub(crate) const RESPONSES_USAGE: Words = Words {
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
        return write_own_usage(it, raw, words);
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

/// The provider's own object, with the details that its type asks for and an older model did not count (RQ-25).
fn write_own_usage(it: &mut Writer<'_>, raw: &RawJson, words: &Words) {
    let Some(unknown) = words.unknown else {
        return it.value(|out| raw.write_compact(out));
    };
    let asked: [(&str, &[&str]); 2] = [
        (words.input_details, &["cached_tokens", "cache_write_tokens"]),
        (words.output_details, &["reasoning_tokens"]),
    ];
    let raw = Json::from_valid(raw.text());
    it.object(|it| {
        for (name, value) in raw.members() {
            match asked.iter().find(|it| it.0 == name && value.is_object()) {
                Some((_, asked)) => it.key(&name).object(|it| {
                    value.members().for_each(|(name, value)| it.key(&name).compact(value.source()));
                    zeros(it, asked.iter().filter(|it| value.get(it).is_none()), unknown);
                }),
                None => it.key(&name).compact(value.source()),
            }
        }
        for (name, asked) in asked.iter().filter(|it| raw.get(it.0).is_none()) {
            it.key(name).object(|it| zeros(it, asked.iter(), unknown));
        }
    });
}

fn zeros<'n>(it: &mut Writer<'_>, names: impl Iterator<Item = &'n &'n str>, unknown: u64) {
    names.for_each(|name| it.key(name).u64(unknown));
}

// The items of a response while its events are written: what each is at its start and at its end.

#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) place: usize,
    pub(super) kind: Kind,
    pub(super) text: String,
}

/// What an item of texts says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Refusal,
    Reasoning,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Call {
    pub(super) place: usize,
    pub(super) sent: SentCall,
    pub(super) arguments: String,
}

impl Kind {
    /// The name of its events, the type of its part and the member that holds its text.
    pub(super) fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Text => ("output_text", "output_text", "text"),
            Self::Refusal => ("refusal", "refusal", "refusal"),
            // Clients show summaries only, and a thought of another provider is not OpenAI's own text.
            Self::Reasoning => ("reasoning_summary_text", "summary_text", "text"),
        }
    }

    /// The events of its part, and the member that numbers it.
    pub(super) fn part_words(self) -> (&'static str, &'static str) {
        match self {
            Self::Reasoning => ("reasoning_summary_part", "summary_index"),
            _ => ("content_part", "content_index"),
        }
    }

    /// Its part.
    pub(super) fn part(self, text: &str) -> String {
        let (_, kind, member) = self.words();
        to_text(|it| {
            it.object(|it| {
                it.key("type").str(kind);
                it.key(member).str(text);
                if self == Self::Text {
                    it.key("annotations").array([], |_, _: ()| {});
                }
            });
        })
    }

    /// The id of its item.
    pub(super) fn id(self, place: usize) -> String {
        id_of(if self == Self::Reasoning { "rs" } else { "msg" }, place)
    }

    /// The item of one such part; without text one that begins.
    pub(super) fn item(self, id: &str, text: Option<&str>) -> String {
        let status = if text.is_some() { "completed" } else { "in_progress" };
        to_text(|it| {
            it.object(|it| {
                let is_reasoning = self == Self::Reasoning;
                it.key("type").str(if is_reasoning { "reasoning" } else { "message" });
                it.key("id").str(id);
                if !is_reasoning {
                    it.key("role").str("assistant");
                    it.key("status").str(status);
                }
                let member = if is_reasoning { "summary" } else { "content" };
                it.key(member).array(text, |it, text| it.raw(&self.part(text)));
            });
        })
    }
}

impl Call {
    pub(super) fn item(&self, status: &str) -> String {
        to_text(|it| {
            it.object(|it| {
                it.key("type").str("function_call");
                it.key("id").str(&id_of("fc", self.place));
                it.key("call_id").str(&self.sent.id);
                it.key("name").str(&self.sent.name);
                it.key("arguments").str(&self.arguments);
                it.key("status").str(status);
            });
        })
    }
}

/// The id of an item that has none of its own.
pub(super) fn id_of(prefix: &str, place: usize) -> String {
    format!("{prefix}_{place}")
}
