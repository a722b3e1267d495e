//! OpenAI Responses streams (OA-22): output items in, one assistant message out. The final texts and
//! items settle what the deltas said; ids come from the events that carry an item.

use std::borrow::Cow;

use msg_codec::Json;
use msg_codec::stream::{Head, Note};
use msg_codec::{
    Assembled, AssembledChoice, Assembler, ProviderError, Sink, StreamOptions, StreamState,
};
use msg_core::{CallKind, FinishReason};

use super::items::{Class, Form};
use super::output::Output;

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

/// The members of an event that count: what it is, then where in which item which text goes.
const MEMBERS: [&str; 16] = [
    "type",
    "object",
    "response",
    "error",
    "output_index",
    "item_id",
    "content_index",
    "summary_index",
    "item",
    "part",
    "annotation",
    "delta",
    "text",
    "refusal",
    "arguments",
    "input",
];

impl ResponsesAssembler {
    /// An assembler at the start of a stream.
    #[must_use]
    pub fn new(options: &StreamOptions) -> Self {
        Self { head: Head::new(options), output: Output::default(), outcome: None, started: false }
    }

    /// An event about an item; `members` are those after the first four.
    fn item_event(&mut self, kind: &str, members: [Option<Json<'_>>; 12], sink: &mut Sink<'_>) {
        let [output_index, id, content_index, summary_index, item, part, annotation, texts @ ..] =
            members;
        let output_index = output_index.and_then(Json::whole_number);
        let place = content_index.or(summary_index).and_then(Json::whole_number).unwrap_or(0);
        let text = texts.into_iter().flatten().next().unwrap_or(Json::from_valid("null"));
        let Some((name, phase)) = kind.rsplit_once('.') else { return };
        let form = if phase == "done" { Form::Whole } else { Form::Delta };
        let (step, output) = (&mut self.head.step(0, sink), &mut self.output);
        let class = match (name, phase) {
            ("output_item", "added" | "done") => {
                return item.into_iter().for_each(|it| output.item(output_index, it, form, step));
            }
            ("content_part" | "reasoning_summary_part", "added" | "done") => {
                part.map(Class::of_part)
            }
            ("output_text" | "refusal", "delta" | "done") => Some(Class::Message),
            ("output_text.annotation", "added") => annotation.map(|_| Class::Message),
            ("reasoning_text" | "reasoning_summary_text", "delta" | "done") => {
                Some(Class::Reasoning)
            }
            ("function_call_arguments" | "custom_tool_call_input", "delta" | "done") => {
                Some(Class::Call)
            }
            _ => None,
        };
        let Some((item, shared)) = class.and_then(|it| output.find(output_index, id, it, step))
        else {
            return;
        };
        match (name, part, annotation) {
            ("output_text" | "refusal", ..) => {
                item.text(name == "refusal", place, form, text, step);
            }
            ("reasoning_text" | "reasoning_summary_text", ..) => {
                let of_summary = name == "reasoning_summary_text";
                item.reasoning(of_summary, place, form, text, shared, step);
            }
            ("function_call_arguments", ..) => {
                item.arguments(CallKind::Function, form, text, shared, step);
            }
            ("custom_tool_call_input", ..) => {
                item.arguments(CallKind::Custom, form, text, shared, step);
            }
            ("output_text.annotation", _, Some(annotation)) => {
                item.annotation(place, annotation, step);
            }
            (_, Some(part), _) => item.part(place, part, shared, step),
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
        let picked = self.head.pick(data, MEMBERS);
        let Some([own_kind, object, response, error, of_item @ ..]) = picked else { return };
        let whole = Json::from_valid(data.trim_ascii());
        let kind = own_kind.and_then(Json::text).or(name.map(Cow::Borrowed)).unwrap_or_default();
        if own_kind.is_none() && object.and_then(Json::text).is_some_and(|it| it == "response") {
            self.started = true;
            return self.response(whole, None, sink);
        }
        let Some(step) = kind.strip_prefix("response.") else {
            return match ProviderError::of_event(error, whole) {
                Some(error) => self.head.fail(error, sink),
                None if kind == "error" => self.head.fail(ProviderError::of_object(whole), sink),
                None => self.head.note(Note::UNKNOWN_EVENT, || format!("unknown event {kind:?}")),
            };
        };
        self.started = true;
        match step {
            "created" | "in_progress" | "queued" => {
                if let Some(response) = response {
                    self.identify(response);
                }
            }
            "completed" | "incomplete" | "failed" => {
                self.response(response.unwrap_or(Json::from_valid("{}")), Some(step), sink);
            }
            _ => self.item_event(step, of_item, sink),
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
