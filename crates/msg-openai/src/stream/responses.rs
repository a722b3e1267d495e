//! OpenAI Responses streams (OA-22): output items in, one assistant message out. The final texts and
//! items settle what the deltas said; ids come from the events that carry an item.

use std::borrow::Cow;

use msg_core::{CallKind, FinishReason};
use msg_wire::Json;
use msg_wire::stream::{Head, Note};
use msg_wire::{
    Assembled, AssembledChoice, Assembler, ProviderError, Sink, StreamOptions, StreamState,
};

use super::items::Form;
use super::output::{Address, Output};

/// Assembles the events of a Responses stream.
///
/// ```
/// use msg_openai::{Assembler, ResponsesAssembler, StreamOptions};
///
/// let mut assembler = ResponsesAssembler::new(&StreamOptions::default());
/// for data in [
///     r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Hi"}"#,
///     r#"{"type":"response.completed","response":{"id":"r1","status":"completed","output":[]}}"#,
/// ] {
///     assembler.event(data.into(), &mut |_| {});
/// }
/// let res = assembler.finish(&mut |_| {});
/// assert_eq!((res.complete, res.id.as_deref()), (true, Some("r1")));
/// assert_eq!(res.choices[0].message.text(), "Hi");
/// ```
#[derive(Debug, Clone)]
pub struct ResponsesAssembler {
    head: Head,
    output: Output,
    outcome: Option<Outcome>,
    /// Something of a response was seen.
    started: bool,
}

/// How a response ended.
#[derive(Debug, Clone)]
struct Outcome {
    /// The finish reason; none for a completed one, where the calls decide.
    reason: Option<FinishReason>,
    raw: String,
}

/// The members of an event that count.
#[derive(Default)]
struct Event<'a> {
    kind: Option<Json<'a>>,
    object: Option<Json<'a>>,
    output_index: Option<u64>,
    item_id: Option<Json<'a>>,
    /// The place of the part in its item.
    part: u64,
    item: Option<Json<'a>>,
    content: Option<Json<'a>>,
    response: Option<Json<'a>>,
    error: Option<Json<'a>>,
    annotation: Option<Json<'a>>,
    /// `delta`, or the whole text of a `done` event.
    text: Option<Json<'a>>,
}

impl<'a> Event<'a> {
    fn member(&mut self, key: &str, value: Json<'a>) {
        let place = match key {
            "output_index" => return self.output_index = value.whole_number(),
            "content_index" | "summary_index" => {
                return self.part = value.whole_number().unwrap_or(0);
            }
            "type" => &mut self.kind,
            "object" => &mut self.object,
            "item_id" => &mut self.item_id,
            "item" => &mut self.item,
            "part" => &mut self.content,
            "response" => &mut self.response,
            "error" => &mut self.error,
            "annotation" => &mut self.annotation,
            "delta" | "text" | "refusal" | "arguments" | "input" => &mut self.text,
            _ => return,
        };
        *place = Some(value);
    }

    fn text(&self) -> Json<'a> {
        self.text.unwrap_or(Json::from_valid("null"))
    }
}

impl ResponsesAssembler {
    /// An assembler at the start of a stream.
    #[must_use]
    pub fn new(options: &StreamOptions) -> Self {
        Self { head: Head::new(options), output: Output::default(), outcome: None, started: false }
    }

    /// An event that is none of the API's own.
    fn foreign(&mut self, kind: &str, event: &Event<'_>, whole: Json<'_>, sink: &mut Sink<'_>) {
        match ProviderError::of_event(event.error, whole) {
            Some(error) => self.head.fail(error, sink),
            None if kind == "error" => self.head.fail(ProviderError::of_object(whole), sink),
            None => self.head.note(Note::UNKNOWN_EVENT, || format!("unknown event {kind:?}")),
        }
    }

    fn item_event(&mut self, kind: &str, event: &Event<'_>, sink: &mut Sink<'_>) {
        let Some((name, phase)) = kind.rsplit_once('.') else { return };
        let form = if phase == "done" { Form::Whole } else { Form::Delta };
        let at = Address { output_index: event.output_index, id: event.item_id, part: event.part };
        let (text, output) = (event.text(), &mut self.output);
        let step = &mut self.head.step(0, sink);
        match (name, phase) {
            ("output_item", "added" | "done") => {
                if let Some(item) = event.item {
                    output.item(event.output_index, item, form, step);
                }
            }
            ("content_part" | "reasoning_summary_part", "added" | "done") => {
                if let Some(part) = event.content {
                    output.part(at, part, step);
                }
            }
            ("output_text" | "refusal", "delta" | "done") => {
                output.text(name == "refusal", at, form, text, step);
            }
            ("reasoning_text" | "reasoning_summary_text", "delta" | "done") => {
                output.reasoning(name == "reasoning_summary_text", at, form, text, step);
            }
            ("function_call_arguments", "delta" | "done") => {
                output.arguments(CallKind::Function, at, form, text, step);
            }
            ("custom_tool_call_input", "delta" | "done") => {
                output.arguments(CallKind::Custom, at, form, text, step);
            }
            ("output_text.annotation", "added") => {
                if let Some(annotation) = event.annotation {
                    output.annotation(at, annotation, step);
                }
            }
            _ => {}
        }
    }

    fn identify(&mut self, response: Json<'_>) {
        let created = response.get("created_at").or_else(|| response.get("created"));
        self.head.identify(response.get("id"), response.get("model"), created);
        self.head.set_usage(response.get("usage"));
    }

    /// A response as a whole; `ended` is the event that brought it.
    fn response(&mut self, response: Json<'_>, ended: Option<&str>, sink: &mut Sink<'_>) {
        self.identify(response);
        let items: Vec<_> = response.get("output").into_iter().flat_map(Json::elements).collect();
        self.output.list(&items, &mut self.head.step(0, sink));
        let error = response.get("error").and_then(ProviderError::of_member);
        let outcome = Outcome::of(response, ended);
        let is_failed = outcome.as_ref().is_some_and(|it| it.reason == Some(FinishReason::Error));
        match error {
            Some(error) if is_failed || outcome.is_none() => self.head.fail(error, sink),
            None if is_failed => self.head.fail(ProviderError::new("response failed"), sink),
            _ => {}
        }
        self.head.stopped |= outcome.is_some();
        self.outcome = outcome.or(self.outcome.take());
    }
}

impl Outcome {
    /// How a response ended; none of one that goes on. One that says itself that it is not whole is not,
    /// whatever brought it.
    fn of(response: Json<'_>, ended: Option<&str>) -> Option<Self> {
        let own = response.get("status").and_then(Json::text).unwrap_or_default();
        let status = match (ended, &*own) {
            (None | Some("completed"), "incomplete" | "failed") | (None, _) => &*own,
            (Some(ended), _) => ended,
        };
        let reason = match status {
            "completed" => None,
            "incomplete" => return Some(Self::incomplete(response)),
            "failed" => Some(FinishReason::Error),
            _ => return None,
        };
        Some(Self { reason, raw: status.to_owned() })
    }

    fn incomplete(response: Json<'_>) -> Self {
        let details = response.get("incomplete_details");
        let raw = details.and_then(|it| it.get("reason")?.text());
        let raw = raw.map_or_else(|| "incomplete".to_owned(), Cow::into_owned);
        let reason = match &*raw {
            "content_filter" => FinishReason::ContentFilter,
            _ => FinishReason::Length,
        };
        Self { reason: Some(reason), raw }
    }
}

impl Assembler for ResponsesAssembler {
    fn head(&self) -> &Head {
        &self.head
    }

    fn head_mut(&mut self) -> &mut Head {
        &mut self.head
    }

    fn take(&mut self, data: &str, name: Option<&str>, sink: &mut Sink<'_>) {
        let mut event = Event::default();
        if !self.head.object(data, |key, value| event.member(key, value)) {
            return;
        }
        let whole = Json::from_valid(data.trim_ascii());
        let kind = event.kind.and_then(Json::text).or(name.map(Cow::Borrowed)).unwrap_or_default();
        if event.kind.is_none()
            && event.object.and_then(Json::text).is_some_and(|it| it == "response")
        {
            self.started = true;
            return self.response(whole, None, sink);
        }
        let Some(step) = kind.strip_prefix("response.") else {
            return self.foreign(&kind, &event, whole, sink);
        };
        self.started = true;
        match step {
            "created" | "in_progress" | "queued" => {
                if let Some(response) = event.response {
                    self.identify(response);
                }
            }
            "completed" | "incomplete" | "failed" => {
                self.response(event.response.unwrap_or(Json::from_valid("{}")), Some(step), sink);
            }
            _ => self.item_event(step, &event, sink),
        }
    }

    fn begins_another(&self, event: Json<'_>) -> bool {
        let is = |member: &str, word: &str| {
            event.get(member).and_then(Json::text).is_some_and(|it| it == word)
        };
        let response = event.get("response").unwrap_or(event);
        let id = response.get("id").and_then(Json::text);
        let differs = id.is_some_and(|id| self.head.id.as_ref().is_none_or(|own| *own != id));
        differs && (is("type", "response.created") || is("object", "response"))
    }

    fn close(mut self: Box<Self>, state: StreamState, sink: &mut Sink<'_>) -> Assembled {
        let head = &mut self.head;
        let early = self.outcome.is_none().then_some("before the response was over");
        let ending = head.ending(state, early);
        self.output.flush(&mut head.step(0, sink));
        let reason = self.outcome.as_ref().and_then(|it| it.reason.clone());
        let closing = head.closing(ending, reason.as_ref());
        let by_calls =
            if self.output.has_calls() { FinishReason::ToolCalls } else { FinishReason::Stop };
        let finish = match (&self.outcome, state) {
            (Some(_), _) => Some(reason.unwrap_or(by_calls)),
            (None, StreamState::Interrupted) if self.started => Some(FinishReason::Interrupted),
            (None, _) => None,
        };
        let parts = self.output.close(closing, &mut head.step(0, sink));
        let raw_finish = self.outcome.map(|it| it.raw);
        let choice = AssembledChoice::new(0, parts, finish, raw_finish);
        let choices = if self.started { vec![choice] } else { Vec::new() };
        self.head.assemble(choices, ending, state, sink)
    }

    fn boxed_clone(&self) -> Box<dyn Assembler> {
        Box::new(self.clone())
    }
}
