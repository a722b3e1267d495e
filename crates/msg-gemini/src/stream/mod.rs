//! Gemini streams (GE-14 to GE-17): each chunk is a whole response whose parts append.
//!
//! ```text
//! {"candidates":[{"content":{"parts":[{"text":"Hel"}]}}]}
//! {"candidates":[{"content":{"parts":[{"text":"lo"}]},"finishReason":"STOP"}]}   -> Text "Hello", stop
//! ```

mod candidate;
mod chunk;
mod partial;

use std::borrow::Cow;
use std::collections::BTreeMap;

use msg_codec::stream::{Head, Note};
use msg_codec::{
    Assembled, Assembler, Json, ProviderError, Sink, StreamFamily, StreamOptions, StreamState,
};
use msg_core::{FinishReason, RawJson};
use msg_json::Kind;

use crate::stream::candidate::Candidate;
use crate::stream::chunk::{Body, CandidateView};

/// Gemini streams, for a [`StreamReader`](msg_codec::StreamReader).
///
/// ```
/// use msg_gemini::GEMINI;
/// use msg_codec::{StreamOptions, StreamReader};
///
/// let mut reader = StreamReader::new(&[GEMINI], StreamOptions::default());
/// reader.feed(br#"[{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}]"#, &mut |_| {});
/// let res = reader.finish(&mut |_| {});
/// assert!(res.complete);
/// assert_eq!(res.choices[0].message.text(), "Hi");
/// ```
pub const GEMINI: StreamFamily = StreamFamily {
    name: "gemini",
    recognises,
    assembler: Some(|options| Box::new(GeminiAssembler::new(options))),
};

fn recognises(event: Json<'_>) -> bool {
    let response = event.get("response").filter(|it| it.is_object()).unwrap_or(event);
    let names =
        ["candidates", "promptFeedback", "prompt_feedback", "usageMetadata", "usage_metadata"];
    names.iter().any(|name| response.get(name).is_some())
}

/// A piece of an argument without a call.
pub(crate) const UNKNOWN_DELTA: Note = Note::warning("stream::unknown-delta");

/// A piece of an argument for a place that cannot be.
pub(super) const BAD_PATH: Note = Note::warning("stream::bad-path");

// Why a candidate ended (GE-16): Gemini's words in those of `msg-core`.

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

// Chunks of a Gemini stream to messages (GE-14): each is a whole response, bare or wrapped.

/// Assembles the chunks of a Gemini stream.
///
/// ```
/// use msg_gemini::GeminiAssembler;
/// use msg_codec::{Assembler, StreamOptions};
///
/// let mut assembler = GeminiAssembler::new(&StreamOptions::default());
/// for data in [
///     r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hel"}]}}]}"#,
///     r#"{"candidates":[{"content":{"parts":[{"text":"lo"}]},"finishReason":"STOP"}]}"#,
/// ] {
///     assembler.event(data.into(), &mut |_| {});
/// }
/// let res = assembler.finish(&mut |_| {});
/// assert!(res.complete);
/// assert_eq!(res.choices[0].message.text(), "Hello");
/// ```
#[derive(Debug, Clone)]
pub struct GeminiAssembler {
    head: Head,
    candidates: BTreeMap<u32, Candidate>,
}

impl GeminiAssembler {
    /// An assembler at the start of a stream.
    #[must_use]
    pub fn new(options: &StreamOptions) -> Self {
        Self { head: Head::new(options), candidates: BTreeMap::new() }
    }

    fn candidate(&mut self, view: CandidateView<'_>, sink: &mut Sink<'_>) {
        let index = view.index.and_then(Json::whole_number).unwrap_or(0);
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let mut step = self.head.step(index, sink);
        let is_new = !self.candidates.contains_key(&index);
        if is_new && self.candidates.len() >= step.limits.max_calls {
            return step.text_gauge().limit();
        }
        let candidate = self.candidates.entry(index).or_default();
        candidate.take(view.members, &mut step);
        let given = view.finish.get();
        if let Some(odd) = given.filter(|it| !it.is_string()) {
            step.left_out("finishReason", "a string", odd);
        }
        let Some(word) = given.and_then(Json::text) else { return };
        let meaning = meaning(&word);
        let is_error = meaning == FinishReason::Error;
        if candidate.finish(&word, meaning, &mut step) && is_error {
            let message = view.message.get().and_then(Json::text);
            self.head.fail(error(&word, message.as_deref()), sink);
        }
    }

    /// Takes a response, and the error that is beside it.
    fn response(&mut self, body: Body<'_>, error: Option<Json<'_>>, sink: &mut Sink<'_>) {
        let is_over =
            !self.candidates.is_empty() && self.candidates.values().all(|it| it.finish.is_known());
        let id = body.id.get().and_then(Json::text);
        if is_over && id.is_some_and(|id| self.head.id.as_ref().is_some_and(|own| *own != id)) {
            self.head.note_another();
        }
        self.head.follow(body.id.get(), || !self.candidates.is_empty() && !is_over);
        self.head.identify(body.id.get(), body.version.get(), None);
        let says_something = body.says_something();
        let mut is_known = self.head.set_usage(body.usage.get());
        for candidate in body.candidates {
            is_known = true;
            let source = candidate.source;
            if body.is_lone || !source.is_object() {
                let step = &mut self.head.step(0, sink);
                match source.is_object() {
                    true => step.wrong_type("candidates", "a list of candidates", source),
                    false => step.left_out("candidates", "a list of candidates", source),
                }
            }
            self.candidate(candidate, sink);
        }
        is_known |= self.feedback(body.feedback.get(), sink);
        if let Some(error) = error.or(body.error) {
            is_known |= self.error(error, sink);
        }
        if !is_known && !says_something {
            self.head.note(Note::UNKNOWN_EVENT, || "a chunk that is not a response".into());
        }
    }

    /// A prompt that is blocked has no answer; false if it is not.
    fn feedback(&mut self, feedback: Option<Json<'_>>, sink: &mut Sink<'_>) -> bool {
        let Some(feedback) = feedback else { return false };
        let member = |camel, snake| {
            let [camel, snake] = feedback.pick([camel, snake]);
            camel.or(snake).and_then(Json::text)
        };
        if let Some(word) = member("blockReason", "block_reason") {
            let message = member("blockReasonMessage", "block_reason_message");
            self.head.finish.get_or_insert(FinishReason::ContentFilter);
            self.head.fail(blocked(&word, message.as_deref()), sink);
        }
        true
    }

    /// `{"error":{"code":400,"message":"..","status":"INVALID_ARGUMENT"}}`: the status is its type (GE-20).
    fn error(&mut self, raw: Json<'_>, sink: &mut Sink<'_>) -> bool {
        let Some(mut error) = ProviderError::of_member(raw) else { return false };
        let status = raw.get("status").and_then(Json::text).map(Cow::into_owned);
        error.kind = error.kind.or(status);
        self.head.fail(error, sink);
        true
    }
}

impl Assembler for GeminiAssembler {
    fn head(&self) -> &Head {
        &self.head
    }

    fn head_mut(&mut self) -> &mut Head {
        &mut self.head
    }

    fn take(&mut self, data: &str, _name: Option<&str>, sink: &mut Sink<'_>) {
        let (mut whole, mut response) = (Body::default(), None);
        let is_read = self.head.read(data, |name, reader| {
            if name == "response" && reader.peek()? == Kind::Object {
                response = Some(Body::read(reader)?);
                return Ok(());
            }
            whole.member(name, reader)
        });
        if is_read {
            let error = whole.error;
            self.response(response.unwrap_or(whole), error, sink);
        }
    }

    fn close(mut self: Box<Self>, state: StreamState, sink: &mut Sink<'_>) -> Assembled {
        let is_answered =
            !self.candidates.is_empty() && self.candidates.values().all(|it| it.finish.is_known());
        let early = (!is_answered).then_some("without a finish reason");
        let ending = self.head.ending(state, early);
        let candidates = std::mem::take(&mut self.candidates).into_iter();
        let choices = candidates
            .map(|(index, it)| it.close(index, (state, ending), &mut self.head, sink))
            .collect();
        self.head.assemble(choices, ending, state, sink)
    }

    fn boxed_clone(&self) -> Box<dyn Assembler> {
        Box::new(self.clone())
    }
}
