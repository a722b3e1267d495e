//! Events of an interaction to a message (GI-16, GI-17, GI-21, GI-22).

use std::borrow::Cow;
use std::collections::BTreeMap;

use msg_codec::Json;
use msg_codec::stream::{BySlot, Ending, Head, Merged, Note, Parts};
use msg_codec::{
    Assembled, AssembledChoice, Assembler, ProviderError, Sink, StreamOptions, StreamState,
};
use msg_core::FinishReason;

use super::step::{Piece, Shared};
use super::{is_body, unwrapped};
use crate::interactions::shape::INTERACTIONS;
use crate::stream::UNKNOWN_DELTA;

/// Members of an interaction that have places of their own, or are not part of the answer.
const KNOWN: [&str; 12] = [
    "id",
    "object",
    "status",
    "model",
    "usage",
    "steps",
    "outputs",
    "created",
    "updated",
    "errors",
    "role",
    "event_type",
];

/// A stream has so many times more steps than calls (GI-17).
const STEPS_A_CALL: usize = 4;

/// Assembles the events of an interaction stream.
///
/// ```
/// use msg_codec::{Assembler, StreamOptions};
/// use msg_gemini::interactions::InteractionAssembler;
///
/// let mut assembler = InteractionAssembler::new(&StreamOptions::default());
/// for data in [
///     r#"{"event_type":"step.start","index":0,"step":{"type":"model_output"}}"#,
///     r#"{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"Hi"}}"#,
///     r#"{"event_type":"step.stop","index":0}"#,
///     r#"{"event_type":"interaction.completed","interaction":{"id":"v1_a","status":"completed"}}"#,
/// ] {
///     assembler.event(data.into(), &mut |_| {});
/// }
/// let res = assembler.finish(&mut |_| {});
/// assert!(res.complete);
/// assert_eq!(res.choices[0].message.text(), "Hi");
/// ```
#[derive(Debug, Clone)]
pub struct InteractionAssembler {
    head: Head,
    steps: Vec<Piece>,
    /// The last step of each index.
    by_index: BTreeMap<u64, usize>,
    shared: Shared,
    /// Members of the interaction that the model does not know.
    around: Merged,
    /// The last status.
    status: String,
    /// Something of an answer was seen.
    started: bool,
}

impl InteractionAssembler {
    /// An assembler at the start of a stream.
    #[must_use]
    pub fn new(options: &StreamOptions) -> Self {
        Self {
            head: Head::new(options),
            steps: Vec::new(),
            by_index: BTreeMap::new(),
            shared: Shared::default(),
            around: Merged::default(),
            status: String::new(),
            started: false,
        }
    }

    fn read(&mut self, event: Json<'_>, name: Option<&str>, sink: &mut Sink<'_>) {
        let names = ["event_type", "index", "interaction", "step", "content", "delta", "error"];
        let [kind, index, interaction, step, content, delta, error] = event.pick(names);
        let kind = kind.and_then(Json::text).or(name.map(Cow::Borrowed)).unwrap_or_default();
        let index = index.and_then(Json::whole_number);
        self.started |= ["interaction.", "step.", "content."].iter().any(|it| kind.starts_with(it));
        match &*kind {
            _ if is_body(event) => {
                self.started = true;
                self.interaction(event, sink);
                self.head.stopped = true;
            }
            "interaction.created" | "interaction.start" => {
                self.interaction(interaction.unwrap_or(event), sink);
            }
            "interaction.completed" | "interaction.complete" => {
                self.interaction(interaction.unwrap_or(event), sink);
                self.head.stopped = true;
            }
            "interaction.status_update" => {
                let [id, status] = event.pick(["interaction_id", "status"]);
                self.head.identify(id, None, None);
                self.status(status);
            }
            "step.start" | "content.start" => {
                if let Some(step) = step.or(content) {
                    self.start(index, step, sink);
                }
            }
            "step.delta" | "content.delta" => {
                if let Some(delta) = delta {
                    self.delta(index, delta, sink);
                }
            }
            "step.stop" | "content.stop" => {
                self.head.set_usage(event.get("usage"));
                if let Some(place) = self.place_of(index) {
                    let step = &mut self.head.step(0, sink);
                    self.steps[place].end(&mut self.shared.calls, step);
                }
            }
            "error" => self.error(error.unwrap_or(event), event, sink),
            _ => match error.filter(|it| !it.is_null()) {
                Some(error) => self.error(error, event, sink),
                None => self.head.note(Note::UNKNOWN_EVENT, || format!("unknown event {kind:?}")),
            },
        }
    }

    /// The interaction that an event says more of, or a whole one.
    fn interaction(&mut self, it: Json<'_>, sink: &mut Sink<'_>) {
        let names = ["id", "model", "usage", "status", "steps", "outputs", "errors"];
        let [id, model, usage, status, steps, outputs, errors] = it.pick(names);
        self.head.identify(id, model, None);
        self.head.set_usage(usage);
        self.status(status);
        if self.steps.is_empty() {
            let list = steps.filter(|it| it.is_array()).or(outputs);
            for step in list.into_iter().flat_map(Json::elements) {
                self.start(None, step, sink);
                let place = self.place_of(None);
                if let Some(place) = place.filter(|_| !is_input(step)) {
                    let step = &mut self.head.step(0, sink);
                    self.steps[place].end(&mut self.shared.calls, step);
                }
            }
        }
        let mut step = self.head.step(0, sink);
        for (name, value) in it.members() {
            let is_empty = matches!(value.source(), "null" | "\"\"" | "[]" | "{}");
            if !KNOWN.contains(&&*name) && !is_empty {
                self.around.set(&name, value, &mut step.text_gauge());
            }
        }
        if self.status == "failed" && self.head.error.is_none() {
            let first = errors.and_then(|it| it.elements().next());
            let error = first.and_then(ProviderError::of_member);
            let unsaid = || ProviderError::new("the interaction failed");
            self.head.fail(error.unwrap_or_else(unsaid), sink);
        }
    }

    fn status(&mut self, status: Option<Json<'_>>) {
        match status {
            Some(it) if it.is_string() => {
                it.text().into_iter().for_each(|it| self.status = it.into_owned());
            }
            it => it.into_iter().for_each(|it| self.head.left_out("status", "a string", it)),
        }
    }

    /// `{"code","message"}`, with Google's `status` as its type where there is one (GI-22).
    fn error(&mut self, raw: Json<'_>, whole: Json<'_>, sink: &mut Sink<'_>) {
        let found = ProviderError::of_member(raw);
        let mut error = found.unwrap_or_else(|| ProviderError::of_object(whole));
        let status = raw.get("status").and_then(Json::text).map(Cow::into_owned);
        error.kind = error.kind.or(status);
        self.head.fail(error, sink);
    }

    fn start(&mut self, index: Option<u64>, raw: Json<'_>, sink: &mut Sink<'_>) {
        if is_input(raw) {
            // A stored interaction holds what was asked, which is not part of the answer.
            if index.is_some() {
                self.head.note(Note::UNKNOWN_EVENT, || "a step of the user in an answer".into());
            }
            return;
        }
        let mut step = self.head.step(0, sink);
        let text = step.text_as_block("step", raw);
        let raw = text.as_deref().map_or(raw, Json::from_valid);
        if raw.get("type").and_then(Json::text).is_none() {
            return step.left_out("step", "an object with a type", raw);
        }
        if self.steps.len() / STEPS_A_CALL >= step.limits.max_calls {
            return step.text_gauge().limit();
        }
        let index = index.unwrap_or(self.steps.len() as u64);
        let Some(piece) = Piece::start(index, raw, &mut self.shared, &mut step) else { return };
        if self.by_index.insert(index, self.steps.len()).is_some() {
            step.note(Note::INDEX_REUSED, || format!("the index {index} is used by several steps"));
        }
        self.steps.push(piece);
    }

    fn delta(&mut self, index: Option<u64>, delta: Json<'_>, sink: &mut Sink<'_>) {
        let place = self.place_of(index).or_else(|| {
            let implied = Piece::implied_by(delta)?;
            self.start(index, Json::from_valid(&implied), sink);
            self.place_of(index)
        });
        let step = &mut self.head.step(0, sink);
        let is_known = place.is_some_and(|it| self.steps[it].delta(delta, &mut self.shared, step));
        if !is_known {
            step.note(UNKNOWN_DELTA, || "a delta that its step does not have".into());
        }
    }

    fn place_of(&self, index: Option<u64>) -> Option<usize> {
        let last = self.steps.len().checked_sub(1);
        let Some(index) = index else { return last };
        last.filter(|&last| self.steps[last].index == index)
            .or_else(|| self.by_index.get(&index).copied())
    }

    /// Why it stopped; none while it goes on.
    fn reason(&self) -> Option<FinishReason> {
        let has_calls = !self.shared.calls.is_empty();
        Some(match self.status.as_str() {
            "" | "in_progress" | "queued" => return None,
            "completed" | "requires_action" if has_calls => FinishReason::ToolCalls,
            "completed" => FinishReason::Stop,
            "incomplete" | "budget_exceeded" => FinishReason::Length,
            "failed" => FinishReason::Error,
            other => FinishReason::from(other),
        })
    }
}

fn is_input(step: Json<'_>) -> bool {
    step.get("type").and_then(Json::text).is_some_and(|it| it == "user_input")
}

impl Assembler for InteractionAssembler {
    fn head(&self) -> &Head {
        &self.head
    }

    fn head_mut(&mut self) -> &mut Head {
        &mut self.head
    }

    fn take(&mut self, data: &str, name: Option<&str>, sink: &mut Sink<'_>) {
        if self.head.object(data, |_, _| {}) {
            self.read(unwrapped(Json::from_valid(data.trim_ascii())), name, sink);
        }
    }

    fn begins_another(&self, event: Json<'_>) -> bool {
        let event = unwrapped(event);
        let kind = event.get("event_type").and_then(Json::text).unwrap_or_default();
        matches!(&*kind, "interaction.created" | "interaction.start") || is_body(event)
    }

    fn close(mut self: Box<Self>, state: StreamState, sink: &mut Sink<'_>) -> Assembled {
        let reason = self.reason();
        let head = &mut self.head;
        let ending = head.ending(state, reason.is_none().then_some("without a final status"));
        for it in &mut self.steps {
            let step = &mut head.step(0, sink);
            it.flush(&mut self.shared.calls, step);
            if ending == Ending::Whole {
                it.announce(step);
            }
        }
        let mut closing = head.closing(ending, reason.as_ref());
        closing.cut |= self.status == "cancelled";
        let closed = self.shared.calls.close(closing, &mut head.step(0, sink));
        let finish = match reason {
            None if state == StreamState::Interrupted => Some(FinishReason::Interrupted),
            it => it,
        };
        let mut calls = BySlot::new(closed);
        let mut parts = Parts::default();
        self.steps.sort_by_key(|it| it.index);
        for it in self.steps {
            it.into_parts(&mut calls, &mut parts);
        }
        let raw = Some(self.status).filter(|it| !it.is_empty());
        let mut choice = AssembledChoice::new(0, parts, finish, raw);
        self.around.into_extra(&INTERACTIONS, &mut choice.message.extra);
        let choices = if self.started { vec![choice] } else { Vec::new() };
        self.head.assemble(choices, ending, state, sink)
    }

    fn boxed_clone(&self) -> Box<dyn Assembler> {
        Box::new(self.clone())
    }
}
