//! The captured bytes of a provider's stream in, the assembled message out (OA-27).
//!
//! ```text
//! data: {"choices":[{"delta":{"content":"he"}}]} …     {"message":{"role":"assistant","content":"hello"},"complete":true,…}
//! ```
//!
//! What the bytes mean is for the wire crates to say; nothing is fetched here.

mod options;
mod run;

use msg_codec::{Family, Json};
use serde::Deserialize;

use crate::line::{bad_line, decoded};
use crate::refusal::Refusal;

pub use self::options::{Provider, StreamForm, StreamOptions};
pub use self::run::{StreamRow, StreamRun, Streamed, stream};

// A line of `msg stream --jsonl`: a body in an envelope.

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    sse: Option<String>,
    sse_b64: Option<String>,
    provider: Option<Provider>,
    chunk: Option<usize>,
    options: Option<Own>,
}

/// What a line says in `options`: the rest is said beside it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Own {
    to: StreamForm,
    events: bool,
    split_concatenated: bool,
    max_event_bytes: Option<usize>,
    interrupt_after: Option<usize>,
}

impl Line {
    fn options(&self, defaults: &StreamOptions) -> StreamOptions {
        let mut res = defaults.clone();
        if let Some(own) = &self.options {
            res.to = own.to;
            res.events = own.events;
            res.split_concatenated = own.split_concatenated;
            res.max_event_bytes = own.max_event_bytes;
            res.interrupt_after = own.interrupt_after;
        }
        res.provider = self.provider.unwrap_or(res.provider);
        res.chunk = self.chunk.unwrap_or(res.chunk);
        res
    }
}

impl StreamOptions {
    /// The answer to a line of `msg stream --jsonl`: an object with `sse` or `sse_b64`, and what is else to be said
    /// of this one; and whether nothing was wrong with it.
    ///
    /// Fails for a line that is not such an object. Linear in the line.
    ///
    /// ```
    /// use msg_document::StreamOptions;
    ///
    /// assert!(StreamOptions::default().answer_line(br#"{"sse":"data: [DONE]\n\n"}"#).is_ok());
    /// assert!(StreamOptions::default().answer_line(b"[]").is_err());
    /// ```
    pub fn answer_line(&self, line: &[u8]) -> Result<(Vec<u8>, bool), Refusal> {
        let line: Line = serde_json::from_slice(line).map_err(|it| bad_line(it.to_string()))?;
        let options = line.options(self);
        let body = match (line.sse, line.sse_b64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(text)) => decoded("sse_b64", &text)?,
            _ => return Err(bad_line("expected one of sse and sse_b64")),
        };
        let streamed = stream(&body, &options)?;
        Ok((streamed.to_json(), streamed.is_clean()))
    }
}

// The families of streams that are known, in the order in which they are asked whose an event
// is (OA-17). What those that are read are, is for their crates to say; the others are known only so that
// a stream of theirs is refused by its name.

/// All of them; what none recognises and is an error, or nothing at all, is Chat Completions.
pub(super) static ALL: [Family; 11] = [
    msg_openai::RESPONSES,
    msg_anthropic::ANTHROPIC,
    COHERE,
    msg_gemini::GEMINI,
    msg_gemini::interactions::INTERACTIONS,
    msg_bedrock::BEDROCK,
    OLLAMA,
    ASSISTANTS,
    GENERATION,
    UI_MESSAGES,
    msg_openai::CHAT,
];

pub(super) static CHAT: [Family; 1] = [msg_openai::CHAT];
pub(super) static RESPONSES: [Family; 1] = [msg_openai::RESPONSES];
pub(super) static ANTHROPIC: [Family; 1] = [msg_anthropic::ANTHROPIC];
pub(super) static GEMINI: [Family; 1] = [msg_gemini::GEMINI];
pub(super) static BEDROCK: [Family; 1] = [msg_bedrock::BEDROCK];
pub(super) static INTERACTIONS: [Family; 1] = [msg_gemini::interactions::INTERACTIONS];

const COHERE: Family = foreign("Cohere", |it| {
    let kinds =
        ["message-start", "content-delta", "tool-plan-delta", "citation-start", "message-end"];
    is_one_of(it, "type", &kinds)
        || is_one_of(it, "event_type", &["stream-start", "text-generation", "stream-end"])
});
const OLLAMA: Family = foreign("Ollama", |it| {
    let says = it.get("message").is_some_and(Json::is_object) || it.get("response").is_some();
    says && it.get("created_at").is_some()
        && it.get("done").is_some()
        && it.get("choices").is_none()
});
const ASSISTANTS: Family = foreign("OpenAI Assistants", |it| {
    it.get("object").and_then(Json::text).is_some_and(|it| it.starts_with("thread."))
});
const GENERATION: Family = foreign("Hugging Face text generation", |it| {
    it.get("token").is_some_and(Json::is_object) && it.get("choices").is_none()
});
const UI_MESSAGES: Family = foreign("Vercel AI SDK UI messages", |it| {
    is_one_of(it, "type", &["start", "start-step", "text-start", "text-delta", "finish-step"])
});

/// A family that is not read: what people call it, and whether an event is of it.
const fn foreign(name: &'static str, recognises: fn(Json<'_>) -> bool) -> Family {
    Family { name, recognises, assembler: None }
}

fn is_one_of(event: Json<'_>, member: &str, words: &[&str]) -> bool {
    event.get(member).and_then(Json::text).is_some_and(|it| words.contains(&&*it))
}
