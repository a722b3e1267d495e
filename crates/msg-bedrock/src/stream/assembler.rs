//! Events of a Converse stream to a message (BR-16, BR-17, BR-20, BR-21).

use std::borrow::Cow;

use msg_codec::Json;
use msg_codec::stream::{BySlot, Finish, Head, Merged, Note, Parts};
use msg_codec::{
    Assembled, AssembledChoice, Assembler, ProviderError, Sink, StreamFamily, StreamOptions,
    StreamState,
};
use msg_core::{FinishReason, RawJson};

use super::block::{Block, Shared, Told};
use crate::shape::BEDROCK as ORIGIN;

/// A delta of a kind that no block has.
const UNKNOWN_DELTA: Note = Note::warning("stream::unknown-delta");

/// The events.
const EVENTS: [&str; 6] = [
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
    "metadata",
];

/// Converse streams, for a [`StreamReader`](msg_codec::StreamReader).
///
/// ```
/// use msg_bedrock::BEDROCK;
/// use msg_codec::{StreamOptions, StreamReader};
///
/// let mut reader = StreamReader::new(&[BEDROCK], StreamOptions::default());
/// reader.feed(br#"{"output":{"message":{"role":"assistant","content":[{"text":"Hi"}]}},"stopReason":"end_turn"}"#, &mut |_| {});
/// let res = reader.finish(&mut |_| {});
/// assert!(res.complete);
/// assert_eq!(res.choices[0].message.text(), "Hi");
/// ```
pub const BEDROCK: StreamFamily = StreamFamily {
    name: "bedrock",
    recognises,
    assembler: Some(|options| Box::new(ConverseAssembler::new(options))),
};

fn recognises(event: Json<'_>) -> bool {
    let event = unwrapped(event);
    let is_event = |it: &&str| event.get(it).is_some_and(Json::is_object);
    // `metadata` alone is anybody's.
    EVENTS[..5].iter().any(is_event)
        || event.get("output").and_then(|it| it.get("message")).is_some_and(Json::is_object)
        || exception(event).is_some()
}

/// What Strands logs around an event is taken off.
fn unwrapped(event: Json<'_>) -> Json<'_> {
    event.get("event").filter(|it| it.is_object()).unwrap_or(event)
}

/// The exception that an event is.
fn exception(event: Json<'_>) -> Option<(Cow<'_, str>, Json<'_>)> {
    event.members().find(|it| it.0.ends_with("Exception") && it.1.is_object())
}

/// Assembles the events of a Converse stream.
#[derive(Debug, Clone)]
pub struct ConverseAssembler {
    head: Head,
    blocks: Vec<Block>,
    shared: Shared,
    /// Members of the last events that the model does not know.
    around: Merged,
    finish: Finish,
    started: bool,
}

impl ConverseAssembler {
    /// An assembler at the start of a stream.
    #[must_use]
    pub fn new(options: &StreamOptions) -> Self {
        Self {
            head: Head::new(options),
            blocks: Vec::new(),
            shared: Shared::default(),
            around: Merged::default(),
            finish: Finish::default(),
            started: false,
        }
    }

    fn read(&mut self, event: Json<'_>, sink: &mut Sink<'_>) {
        if let Some((kind, body)) = exception(event) {
            return self.exception(&kind, body, sink);
        }
        if let Some(message) = event.get("output").and_then(|it| it.get("message")) {
            return self.whole(event, message, sink);
        }
        let known = event.members().find(|it| EVENTS.contains(&&*it.0));
        let Some((name, body)) = known else { return self.unknown(event, sink) };
        self.started = true;
        match &*name {
            "messageStart" if self.finish.is_known() => self.head.note_another(),
            "contentBlockStart" => {
                let start = body.get("start");
                match start.and_then(Told::of) {
                    Some((told, start)) => self.start(index(body), (told, Some(start)), sink),
                    None => self.unread("start", start),
                }
            }
            "contentBlockDelta" => {
                if let Some(delta) = body.get("delta") {
                    self.delta(index(body), delta, sink);
                }
            }
            "contentBlockStop" => {
                let at = match index(body) {
                    Some(index) => self.blocks.iter().rposition(|it| it.index == index),
                    None => self.blocks.len().checked_sub(1),
                };
                if let Some(at) = at {
                    let step = &mut self.head.step(0, sink);
                    self.blocks[at].end(&mut self.shared.calls, step);
                }
            }
            "messageStop" => {
                self.stop_reason(body.get("stopReason"), sink);
                self.keep_unknown(body, sink);
            }
            "metadata" => {
                self.head.set_usage(body.get("usage"));
                self.keep_unknown(body, sink);
            }
            _ => {}
        }
    }

    /// Notes a block or a delta that is of no kind, unless it says nothing.
    fn unread(&mut self, name: &str, value: Option<Json<'_>>) {
        match value {
            Some(it) if !it.is_object() => self.head.left_out(name, "an object", it),
            Some(it) if it.members().next().is_some() => {
                self.head.note(UNKNOWN_DELTA, || format!("a {name} of a kind that no block has"));
            }
            _ => {}
        }
    }

    /// A whole response, as if it were streamed.
    fn whole(&mut self, event: Json<'_>, message: Json<'_>, sink: &mut Sink<'_>) {
        if self.started && self.finish.is_known() {
            self.head.note_another();
        }
        self.started = true;
        let content = message.get("content");
        if let Some(text) = content.filter(|it| !it.is_array()) {
            self.delta(Some(0), text, sink);
        }
        for (at, block) in content.into_iter().flat_map(Json::elements).enumerate() {
            let at = Some(at as u64);
            if block.is_string() {
                self.delta(at, block, sink);
                continue;
            }
            let (cited, inner) = (block.get("citationsContent"), Told::of(block));
            if let Some(cited) = cited.filter(|it| it.is_object()) {
                for it in cited.get("content").into_iter().flat_map(Json::elements) {
                    self.delta(at, it, sink);
                }
                for it in cited.get("citations").into_iter().flat_map(Json::elements) {
                    let delta = msg_json::to_text(|out| {
                        out.object(|out| out.key("citation").raw(it.source()));
                    });
                    self.delta(at, Json::from_valid(&delta), sink);
                }
            } else if let Some((told, inner)) = inner {
                let inner = match (told, inner.get("reasoningText")) {
                    (Told::Text, _) => block,
                    (_, Some(text)) => text,
                    _ => inner,
                };
                match told {
                    Told::ToolUse | Told::ToolResult => {
                        self.start(at, (told, Some(inner)), sink);
                    }
                    _ => self.start(at, (told, None), sink),
                }
                if let Some(block) = self.blocks.last_mut().filter(|it| Some(it.index) == at) {
                    let step = &mut self.head.step(0, sink);
                    match told {
                        Told::ToolUse | Told::ToolResult => {}
                        _ => block.delta(inner, &mut self.shared, step),
                    }
                }
            } else {
                self.unread("block", Some(block));
            }
            if let Some(block) = self.blocks.last_mut().filter(|it| Some(it.index) == at) {
                let step = &mut self.head.step(0, sink);
                block.end(&mut self.shared.calls, step);
            }
        }
        self.stop_reason(event.get("stopReason"), sink);
        self.head.set_usage(event.get("usage"));
    }

    /// An error body, or anything unknown.
    fn unknown(&mut self, event: Json<'_>, sink: &mut Sink<'_>) {
        if let Some(error) = event.get("error").and_then(ProviderError::of_member) {
            return self.head.fail(error, sink);
        }
        let [lower, upper, kind] = event.pick(["message", "Message", "__type"]);
        let message = lower.and_then(Json::text).or_else(|| upper.and_then(Json::text));
        if let Some(message) = message {
            let mut error = ProviderError::new(message);
            let kind = kind.and_then(Json::text);
            error.kind = kind.map(|it| it.rsplit('#').next().unwrap_or_default().to_owned());
            return self.head.fail(error, sink);
        }
        self.started |= event.get("role").is_none();
        self.head.note(Note::UNKNOWN_EVENT, || "an event that the API does not have".into());
    }

    fn exception(&mut self, kind: &str, body: Json<'_>, sink: &mut Sink<'_>) {
        let names = ["message", "originalMessage", "originalStatusCode", "Message"];
        let [message, original, code, upper] = body.pick(names);
        let text = |it: Option<Json<'_>>| it.and_then(Json::text).map(Cow::into_owned);
        let said = text(message).or_else(|| text(upper)).or_else(|| text(original));
        let mut error = ProviderError::new(said.unwrap_or_else(|| body.compact()));
        error.kind = Some(kind.to_owned());
        error.code = code.filter(|it| it.id().is_some()).map(Json::to_json);
        self.head.fail(error, sink);
    }

    fn keep_unknown(&mut self, body: Json<'_>, sink: &mut Sink<'_>) {
        let mut step = self.head.step(0, sink);
        for (name, value) in body.members() {
            let is_known = matches!(&*name, "stopReason" | "usage" | "metrics" | "p");
            if !is_known && !value.is_null() {
                self.around.set(&name, value, &mut step.text_gauge());
            }
        }
    }

    fn stop_reason(&mut self, reason: Option<Json<'_>>, sink: &mut Sink<'_>) {
        let Some(word) = reason.and_then(Json::text) else {
            let other = reason.filter(|it| !it.is_string());
            return other
                .into_iter()
                .for_each(|it| self.head.left_out("stopReason", "a string", it));
        };
        let meaning = match &*word {
            "end_turn" | "stop_sequence" => FinishReason::Stop,
            "tool_use" => FinishReason::ToolCalls,
            "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
            "guardrail_intervened" | "content_filtered" => FinishReason::ContentFilter,
            "malformed_model_output" | "malformed_tool_use" => FinishReason::Error,
            other => FinishReason::from(other),
        };
        if meaning == FinishReason::Error && !self.finish.is_known() {
            let what = if word.contains("tool") { "tool call" } else { "output" };
            let text = format!("the model's {what} was refused: {word}");
            let mut error = ProviderError::new(text);
            error.code = Some(RawJson::string(&word));
            self.head.fail(error, sink);
        }
        if self.finish.raw() != Some(&*word) {
            self.finish.set_as(word, meaning, self.head.at, &mut self.head.notes);
        }
    }

    /// Begins a block; one of the same index is another one then.
    fn start(&mut self, index: Option<u64>, it: (Told, Option<Json<'_>>), sink: &mut Sink<'_>) {
        let mut step = self.head.step(0, sink);
        if self.blocks.len() >= step.limits.max_calls {
            return step.text_gauge().limit();
        }
        if self.finish.is_known() {
            step.note(Note::DATA_AFTER_FINISH, || "output came after the stop reason".into());
        }
        let is_used = index.is_some_and(|index| self.blocks.iter().any(|it| it.index == index));
        if is_used {
            let index = index.unwrap_or_default();
            step.note(Note::INDEX_REUSED, || {
                format!("the index {index} is used by several blocks")
            });
        }
        let next = self.blocks.last().map_or(0, |it| it.index + 1);
        let block = Block::start(index.unwrap_or(next), it, &mut self.shared, &mut step);
        self.blocks.extend(block);
    }

    fn delta(&mut self, index: Option<u64>, delta: Json<'_>, sink: &mut Sink<'_>) {
        let wrapped;
        let delta = match delta.string() {
            // A text means itself (MS-29).
            Some(text) if !text.source.is_empty() => {
                self.head.step(0, sink).wrong_type("delta", "an object", delta);
                wrapped =
                    msg_json::to_text(|it| it.object(|it| it.key("text").raw(delta.source())));
                Json::from_valid(&wrapped)
            }
            _ => delta,
        };
        let Some((told, value)) = Told::of(delta) else {
            return self.unread("delta", Some(delta).filter(|it| !it.is_string()));
        };
        // The last of its index goes on, unless it ended or is of another kind.
        let find = |blocks: &[Block]| match index {
            Some(index) => blocks.iter().rposition(|it| it.index == index),
            None => blocks.len().checked_sub(1),
        };
        let open = find(&self.blocks).filter(|at| {
            let it = &self.blocks[*at];
            !it.ended && it.is(told)
        });
        if open.is_none() {
            let n_blocks = self.blocks.len();
            let value =
                Some(value).filter(|_| told == Told::ToolUse && value.get("type").is_some());
            let value = value.filter(|it| it.get("input").is_none());
            self.start(index, (told, value), sink);
            if self.blocks.len() == n_blocks {
                return;
            }
        }
        let at = open.unwrap_or(self.blocks.len() - 1);
        let value = if told == Told::Text { delta } else { value };
        let step = &mut self.head.step(0, sink);
        self.blocks[at].delta(value, &mut self.shared, step);
    }
}

fn index(body: Json<'_>) -> Option<u64> {
    body.get("contentBlockIndex").and_then(Json::whole_number)
}

impl Assembler for ConverseAssembler {
    fn head(&self) -> &Head {
        &self.head
    }

    fn head_mut(&mut self) -> &mut Head {
        &mut self.head
    }

    fn take(&mut self, data: &str, _name: Option<&str>, sink: &mut Sink<'_>) {
        if self.head.object(data, |_, _| {}) {
            self.read(unwrapped(Json::from_valid(data.trim_ascii())), sink);
        }
    }

    fn close(mut self: Box<Self>, state: StreamState, sink: &mut Sink<'_>) -> Assembled {
        let head = &mut self.head;
        let early = (!self.finish.is_known()).then_some("without a stop reason");
        let ending = head.ending(state, early);
        for it in &mut self.blocks {
            let step = &mut head.step(0, sink);
            it.flush(step);
            if ending == msg_codec::stream::Ending::Whole {
                it.announce(step);
            }
        }
        let n_calls = self.shared.calls.len();
        let closing = head.closing(ending, self.finish.reason().as_ref());
        let closed = self.shared.calls.close(closing, &mut head.step(0, sink));
        let finish = self.finish.resolve(n_calls, (state, ending), head);
        let mut calls = BySlot::new(closed);
        let mut parts = Parts::default();
        self.blocks.sort_by_key(|it| it.index);
        for it in self.blocks {
            it.into_parts(&mut calls, &mut parts);
        }
        let raw = self.finish.raw().map(str::to_owned);
        let mut choice = AssembledChoice::new(0, parts, finish, raw);
        self.around.into_extra(&ORIGIN, &mut choice.message.extra);
        let choices = if self.started { vec![choice] } else { Vec::new() };
        self.head.assemble(choices, ending, state, sink)
    }

    fn boxed_clone(&self) -> Box<dyn Assembler> {
        Box::new(self.clone())
    }
}
