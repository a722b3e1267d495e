//! Chat Completions streams (OA-18 to OA-21): chunks in, one message a choice out. It takes what
//! compatible servers really send, says so where that is not what the format has, and never
//! completes a call that may have been cut off.

use std::borrow::Cow;

use msg_core::{
    Audio, CallKind, FinishReason, Message, Origin, Part, Reasoning, Role, StreamEvent,
};

use super::Assembler;
use super::assembled::{Assembled, AssembledChoice};
use super::calls::{Calls, Entry, Sink, Step};
use super::channel::Channel;
use super::close::{Closing, incomplete_ids};
use super::details::Details;
use super::engine::Headed;
use super::error::ProviderError;
use super::finish::{Finish, StreamState};
use super::head::{Data, Head};
use super::loose::Loose;
use super::notes::Note;
use super::output::{self, Kind};
use super::reader::StreamOptions;
use super::sse::SseEvent;
use super::wire::{Raw, Str};
use crate::chat::signature;

/// Assembles the chunks of a Chat Completions stream.
///
/// ```
/// use msg_openai::{Assembler, ChatAssembler, SseEvent, StreamOptions};
///
/// let mut assembler = ChatAssembler::new(&StreamOptions::default());
/// for data in [
///     r#"{"choices":[{"delta":{"content":"Hel"}}]}"#,
///     r#"{"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}]}"#,
///     "[DONE]",
/// ] {
///     assembler.event(SseEvent { event: None, data: data.into() }, &mut |_| {});
/// }
/// let res = assembler.finish(&mut |_| {});
/// assert!(res.complete);
/// assert_eq!(res.choices[0].message.text(), "Hello");
/// ```
#[derive(Debug, Clone)]
pub struct ChatAssembler {
    head: Head,
    choices: Vec<Choice>,
    /// Place of the choice that the last chunk was about.
    recent: usize,
    done: bool,
}

#[derive(Debug, Clone, Default)]
struct Choice {
    index: u32,
    text: Channel,
    reasoning: Channel,
    refusal: Channel,
    audio: Option<AudioSoFar>,
    calls: Calls,
    details: Details,
    loose: Loose,
    finish: Finish,
}

#[derive(Debug, Clone, Default)]
struct AudioSoFar {
    id: Option<String>,
    data: Channel,
    transcript: Channel,
    loose: Loose,
}

/// The members of a chunk that count.
#[derive(Default)]
struct Chunk<'a> {
    id: Option<Raw<'a>>,
    model: Option<Raw<'a>>,
    created: Option<Raw<'a>>,
    object: Option<Raw<'a>>,
    usage: Option<Raw<'a>>,
    error: Option<Raw<'a>>,
    choices: Option<Raw<'a>>,
}

impl ChatAssembler {
    /// An assembler at the start of a stream.
    #[must_use]
    pub fn new(options: &StreamOptions) -> Self {
        Self { head: Head::new(options), choices: Vec::new(), recent: 0, done: false }
    }

    /// What was assembled so far, as [`StreamState::Open`]. Copies the texts: O(size).
    #[must_use]
    pub fn snapshot(&self) -> Assembled {
        self.clone().close(StreamState::Open, &mut |_| {})
    }

    /// Takes a body that is one document (OA-17): a completion, or else an error.
    pub(crate) fn document(&mut self, text: &str, sink: &mut Sink<'_>) {
        let mut is_completion = false;
        let is_object = self.head.object(text, |key, value| match key {
            "choices" => is_completion = true,
            "object" => {
                is_completion |= value.text().is_some_and(|it| it.starts_with("chat.completion"));
            }
            _ => {}
        });
        if is_completion {
            self.chunk(text, false, sink);
        } else if is_object {
            let whole = Raw(text.trim_ascii());
            let member = whole.get("error").and_then(ProviderError::of_member);
            self.head.fail(member.unwrap_or_else(|| ProviderError::of_object(whole)), sink);
        }
    }

    fn chunk(&mut self, data: &str, named_error: bool, sink: &mut Sink<'_>) {
        let mut chunk = Chunk::default();
        let is_object = self.head.object(data, |key, value| {
            let place = match key {
                "id" => &mut chunk.id,
                "model" => &mut chunk.model,
                "created" => &mut chunk.created,
                "object" => &mut chunk.object,
                "usage" => &mut chunk.usage,
                "error" => &mut chunk.error,
                "choices" => &mut chunk.choices,
                _ => return,
            };
            *place = Some(value);
        });
        if !is_object {
            return;
        }
        self.head.identify(chunk.id, chunk.model, chunk.created);
        self.head.set_usage(chunk.usage);
        self.error(&chunk, Raw(data.trim_ascii()), named_error, sink);
        for choice in chunk.choices.into_iter().flat_map(Raw::elements) {
            self.choice(choice, sink);
        }
    }

    /// OA-21
    fn error(&mut self, chunk: &Chunk<'_>, whole: Raw<'_>, named: bool, sink: &mut Sink<'_>) {
        let is_error = chunk.object.and_then(Raw::text).is_some_and(|it| it == "error");
        let error = match chunk.error.and_then(ProviderError::of_member) {
            Some(error) => error,
            None if is_error || (named && chunk.choices.is_none()) => {
                ProviderError::of_object(whole)
            }
            None => return,
        };
        self.head.fail(error, sink);
    }

    fn choice(&mut self, raw: Raw<'_>, sink: &mut Sink<'_>) {
        let (mut index, mut delta, mut message, mut finish) = (0, None, None, None);
        for (key, value) in raw.members() {
            match &*key {
                "index" => index = value.whole_number().unwrap_or(0),
                "delta" => delta = Some(value),
                "message" => message = Some(value),
                "finish_reason" => finish = value.text(),
                "usage" => self.head.set_usage(Some(value)),
                _ => {}
            }
        }
        if !raw.is_object() {
            return;
        }
        let index = u32::try_from(index).unwrap_or(0);
        let Some(place) = self.place_of(index) else {
            return;
        };
        let choice = &mut self.choices[place];
        let delta = delta.filter(|it| it.is_object()).or(message);
        if let Some(delta) = delta {
            choice.delta(delta, &mut self.head.step(index, sink));
        }
        if let Some(finish) = finish {
            choice.finish.set(finish, self.head.at, &mut self.head.notes);
        }
    }

    /// Where the choice of this index is; a new one is made, up to the limit.
    fn place_of(&mut self, index: u32) -> Option<usize> {
        let is_recent = self.choices.get(self.recent).is_some_and(|it| it.index == index);
        if is_recent {
            return Some(self.recent);
        }
        let place = match self.choices.iter().position(|it| it.index == index) {
            Some(place) => place,
            None if self.choices.len() < self.head.limits.max_choices => {
                self.choices.push(Choice { index, ..Choice::default() });
                self.choices.len() - 1
            }
            None => {
                self.head.note(Note::Limit, || "the stream has more choices than allowed".into());
                return None;
            }
        };
        self.recent = place;
        Some(place)
    }
}

impl Headed for ChatAssembler {
    fn head_mut(&mut self) -> &mut Head {
        &mut self.head
    }

    fn close(mut self, state: StreamState, sink: &mut Sink<'_>) -> Assembled {
        let all_finished =
            !self.choices.is_empty() && self.choices.iter().all(|it| it.finish.is_known());
        let ended = state == StreamState::Ended && (self.done || all_finished);
        let failed = self.head.error.is_some();
        if state == StreamState::Ended && !ended && !failed {
            self.head.note(Note::Truncated, || {
                "the stream stopped without a finish reason or [DONE]".into()
            });
        }
        let whole = ended && !failed;
        let mut choices = std::mem::take(&mut self.choices);
        choices.sort_by_key(|it| it.index);
        let head = &mut self.head;
        let choices: Vec<_> =
            choices.into_iter().map(|it| it.close(state, whole, head, sink)).collect();
        self.head.assemble(choices, whole, state, sink)
    }
}

impl Assembler for ChatAssembler {
    fn event(&mut self, event: SseEvent<'_>, sink: &mut dyn FnMut(StreamEvent<'_>)) {
        if self.done {
            return;
        }
        match Data::of(&event.data, self.head.at, &mut self.head.notes) {
            Data::Noise => {}
            Data::Done => self.done = true,
            Data::Json => self.chunk(&event.data, event.event == Some("error"), sink),
        }
    }

    fn locate(&mut self, offset: u64) {
        self.head.at = offset;
    }

    fn is_finished(&self) -> bool {
        self.done
    }

    fn finish(self, sink: &mut dyn FnMut(StreamEvent<'_>)) -> Assembled {
        self.close(StreamState::Ended, sink)
    }

    fn interrupt_with(self, sink: &mut dyn FnMut(StreamEvent<'_>)) -> Assembled {
        self.close(StreamState::Interrupted, sink)
    }
}

impl Choice {
    /// OA-18
    fn delta(&mut self, delta: Raw<'_>, step: &mut Step<'_, '_>) {
        let mut content = None;
        let mut reasoning = [None; 2];
        let mut details = None;
        for (key, value) in delta.members() {
            match &*key {
                "role" => {}
                "content" => content = Some(value),
                "refusal" => {
                    if let Some(text) = value.filled() {
                        self.note_late(step);
                        output::push(Kind::Refusal, &mut self.refusal, text, step);
                    }
                }
                "reasoning_content" => reasoning[0] = value.filled(),
                "reasoning" => reasoning[1] = value.filled(),
                "reasoning_details" => details = Some(value).filter(|it| it.is_array()),
                "audio" => self.audio(value, step),
                "tool_calls" => self.tool_calls(value, step),
                "function_call" => self.function_call(value, step),
                _ => self.loose.add(&key, value, &mut step.text_gauge()),
            }
        }
        if let Some(text) = reasoning[0].or(reasoning[1]) {
            output::push(Kind::Reasoning, &mut self.reasoning, text, step);
        } else {
            for text in details.into_iter().flat_map(Details::texts) {
                output::push(Kind::Reasoning, &mut self.reasoning, text, step);
            }
        }
        if let Some(details) = details {
            self.details.add(details, &mut step.text_gauge());
        }
        if let Some(content) = content {
            self.content(content, step);
        }
    }

    fn content(&mut self, content: Raw<'_>, step: &mut Step<'_, '_>) {
        if let Some(text) = content.filled() {
            self.push_text(text, step);
        }
        for item in content.elements() {
            if let Some(text) = item.filled() {
                self.push_text(text, step);
            }
            match item.get("type").and_then(Raw::text).as_deref() {
                Some("text") => {
                    if let Some(text) = item.get("text").and_then(Raw::filled) {
                        self.push_text(text, step);
                    }
                }
                Some("thinking") => {
                    let Some(thinking) = item.get("thinking") else { continue };
                    for text in thinking.filled().into_iter().chain(Details::texts(thinking)) {
                        output::push(Kind::Reasoning, &mut self.reasoning, text, step);
                    }
                }
                _ => {}
            }
        }
    }

    fn push_text(&mut self, text: Str<'_>, step: &mut Step<'_, '_>) {
        self.note_late(step);
        output::push(Kind::Text, &mut self.text, text, step);
    }

    /// OA-20: what comes behind the finish reason is taken, and noted.
    fn note_late(&self, step: &mut Step<'_, '_>) {
        if self.finish.is_known() {
            step.note(Note::DataAfterFinish, || "output came after the finish reason".into());
        }
    }

    fn audio(&mut self, audio: Raw<'_>, step: &mut Step<'_, '_>) {
        if !audio.is_object() {
            return;
        }
        let so_far = self.audio.get_or_insert_default();
        for (key, value) in audio.members() {
            let gauge = &mut step.text_gauge();
            match (&*key, value.string()) {
                ("id", Some(_)) if so_far.id.is_none() => {
                    so_far.id = value.text().map(Cow::into_owned);
                }
                ("id", _) => {}
                ("data", Some(text)) => drop(so_far.data.push(text, gauge)),
                ("transcript", Some(text)) => drop(so_far.transcript.push(text, gauge)),
                _ => so_far.loose.add(&key, value, gauge),
            }
        }
    }

    fn tool_calls(&mut self, calls: Raw<'_>, step: &mut Step<'_, '_>) {
        if calls.is_object() {
            self.tool_call(calls, step);
        }
        for call in calls.elements() {
            if call.is_object() {
                self.tool_call(call, step);
            }
        }
    }

    /// OA-19
    fn tool_call(&mut self, call: Raw<'_>, step: &mut Step<'_, '_>) {
        self.note_late(step);
        let mut entry = Entry::default();
        let mut body = None;
        let mut unknown = false;
        for (key, value) in call.members() {
            match &*key {
                "index" => entry.index = value.whole_number(),
                "id" => entry.id = value.id(),
                "type" => {}
                "function" if value.is_object() => body = Some(value),
                "custom" if value.is_object() => {
                    entry.kind = CallKind::Custom;
                    body = Some(value);
                }
                "function" | "custom" => {}
                _ => unknown |= !value.is_null(),
            }
        }
        let Some(place) = self.entry(entry, body, step) else {
            return;
        };
        if unknown {
            self.unknown_members(place, call, step);
        }
    }

    fn function_call(&mut self, call: Raw<'_>, step: &mut Step<'_, '_>) {
        if call.is_object() {
            self.note_late(step);
            self.entry(Entry { index: Some(0), ..Entry::default() }, Some(call), step);
        }
    }

    /// Takes an entry whose name and arguments are in `body`; gives the place of its call.
    fn entry<'a>(
        &mut self,
        mut entry: Entry<'a>,
        body: Option<Raw<'a>>,
        step: &mut Step<'_, '_>,
    ) -> Option<usize> {
        let mut object = String::new();
        let mut arguments = None;
        for (key, value) in body.into_iter().flat_map(Raw::members) {
            match &*key {
                "name" => entry.name = value.text(),
                "arguments" | "input" => arguments = Some(value),
                _ => {}
            }
        }
        entry.arguments = arguments.and_then(Raw::filled);
        if let Some(value) = arguments.filter(|it| it.is_object() || it.is_array()) {
            step.note(Note::ArgumentsObject, || "arguments came as JSON instead of text".into());
            object = value.compact();
        }
        if object.is_empty() {
            return self.calls.take(&entry, step);
        }
        let Entry { index, id, name, kind, .. } = entry;
        let arguments = Some(Str::plain(&object));
        self.calls.take(&Entry { index, id, name, arguments, kind }, step)
    }

    /// The last value of each counts; Gemini's signature has a place of its own (OA-1).
    fn unknown_members(&mut self, place: usize, call: Raw<'_>, step: &mut Step<'_, '_>) {
        let slot = &mut self.calls.slots[place];
        for (key, value) in call.members() {
            let known = matches!(&*key, "index" | "id" | "type" | "function" | "custom");
            if known || value.is_null() || !step.text_gauge().take(value.source().len()) {
                continue;
            }
            let split =
                (key == "extra_content").then(|| signature::split(value.source())).flatten();
            let kept = match split {
                Some(split) => {
                    slot.signature = Some(split.signature);
                    split.rest
                }
                None => Some(value.to_json()),
            };
            if let Some(kept) = kept {
                slot.extra.insert(Origin::OpenAi, &*key, kept);
            }
        }
    }

    fn close(
        mut self,
        state: StreamState,
        whole: bool,
        head: &mut Head,
        sink: &mut Sink<'_>,
    ) -> AssembledChoice {
        let mut step = head.step(self.index, sink);
        output::end(Kind::Reasoning, &mut self.reasoning, &mut step);
        output::end(Kind::Text, &mut self.text, &mut step);
        output::end(Kind::Refusal, &mut self.refusal, &mut step);
        let has_calls = !self.calls.is_empty();
        let reason = self.finish.reason();
        let cut = !whole || reason.as_ref().is_some_and(FinishReason::is_cut);
        let closed =
            self.calls.close(Closing { cut, split: head.split }, &mut head.step(self.index, sink));
        let mut finish = self.finish.settle(has_calls, whole, head.at, &mut head.notes);
        if state == StreamState::Interrupted && finish.is_none() {
            finish = Some(FinishReason::Interrupted);
        }
        let mut message = Message::new(Role::Assistant);
        if !self.reasoning.is_empty() {
            message.parts.push(Part::Reasoning(Reasoning::new(self.reasoning.into_text())));
        }
        if !self.text.is_empty() {
            message.parts.push(Part::text(self.text.into_text()));
        }
        if !self.refusal.is_empty() {
            message.parts.push(Part::refusal(self.refusal.into_text()));
        }
        message.parts.extend(self.audio.map(|it| Part::Audio(it.close(head, sink))));
        let incomplete = incomplete_ids(&closed);
        message.parts.extend(closed.into_iter().map(|it| Part::ToolCall(it.call)));
        if let Some(details) = self.details.into_json() {
            message.extra.insert(Origin::OpenAi, "reasoning_details", details);
        }
        self.loose.into_extra(&Origin::OpenAi, &mut message.extra);
        AssembledChoice {
            index: self.index,
            message,
            finish,
            raw_finish: self.finish.raw().map(str::to_owned),
            incomplete,
        }
    }
}

impl AudioSoFar {
    fn close(mut self, head: &mut Head, sink: &mut Sink<'_>) -> Audio {
        let mut step = head.step(0, sink);
        self.data.end(&mut step.text_gauge());
        self.transcript.end(&mut step.text_gauge());
        let text = |it: Channel| (!it.is_empty()).then(|| it.into_text());
        let mut audio = Audio {
            id: self.id,
            data: text(self.data),
            transcript: text(self.transcript),
            ..Audio::default()
        };
        self.loose.into_extra(&Origin::OpenAi, &mut audio.extra);
        audio
    }
}
