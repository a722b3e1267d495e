//! Chunks of a Gemini stream to messages (GE-14): each is a whole response, bare or wrapped.

use std::borrow::Cow;
use std::collections::BTreeMap;

use msg_codec::Json;
use msg_codec::stream::{Head, Note};
use msg_codec::{Assembled, Assembler, ProviderError, Sink, StreamOptions, StreamState};
use msg_core::FinishReason;

use super::candidate::Candidate;
use super::reason;

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

    fn candidate(&mut self, raw: Json<'_>, sink: &mut Sink<'_>) {
        let index = raw.get("index").and_then(Json::whole_number).unwrap_or(0);
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let mut step = self.head.step(index, sink);
        let is_new = !self.candidates.contains_key(&index);
        if is_new && self.candidates.len() >= step.limits.max_calls {
            return step.text_gauge().limit();
        }
        let candidate = self.candidates.entry(index).or_default();
        candidate.take(raw, &mut step);
        let Some(word) = member(raw, "finishReason").and_then(Json::text) else { return };
        let meaning = reason::meaning(&word);
        let is_error = meaning == FinishReason::Error;
        if candidate.finish(&word, meaning, &mut step) && is_error {
            let message = member(raw, "finishMessage").and_then(Json::text);
            self.head.fail(reason::error(&word, message.as_deref()), sink);
        }
    }

    /// A prompt that is blocked has no answer; false if it is not.
    fn feedback(&mut self, response: Json<'_>, sink: &mut Sink<'_>) -> bool {
        let feedback = member(response, "promptFeedback");
        let Some(word) = feedback.and_then(|it| member(it, "blockReason")).and_then(Json::text)
        else {
            return feedback.is_some();
        };
        let message = feedback.and_then(|it| member(it, "blockReasonMessage")).and_then(Json::text);
        self.head.finish.get_or_insert(FinishReason::ContentFilter);
        self.head.fail(reason::blocked(&word, message.as_deref()), sink);
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
        let mut response = None;
        if !self.head.object(data, |key, value| {
            if key == "response" && value.is_object() {
                response = Some(value);
            }
        }) {
            return;
        }
        let whole = Json::from_valid(data.trim_ascii());
        let response = response.unwrap_or(whole);
        self.head.identify(member(response, "responseId"), member(response, "modelVersion"), None);
        let mut is_known = self.head.set_usage(member(response, "usageMetadata"));
        let candidates = response.get("candidates").filter(|it| !it.is_null());
        let lone = candidates.filter(|it| !it.is_array());
        for candidate in lone.into_iter().chain(candidates.into_iter().flat_map(Json::elements)) {
            is_known = true;
            if lone.is_some() || !candidate.is_object() {
                let step = &mut self.head.step(0, sink);
                match candidate.is_object() {
                    true => step.wrong_type("candidates", "a list of candidates", candidate),
                    false => step.left_out("candidates", "a list of candidates", candidate),
                }
            }
            self.candidate(candidate, sink);
        }
        is_known |= self.feedback(response, sink);
        if let Some(error) = whole.get("error").or_else(|| response.get("error")) {
            is_known |= self.error(error, sink);
        }
        let says_nothing = ["candidates", "usageMetadata", "promptFeedback", "responseId"];
        if !is_known && says_nothing.iter().all(|name| member(response, name).is_none()) {
            self.head.note(Note::UNKNOWN_EVENT, || "a chunk that is no response".into());
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

/// A member in camel case, or in the snake case that the Python library writes (GE-2).
pub(super) fn member<'a>(object: Json<'a>, name: &str) -> Option<Json<'a>> {
    object.get(name).or_else(|| {
        let mut snake = String::with_capacity(name.len() + 2);
        for it in name.chars() {
            if it.is_ascii_uppercase() {
                snake.push('_');
            }
            snake.push(it.to_ascii_lowercase());
        }
        object.get(&snake)
    })
}
