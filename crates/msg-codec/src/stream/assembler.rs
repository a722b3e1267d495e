//! The interface that a wire format implements so its streams can be read: recognition of its
//! events, and assembling them into a message. It names no format; higher crates register theirs
//! with a reader.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use msg_core::{
    Code, Diagnostic, Extra, FinishReason, IdSource, Message, Origin, Other, Part, RawJson, Role,
    Severity, StreamEvent, ToolCall, Usage, native,
};
use msg_forms::{ToolPart, Turn, TurnPart, TurnRole};
use msg_json::Writer;

use super::close::{Ending, Parts, StreamState};
use super::head::{Data, Head, ProviderError};
use super::merged::{Note, Sink};
use super::reader::{StreamOptions, StreamReader};
use super::sse::SseEvent;
use crate::codec::note_model;
use crate::json::Json;

/// A family of streams: the streams of one wire format.
///
/// A [`StreamReader`](super::reader::StreamReader) gets a list of families and tries them in order to
/// recognise an event (OA-17). The last family also gets events that no family recognised.
#[derive(Debug, Clone, Copy)]
pub struct StreamFamily {
    /// The name of the family, such as `anthropic`.
    pub name: &'static str,
    /// Whether an event or a whole body, which is a JSON object, belongs to this family.
    pub recognises: fn(Json<'_>) -> bool,
    /// Creates an assembler at the start of a stream; `None` for a family that is recognised only to
    /// be refused by name.
    pub assembler: Option<MakeAssembler>,
}

/// The members of an event that describe the stream and say nothing of the answer.
const DESCRIBES: [&str; 14] = [
    "type",
    "event_type",
    "object",
    "id",
    "model",
    "created",
    "usage",
    "system_fingerprint",
    "service_tier",
    "provider",
    "obfuscation",
    "timings",
    "metrics",
    "amazon-bedrock-invocationMetrics",
];

type MakeAssembler = fn(&StreamOptions) -> Box<dyn Assembler>;

/// Assembles a message from the events of a stream.
///
/// The result is well formed whatever the events contain; problems are in its diagnostics.
pub trait Assembler: fmt::Debug + Send + Sync {
    /// The common state of all assemblers.
    fn head(&self) -> &Head;

    /// The common state, for changes.
    fn head_mut(&mut self) -> &mut Head;

    /// Reads the data of an event, which should be a JSON object. `name` is the event's name.
    fn take(&mut self, data: &str, name: Option<&str>, sink: &mut Sink<'_>);

    /// Reads the next event. The events that it adds go to `sink` and borrow from it where
    /// possible.
    fn event(&mut self, event: SseEvent<'_>, sink: &mut Sink<'_>) {
        let head = self.head_mut();
        head.at = event.at;
        if head.stopped {
            return;
        }
        match Data::of(&event.data, head.at, &mut head.notes) {
            Data::Noise => {}
            Data::Done => head.stopped = true,
            Data::Json => self.take(&event.data, event.event, sink),
        }
    }

    /// Reads a body, or one line or element of a body, that is a document of its own (OA-17).
    fn document(&mut self, text: &str, sink: &mut Sink<'_>) {
        self.event(SseEvent { at: self.head().at, ..text.into() }, sink);
    }

    /// Whether the stream has announced its end. Whatever follows is ignored.
    fn is_finished(&self) -> bool {
        self.head().stopped
    }

    /// Whether an event after the end of the stream, a JSON object, begins another response.
    fn begins_another(&self, _event: Json<'_>) -> bool {
        false
    }

    /// Whether an event after the end of the stream, a JSON object, says something: an error, or more than
    /// what describes the stream.
    fn says_something(&self, event: Json<'_>) -> bool {
        let is_full = |it: Json<'_>| {
            it.filled().is_some() || it.elements().next().is_some() || it.members().next().is_some()
        };
        ProviderError::looks_like_one(event)
            || event.members().any(|(name, it)| !DESCRIBES.contains(&&*name) && is_full(it))
    }

    /// Returns the result. Calls that may be incomplete are marked so. Usage and finish reasons go
    /// to `sink` at the end.
    fn close(self: Box<Self>, state: StreamState, sink: &mut Sink<'_>) -> Assembled;

    /// A copy, for a snapshot.
    fn boxed_clone(&self) -> Box<dyn Assembler>;

    /// Sets the byte offset of the next event, for diagnostics.
    fn locate(&mut self, offset: u64) {
        self.head_mut().at = offset;
    }

    /// The result so far, as [`StreamState::Open`]. Copies the texts: O(size).
    fn snapshot(&self) -> Assembled {
        self.boxed_clone().close(StreamState::Open, &mut |_| {})
    }

    /// Ends the stream. Calls, usage and finish reasons go to `sink`.
    fn finish(self, sink: &mut Sink<'_>) -> Assembled
    where
        Self: Sized,
    {
        Box::new(self).close(StreamState::Ended, sink)
    }

    /// Stops a stream before its end. Calls that may be incomplete are marked so.
    fn interrupt(self, sink: &mut Sink<'_>) -> Assembled
    where
        Self: Sized,
    {
        Box::new(self).close(StreamState::Interrupted, sink)
    }
}

impl Clone for Box<dyn Assembler> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

// The result of a stream (OA-26): a message per choice, the finish reason, and all findings.

/// The result of a stream, or of the part that arrived.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Assembled {
    /// The choices by index; empty if none was seen.
    pub choices: Vec<AssembledChoice>,
    /// The last usage of the provider, with its raw object.
    pub usage: Option<Usage>,
    /// The id of the response.
    pub id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// When the provider made the response, in seconds since 1970.
    pub created: Option<f64>,
    /// Whether the stream reached its proper end without an error (OA-21).
    pub complete: bool,
    /// The first error that the provider reported.
    pub error: Option<ProviderError>,
    /// Why choices are missing, if the provider says so: a blocked prompt (GE-16).
    pub finish: Option<FinishReason>,
    /// Whether the stream has ended, was interrupted, or continues.
    pub state: StreamState,
    /// The findings, one per code, by byte offset.
    pub diagnostics: Vec<Diagnostic>,
}

/// A choice in the result of a stream.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AssembledChoice {
    /// Its number.
    pub index: u32,
    /// The message.
    pub message: Message,
    /// The finish reason (OA-20).
    pub finish: Option<FinishReason>,
    /// The finish reason in the provider's words.
    pub raw_finish: Option<String>,
    /// The ids of calls that were cut off or are not JSON. They must not be run.
    pub incomplete: Vec<String>,
    /// For each call of the message, whether it is complete, because ids may occur twice.
    pub complete: Vec<bool>,
}

impl AssembledChoice {
    /// A choice with these parts, from the assistant.
    pub fn new(
        index: u32,
        parts: Parts,
        finish: Option<FinishReason>,
        raw_finish: Option<String>,
    ) -> Self {
        let mut message = Message::new(Role::Assistant);
        message.parts = parts.list;
        let calls = message.tool_calls().zip(&parts.complete);
        let incomplete = calls.filter(|(_, it)| !**it).map(|(it, _)| it.id.clone()).collect();
        Self { index, message, finish, raw_finish, incomplete, complete: parts.complete }
    }
}

impl Head {
    /// Creates the result, whose messages know their model, and emits the last events: usage, then a finish for each
    /// choice.
    pub fn assemble(
        mut self,
        mut choices: Vec<AssembledChoice>,
        ending: Ending,
        state: StreamState,
        sink: &mut Sink<'_>,
    ) -> Assembled {
        let is_torn = ending == Ending::Whole && self.notes.has(Note::TRUNCATED);
        if is_torn {
            choices.iter_mut().for_each(|it| it.finish = Some(FinishReason::Error));
        }
        let ending = if is_torn { Ending::Cut } else { ending };
        let messages = choices.iter_mut().map(|it| &mut it.message);
        note_model(self.model.as_deref(), messages);
        self.note_restart();
        let usage = self.final_usage();
        if let Some(mut usage) = usage.clone() {
            let found = usage.odd_counts();
            if !found.is_empty() {
                let texts: Vec<_> = found.iter().map(Diagnostic::message).collect();
                self.notes.add(Note::USAGE, self.at, || texts.join("; "));
            }
            // The events may be written as another stream, whose writer reports what it leaves out of the answer.
            usage.settle_parts();
            sink(StreamEvent::Usage { choice: 0, usage });
        }
        for choice in &choices {
            if let Some(reason) = choice.finish.clone() {
                sink(StreamEvent::Finish { choice: choice.index, reason });
            }
        }
        tracing::debug!(
            complete = ending == Ending::Whole,
            error = self.error.is_some(),
            finish = ?choices.first().and_then(|it| it.finish.as_ref()),
            "stream ended"
        );
        Assembled {
            choices,
            usage,
            id: self.id,
            model: self.model,
            created: self.created,
            complete: ending == Ending::Whole,
            error: self.error,
            finish: self.finish,
            state,
            diagnostics: self.notes.diagnostics(),
        }
    }
}

impl Assembled {
    /// A single-choice answer that was not streamed. Its id, model and usage are unset.
    ///
    /// ```
    /// use msg_codec::Assembled;
    /// use msg_core::{FinishReason, Part};
    ///
    /// let answer = Assembled::whole(vec![Part::text("hi")], FinishReason::Stop);
    /// assert!(answer.complete && answer.choices[0].message.text() == "hi");
    /// ```
    pub fn whole(parts: Vec<Part>, finish: FinishReason) -> Self {
        let n_calls = parts.iter().filter(|it| it.as_tool_call().is_some()).count();
        let parts = Parts { list: parts, complete: vec![true; n_calls] };
        Assembled {
            choices: vec![AssembledChoice::new(0, parts, Some(finish), None)],
            usage: None,
            id: None,
            model: None,
            created: None,
            complete: true,
            error: None,
            finish: None,
            state: StreamState::Ended,
            diagnostics: Vec::new(),
        }
    }
}

// A stream's result as the turn that an application stores (OA-25). Calls are never executed here: they are pending, or
// failed if they may be truncated.

impl Assembled {
    /// The turn of the first choice. Its id is that of the response or `""`, its time that of the
    /// response or 0.
    ///
    /// Calls are pending; an incomplete call is marked as failed. An unfinished turn is closed with
    /// `error`, `truncated` or `interrupted`; a snapshot stays open.
    ///
    /// ```text
    /// let turn = reader.snapshot().to_turn();               // finished: false
    /// let turn = reader.interrupt(&mut |_| {}).to_turn();   // finish_reason: "interrupted"
    /// ```
    #[must_use]
    pub fn to_turn(&self) -> Turn {
        self.turn_of(self.choices.first())
    }

    /// The turn of this choice; one without parts if there is none.
    pub(crate) fn turn_of(&self, choice: Option<&AssembledChoice>) -> Turn {
        let id = self.id.clone().unwrap_or_default();
        let mut turn = Turn::new(id, TurnRole::Assistant);
        turn.timestamp = self.created.unwrap_or(0.0);
        if let Some(choice) = choice {
            choice.fill(&mut turn);
        }
        if let Some(model) = &self.model {
            turn.metadata.insert("model", RawJson::string(model));
        }
        if let Some(usage) = self.usage.as_ref().and_then(|it| it.raw.clone()) {
            turn.metadata.insert("usage", usage);
        }
        turn.finished = self.state != StreamState::Open;
        turn.finish_reason = self.turn_reason(choice).to_owned();
        turn
    }

    /// The turn, as [`Assembled::to_turn`]. If the stream gave no id or time, uses one from `ids`
    /// (16 hexadecimal digits) and `now`.
    #[must_use]
    pub fn into_turn(self, ids: &mut dyn IdSource, now: f64) -> Turn {
        let mut turn = self.to_turn();
        if turn.id.is_empty() {
            turn.id = format!("{:016x}", ids.next_u64());
        }
        turn.timestamp = self.created.unwrap_or(now);
        turn
    }

    fn turn_reason<'a>(&self, choice: Option<&'a AssembledChoice>) -> &'a str {
        let reason = choice.and_then(|it| it.finish.as_ref());
        match (reason, self.state) {
            (Some(reason), _) => reason.as_str(),
            (None, StreamState::Open) => "",
            (None, _) if self.error.is_some() => "error",
            (None, StreamState::Interrupted) => "interrupted",
            (None, StreamState::Ended) if self.complete => "",
            (None, StreamState::Ended) => "truncated",
        }
    }
}

impl AssembledChoice {
    fn fill(&self, turn: &mut Turn) {
        let mut texts = 0;
        let mut complete = self.complete.iter();
        for part in &self.message.parts {
            match part {
                Part::Text(it) | Part::Refusal(it) => {
                    texts += 1;
                    turn.parts.push(TurnPart::text(format!("text_{texts}"), it.text.clone()));
                }
                Part::ToolCall(call) => {
                    // A call added to the message later was not streamed, so it is not truncated.
                    let complete = complete.next().copied().unwrap_or(true);
                    turn.parts.push(TurnPart::Tool(tool_of(call, complete)));
                }
                _ => {}
            }
        }
        let thoughts: Vec<_> = self
            .message
            .reasoning()
            .map(|it| it.display_text())
            .filter(|it| !it.is_empty())
            .collect();
        turn.reasoning_content = thoughts.join("\n\n");
    }
}

fn tool_of(call: &ToolCall, complete: bool) -> ToolPart {
    let mut tool = ToolPart::new(&call.id, &call.name);
    tool.set_arguments(call.arguments.text());
    if !complete {
        tool.cut_off().expect("a call that was just made is pending, and a pending one may fail");
    }
    tool
}

impl StreamReader {
    /// Ends the stream and returns its turn; see [`Assembled::into_turn`].
    #[must_use]
    pub fn into_turn(self, ids: &mut dyn IdSource, now: f64) -> Turn {
        self.finish(&mut |_| {}).into_turn(ids, now)
    }
}

// The JSON form of a stream's result (OA-26), for programs in other languages. Forms that need no wire format are here;
// the caller supplies others.

impl Assembled {
    /// Appends the result as one JSON object with messages in native form, and with events if they
    /// are given.
    pub fn write_native(&self, events: Option<&[StreamEvent<'_>]>, out: &mut Vec<u8>) {
        self.write_with(|it, out| native::write_message(&it.message, out), &[], events, out);
    }

    /// Appends the result as one JSON object with messages as stored turns (OA-25), and with events
    /// if they are given.
    pub fn write_turns(&self, events: Option<&[StreamEvent<'_>]>, out: &mut Vec<u8>) {
        let lost: Vec<_> = self.without_place().into_iter().collect();
        self.write_with(|it, out| serialize(out, &self.turn_of(Some(it))), &lost, events, out);
    }

    /// What all forms except the native one leave out: items and blocks without a kind in the model, such as a pending
    /// approval, by type.
    #[must_use]
    pub fn without_place(&self) -> Option<Diagnostic> {
        let parts = self.choices.iter().flat_map(|it| &it.message.parts);
        let kinds =
            parts.filter_map(|it| if let Part::Other(it) = it { Some(kind(it)) } else { None });
        let kinds: BTreeSet<_> = kinds.collect();
        let names = kinds.into_iter().collect::<Vec<_>>().join(", ");
        let text = format!("the form has no place for {names}; `to: native` keeps it");
        (!names.is_empty()).then(|| Diagnostic::warning(Code::new("convert::lost-part"), text))
    }

    /// What a form that keeps only the members of one origin leaves out: unknown members of other origins in the
    /// message and its parts, such as the sources of a search.
    #[must_use]
    pub fn members_of_others(&self, kept: &Origin) -> Option<Diagnostic> {
        let extras = |it: &AssembledChoice| {
            let parts = it.message.parts.iter().filter(|it| !matches!(it, Part::Other(_)));
            let all = std::iter::once(&it.message.extra).chain(parts.map(Part::extra));
            let others = all.flat_map(Extra::all).filter(|it| it.0 != kept);
            let others = others.flat_map(|(_, name, value)| match name {
                // Those of the part's item or step.
                "item" | "step" => value.members().unwrap_or_default(),
                name => vec![(name.into(), value.clone())],
            });
            let says = |name: &str, value: &RawJson| {
                !["id", "status"].contains(&name)
                    && !matches!(value.text(), "null" | "[]" | "{}" | "\"\"")
            };
            let said = others.filter(|it| says(&it.0, &it.1));
            said.map(|it| it.0).collect::<BTreeSet<String>>()
        };
        let names: BTreeSet<_> = self.choices.iter().flat_map(extras).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        let text = format!("the form has no place for {names}; `to: native` keeps it");
        (!names.is_empty()).then(|| Diagnostic::info(Code::new("convert::lost-member"), text))
    }

    /// Appends the result as one JSON object, with events if they are given. `message` writes one
    /// JSON value for a choice, `lost` is what these values leave out.
    pub fn write_with(
        &self,
        message: impl Fn(&AssembledChoice, &mut Vec<u8>),
        lost: &[Diagnostic],
        events: Option<&[StreamEvent<'_>]>,
        out: &mut Vec<u8>,
    ) {
        let first = self.choices.first();
        Writer::new(out).object(|it| {
            match it.key("message") {
                it if first.is_none() => it.null(),
                it => it.value(|out| first.into_iter().for_each(|first| message(first, out))),
            }
            // A response without a choice may give the reason.
            let unanswered = || self.finish.as_ref().map(|it| it.as_str());
            it.key("finish_reason").opt_str(match first {
                Some(choice) => choice.reason(),
                None => unanswered(),
            });
            self.write_tail(lost, it);
            if self.choices.len() > 1 {
                it.key("choices").array(&self.choices, |it, choice| {
                    it.object(|it| {
                        it.key("index").u64(u64::from(choice.index));
                        it.key("message").value(|out| message(choice, out));
                        it.key("finish_reason").opt_str(choice.reason());
                    });
                });
            }
            if let Some(events) = events {
                let is_shown = |it: &&StreamEvent<'_>| !matches!(it, StreamEvent::PartEnd { .. });
                let events = events.iter().filter(is_shown);
                it.key("events").array(events, |it, event| it.value(|out| serialize(out, event)));
            }
        });
    }

    /// The members after the finish reason, up to the diagnostics.
    fn write_tail(&self, lost: &[Diagnostic], it: &mut Writer<'_>) {
        match self.usage.as_ref().and_then(|it| it.raw.as_ref()) {
            Some(usage) => it.key("usage").value(|out| usage.write_compact(out)),
            None => it.key("usage").null(),
        }
        it.key("model").opt_str(self.model.as_deref());
        it.key("id").opt_str(self.id.as_deref());
        it.key("complete").bool(self.complete);
        it.key("error").value(|out| serialize(out, &self.error));
        let incomplete = self.choices.iter().flat_map(|it| &it.incomplete);
        it.key("incomplete_calls").array(incomplete, |it, id| it.str(id));
        for (name, is_error) in [("errors", true), ("warnings", false)] {
            let found = self.diagnostics.iter().chain(lost.iter().filter(|it| !is_info(it)));
            let found = found.filter(|it| (it.severity == Severity::Error) == is_error);
            it.key(name).array(found, |it, found| it.value(|out| serialize(out, found)));
        }
        // Not a problem of the stream: this form has no member for it.
        if lost.iter().any(is_info) {
            let left_out = lost.iter().filter(|it| is_info(it));
            it.key("left_out").array(left_out, |it, found| it.value(|out| serialize(out, found)));
        }
    }
}

impl AssembledChoice {
    /// The finish reason as a word.
    fn reason(&self) -> Option<&str> {
        self.finish.as_ref().map(|it| it.as_str())
    }
}

fn is_info(it: &Diagnostic) -> bool {
    it.severity == Severity::Info
}

/// The type of an item or block; `other` if it has none.
fn kind(it: &Other) -> String {
    let kind = Json(it.value.text()).get("type").and_then(Json::text);
    kind.map_or_else(|| "other".to_owned(), Cow::into_owned)
}

fn serialize(out: &mut Vec<u8>, value: &impl serde::Serialize) {
    serde_json::to_writer(out, value).expect("text keys into a buffer cannot fail");
}
