//! OpenAI Responses streams (OA-22): output items in, one assistant message out. The final texts and
//! items settle what the deltas said; ids come from the events that carry an item.

use std::borrow::Cow;
use std::collections::BTreeMap;

use msg_core::{CallKind, FinishReason};
use msg_wire::Json;
use msg_wire::stream::{
    Assembled, AssembledChoice, Assembler, BySlot, Calls, Closing, Data, Head, Note, Parts,
    ProviderError, Sink, SseEvent, StreamOptions, StreamState,
};

use super::items::{Form, Item};

/// Assembles the events of a Responses stream.
///
/// ```
/// use msg_openai::{Assembler, ResponsesAssembler, SseEvent, StreamOptions};
///
/// let mut assembler = ResponsesAssembler::new(&StreamOptions::default());
/// for data in [
///     r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Hi"}"#,
///     r#"{"type":"response.completed","response":{"id":"r1","status":"completed","output":[]}}"#,
/// ] {
///     assembler.event(SseEvent { event: None, data: data.into() }, &mut |_| {});
/// }
/// let res = assembler.finish(&mut |_| {});
/// assert_eq!((res.complete, res.id.as_deref()), (true, Some("r1")));
/// assert_eq!(res.choices[0].message.text(), "Hi");
/// ```
#[derive(Debug, Clone)]
pub struct ResponsesAssembler {
    head: Head,
    items: Vec<Item>,
    by_index: BTreeMap<u64, usize>,
    /// Items by the JSON source of their ids.
    by_id: BTreeMap<String, usize>,
    calls: Calls,
    outcome: Option<Outcome>,
    /// Something of a response was seen.
    started: bool,
    /// A terminal event, or `[DONE]`.
    stopped: bool,
    /// Some reasoning was announced, so that the next part's is set apart.
    has_reasoning: bool,
}

/// The id of an output item changed.
const ITEM_ID_CHANGED: Note = Note::warning("stream::item-id-changed");

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
    part_index: u64,
    item: Option<Json<'a>>,
    part: Option<Json<'a>>,
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
                return self.part_index = value.whole_number().unwrap_or(0);
            }
            "type" => &mut self.kind,
            "object" => &mut self.object,
            "item_id" => &mut self.item_id,
            "item" => &mut self.item,
            "part" => &mut self.part,
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
        Self {
            head: Head::new(options),
            items: Vec::new(),
            by_index: BTreeMap::new(),
            by_id: BTreeMap::new(),
            calls: Calls::default(),
            outcome: None,
            started: false,
            stopped: false,
            has_reasoning: false,
        }
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

    /// An event that is none of the API's own.
    fn foreign(&mut self, kind: &str, event: &Event<'_>, whole: Json<'_>, sink: &mut Sink<'_>) {
        match ProviderError::of_event(event.error, whole) {
            Some(error) => self.head.fail(error, sink),
            None if kind == "error" => self.head.fail(ProviderError::of_object(whole), sink),
            None => self.head.note(Note::UNKNOWN_EVENT, || format!("unknown event {kind:?}")),
        }
    }

    fn item_event(&mut self, kind: &str, event: &Event<'_>, sink: &mut Sink<'_>) {
        let form = if kind.ends_with(".delta") { Form::Delta } else { Form::Whole };
        let index = event.part_index;
        match kind {
            "output_item.added" | "output_item.done" => {
                if let Some(item) = event.item {
                    let done = kind == "output_item.done";
                    self.item(event.output_index, item, done, sink);
                }
            }
            "content_part.added"
            | "content_part.done"
            | "reasoning_summary_part.added"
            | "reasoning_summary_part.done" => {
                if let (Some(part), Some(place)) = (event.part, self.route(event)) {
                    let step = &mut self.head.step(0, sink);
                    self.items[place].part(index, part, &mut self.has_reasoning, step);
                }
            }
            "output_text.delta" | "output_text.done" | "refusal.delta" | "refusal.done" => {
                if let Some(place) = self.route(event) {
                    let refusal = kind.starts_with("refusal");
                    let step = &mut self.head.step(0, sink);
                    self.items[place].text(refusal, index, form, event.text(), step);
                }
            }
            "reasoning_text.delta"
            | "reasoning_text.done"
            | "reasoning_summary_text.delta"
            | "reasoning_summary_text.done" => {
                if let Some(place) = self.route(event) {
                    let of_summary = kind.starts_with("reasoning_summary");
                    let step = &mut self.head.step(0, sink);
                    let seen = &mut self.has_reasoning;
                    self.items[place].reasoning(of_summary, index, form, event.text(), seen, step);
                }
            }
            "function_call_arguments.delta" | "function_call_arguments.done" => {
                self.arguments(CallKind::Function, form, event, sink);
            }
            "custom_tool_call_input.delta" | "custom_tool_call_input.done" => {
                self.arguments(CallKind::Custom, form, event, sink);
            }
            "output_text.annotation.added" => {
                if let (Some(annotation), Some(place)) = (event.annotation, self.route(event)) {
                    self.items[place].annotation(index, annotation, &mut self.head.step(0, sink));
                }
            }
            _ => {}
        }
    }

    fn arguments(&mut self, kind: CallKind, form: Form, event: &Event<'_>, sink: &mut Sink<'_>) {
        if let Some(place) = self.route(event) {
            let step = &mut self.head.step(0, sink);
            self.items[place].arguments(kind, form, event.text(), &mut self.calls, step);
        }
    }

    fn route(&mut self, event: &Event<'_>) -> Option<usize> {
        self.place_of(event.output_index, event.item_id)
    }

    /// Where the item is: by its output index, else by its id, else the last one. A new one is made
    /// where there is none, up to the limit.
    fn place_of(&mut self, output_index: Option<u64>, id: Option<Json<'_>>) -> Option<usize> {
        let id = id.filter(|it| it.filled().is_some()).map_or("", Json::source);
        let last = self.items.len().checked_sub(1);
        let found = match output_index {
            Some(index) => last
                .filter(|&last| self.items[last].output_index == output_index)
                .or_else(|| self.by_index.get(&index).copied()),
            None => self.by_id.get(id).copied().or(last),
        };
        let place = match found {
            Some(place) => place,
            None => self.open(output_index)?,
        };
        let item = &mut self.items[place];
        if !id.is_empty() && item.id != id {
            if item.id.is_empty() {
                self.by_id.insert(id.to_owned(), place);
            } else {
                self.head.note(ITEM_ID_CHANGED, || "an item's id changed".into());
            }
            id.clone_into(&mut item.id);
        }
        Some(place)
    }

    fn open(&mut self, output_index: Option<u64>) -> Option<usize> {
        if self.items.len() >= self.head.limits.max_calls {
            self.head.note(Note::LIMIT, || "the response has more items than allowed".into());
            return None;
        }
        let place = self.items.len();
        self.items.push(Item::new(output_index));
        if let Some(index) = output_index {
            self.by_index.insert(index, place);
        }
        Some(place)
    }

    fn item(&mut self, output_index: Option<u64>, item: Json<'_>, done: bool, sink: &mut Sink<'_>) {
        let id = item.get("id");
        if let (true, Some(place)) = (item.is_object(), self.place_of(output_index, id)) {
            if let Some(id) = id.filter(|it| it.filled().is_some()) {
                self.by_id.entry(id.source().to_owned()).or_insert(place);
            }
            let step = &mut self.head.step(0, sink);
            self.items[place].whole(item, done, &mut self.calls, &mut self.has_reasoning, step);
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
        for (place, item) in response.get("output").into_iter().flat_map(Json::elements).enumerate()
        {
            // Places in this list are output indices only where no item was left out of it.
            let known = item.get("id").and_then(|it| self.by_id.get(it.source()));
            let index = known.map_or(Some(place as u64), |&at| self.items[at].output_index);
            self.item(index, item, true, sink);
        }
        let status = response.get("status").and_then(Json::text);
        // A response that says itself that it is not whole is not, whatever brought it.
        let status = match (ended, status.as_deref()) {
            (None | Some("completed"), Some(own @ ("incomplete" | "failed"))) => own,
            (Some(ended), _) => ended,
            (None, own) => own.unwrap_or_default(),
        };
        let error = response.get("error").and_then(ProviderError::of_member);
        let outcome = match status {
            "completed" => Outcome { reason: None, raw: status.to_owned() },
            "incomplete" => {
                let details = response.get("incomplete_details");
                let raw = details.and_then(|it| it.get("reason")?.text()).unwrap_or_default();
                let reason = match &*raw {
                    "content_filter" => FinishReason::ContentFilter,
                    _ => FinishReason::Length,
                };
                let raw = if raw.is_empty() { status.to_owned() } else { raw.into_owned() };
                Outcome { reason: Some(reason), raw }
            }
            "failed" => {
                let error = error.unwrap_or_else(|| ProviderError::new("response failed"));
                self.head.fail(error, sink);
                Outcome { reason: Some(FinishReason::Error), raw: status.to_owned() }
            }
            _ => {
                if let Some(error) = error {
                    self.head.fail(error, sink);
                }
                return;
            }
        };
        self.outcome = Some(outcome);
        self.stopped = true;
    }
}

impl Assembler for ResponsesAssembler {
    fn head(&mut self) -> &mut Head {
        &mut self.head
    }

    fn event(&mut self, event: SseEvent<'_>, sink: &mut Sink<'_>) {
        if self.stopped {
            return;
        }
        match Data::of(&event.data, self.head.at, &mut self.head.notes) {
            Data::Noise => {}
            Data::Done => self.stopped = true,
            Data::Json => self.take(&event.data, event.event, sink),
        }
    }

    fn is_finished(&self) -> bool {
        self.stopped
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
        let failed = head.error.is_some();
        let ended = state == StreamState::Ended && self.outcome.is_some();
        if state == StreamState::Ended && !ended && !failed {
            head.note(Note::TRUNCATED, || "the stream stopped before the response was over".into());
        }
        for item in &mut self.items {
            item.flush(&mut head.step(0, sink));
        }
        let whole = ended && !failed;
        let reason = self.outcome.as_ref().and_then(|it| it.reason.clone());
        let cut = !whole || reason.as_ref().is_some_and(FinishReason::is_cut);
        let by_calls =
            if self.calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        let finish = match (&self.outcome, state) {
            (Some(_), _) => Some(reason.unwrap_or(by_calls)),
            (None, StreamState::Interrupted) if self.started => Some(FinishReason::Interrupted),
            (None, _) => None,
        };
        let closing = Closing { cut, split: head.split };
        let closed = self.calls.close(closing, &mut head.step(0, sink));
        let mut calls = BySlot::new(closed);
        let mut parts = Parts::default();
        self.items.sort_by_key(|it| it.output_index.unwrap_or(u64::MAX));
        for item in self.items {
            item.into_parts(&mut calls, &mut parts);
        }
        let raw_finish = self.outcome.map(|it| it.raw);
        let choice = AssembledChoice::new(0, parts, finish, raw_finish);
        let choices = if self.started { vec![choice] } else { Vec::new() };
        self.head.assemble(choices, whole, state, sink)
    }

    fn boxed_clone(&self) -> Box<dyn Assembler> {
        Box::new(self.clone())
    }
}
