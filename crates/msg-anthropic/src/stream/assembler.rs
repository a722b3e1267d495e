//! Anthropic Messages streams (OA-23): blocks in, one assistant message out. A block of a kind that
//! the model does not know is carried whole.

use std::borrow::Cow;
use std::collections::BTreeMap;

use msg_codec::Json;
use msg_codec::stream::{BySlot, Effects, Ending, Finish, Head, Merged, Note, Parts, Template};
use msg_codec::{
    Assembled, AssembledChoice, Assembler, ProviderError, Sink, StreamOptions, StreamState,
};

use super::UNKNOWN_DELTA;
use super::blocks::{Block, BlockKind, Growing, Shared};
use crate::shape::ANTHROPIC;

/// Assembles the events of an Anthropic Messages stream.
///
/// ```
/// use msg_anthropic::AnthropicAssembler;
/// use msg_codec::{Assembler, StreamOptions};
///
/// let mut assembler = AnthropicAssembler::new(&StreamOptions::default());
/// for data in [
///     r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
///     r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#,
///     r#"{"type":"content_block_stop","index":0}"#,
///     r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#,
///     r#"{"type":"message_stop"}"#,
/// ] {
///     assembler.event(data.into(), &mut |_| {});
/// }
/// let res = assembler.finish(&mut |_| {});
/// assert!(res.complete);
/// assert_eq!(res.choices[0].message.text(), "Hi");
/// ```
#[derive(Debug, Clone)]
pub struct AnthropicAssembler {
    head: Head,
    blocks: Vec<Block>,
    /// The last block of each index.
    by_index: BTreeMap<u64, usize>,
    shared: Shared,
    usage: Merged,
    /// Members of the message that the model does not know (AN-15).
    around: Merged,
    finish: Finish,
    /// Something of a message was seen.
    started: bool,
    message_stop: bool,
    template: Template<Target>,
}

/// What the one string of a delta was appended to: the block's index, and which of its texts.
type Target = (Option<u64>, Growing);

/// The members of a message, of its delta, and of the event of that, which have places of their own.
const KNOWN: [&str; 9] =
    ["id", "type", "role", "model", "content", "stop_reason", "usage", "delta", "index"];

impl AnthropicAssembler {
    /// An assembler at the start of a stream.
    #[must_use]
    pub fn new(options: &StreamOptions) -> Self {
        Self {
            head: Head::new(options),
            blocks: Vec::new(),
            by_index: BTreeMap::new(),
            shared: Shared::default(),
            usage: Merged::default(),
            around: Merged::default(),
            finish: Finish::default(),
            started: false,
            message_stop: false,
            template: Template::default(),
        }
    }

    fn read(&mut self, data: &str, name: Option<&str>, sink: &mut Sink<'_>) {
        let names = ["type", "index", "message", "content_block", "delta", "error"];
        let picked = self.head.pick(data, names);
        let Some([own_kind, index, message, block, delta, error]) = picked else { return };
        let whole = Json::from_valid(data.trim_ascii());
        let kind = own_kind.and_then(Json::text).or(name.map(Cow::Borrowed));
        let index = index.and_then(Json::whole_number);
        self.started |= !matches!(kind.as_deref(), None | Some("ping" | "error"));
        match kind.as_deref().unwrap_or_default() {
            "message_start" => {
                if let Some(message) = message {
                    self.message(message, sink);
                }
            }
            "message" => self.message(whole, sink),
            "content_block_start" => {
                if let Some(block) = block {
                    self.start(index, block, sink);
                }
            }
            "content_block_delta" => {
                if let Some(delta) = delta {
                    let mut effects = Effects::default();
                    if own_kind.is_none() {
                        // It is the event's name that says what this is, and names may change.
                        effects.other();
                    }
                    self.delta(index, delta, &mut effects, sink);
                    self.template.learn(data, effects);
                }
            }
            "content_block_stop" => self.stop(index, sink),
            "message_delta" => self.message_delta(whole, sink),
            "message_stop" => {
                self.message_stop = true;
                self.head.stopped = true;
            }
            "ping" => {}
            "error" => {
                let error = error.and_then(ProviderError::of_member);
                self.head.fail(error.unwrap_or_else(|| ProviderError::of_object(whole)), sink);
            }
            kind => match ProviderError::of_event(error, whole) {
                Some(error) => self.head.fail(error, sink),
                None => self.head.note(Note::UNKNOWN_EVENT, || format!("unknown event {kind:?}")),
            },
        }
    }

    /// The message of `message_start`, or a whole one.
    fn message(&mut self, message: Json<'_>, sink: &mut Sink<'_>) {
        let [id, model, content, usage, reason] =
            message.pick(["id", "model", "content", "usage", "stop_reason"]);
        self.head.identify(id, model, None);
        let lone = content.filter(|it| it.is_object() || it.filled().is_some());
        if let Some(it) = lone {
            self.head.step(0, sink).wrong_type("content", "a list of blocks", it);
        }
        for block in lone.into_iter().chain(content.into_iter().flat_map(Json::elements)) {
            self.start(None, block, sink);
            self.stop(None, sink);
        }
        self.usage.merge(usage, &mut self.head.step(0, sink).text_gauge());
        self.keep_unknown(message, sink);
        self.stop_reason(reason);
    }

    fn message_delta(&mut self, whole: Json<'_>, sink: &mut Sink<'_>) {
        let [delta, usage] = whole.pick(["delta", "usage"]);
        self.usage.merge(usage, &mut self.head.step(0, sink).text_gauge());
        self.keep_unknown(whole, sink);
        if let Some(delta) = delta {
            self.keep_unknown(delta, sink);
            self.stop_reason(delta.get("stop_reason"));
        }
    }

    /// Keeps the members of a message or its delta that are neither known nor null; the last wins.
    fn keep_unknown(&mut self, object: Json<'_>, sink: &mut Sink<'_>) {
        let mut step = self.head.step(0, sink);
        for (name, value) in object.members() {
            if !KNOWN.contains(&&*name) && !value.is_null() {
                self.around.set(&name, value, &mut step.text_gauge());
            }
        }
    }

    fn stop_reason(&mut self, reason: Option<Json<'_>>) {
        if let Some(reason) = reason.and_then(Json::text) {
            self.finish.set(reason, self.head.at, &mut self.head.notes);
        }
    }

    fn start(&mut self, index: Option<u64>, raw: Json<'_>, sink: &mut Sink<'_>) {
        let mut step = self.head.step(0, sink);
        if self.blocks.len() >= step.limits.max_calls {
            return step.text_gauge().limit();
        }
        // A call that ended without arguments was waiting for this.
        if let Some(Block { kind: BlockKind::Call { slot, .. }, ended: true, .. }) =
            self.blocks.last()
        {
            self.shared.calls.slots[*slot].is_final = true;
        }
        let text = step.text_as_block("content_block", raw);
        let raw = text.as_deref().map_or(raw, Json::from_valid);
        if !raw.is_object() {
            return step.left_out("content_block", "an object", raw);
        }
        let index = index.unwrap_or(self.blocks.len() as u64);
        let Some(block) = Block::start(index, raw, &mut self.shared, &mut step) else {
            return;
        };
        self.by_index.insert(index, self.blocks.len());
        self.blocks.push(block);
    }

    fn delta<'a>(
        &mut self,
        index: Option<u64>,
        delta: Json<'a>,
        effects: &mut Effects<'a, Target>,
        sink: &mut Sink<'_>,
    ) {
        let place = self.place_of(index).or_else(|| {
            let block = Block::implied_by(delta)?;
            self.start(index, block, sink);
            self.place_of(index)
        });
        let Some(place) = place else {
            return self.head.note(UNKNOWN_DELTA, || "a delta of a block that never began".into());
        };
        let block = &mut self.blocks[place];
        let [kind, text, thinking, signature, input] =
            delta.pick(["type", "text", "thinking", "signature", "partial_json"]);
        let kind = kind.and_then(Json::text);
        let growing = kind.as_deref().and_then(Growing::of_delta);
        let value = growing.and_then(|(to, _)| match to {
            Growing::Text => text,
            Growing::Thinking => thinking,
            Growing::Signature => signature,
            Growing::Input => input,
        });
        let step = &mut self.head.step(0, sink);
        let said = growing.map(|(to, member)| (to, value.and_then(|it| step.said(member, it))));
        let known = match said {
            Some((to, Some(said))) => {
                let taken = block.append(to, said.text(), &mut self.shared, step);
                if taken {
                    effects.said((index, to), value);
                }
                taken || block.delta(delta, step)
            }
            // An empty delta of a type that the block has says nothing.
            Some((to, None)) => block.has(to) || block.delta(delta, step),
            None => block.delta(delta, step),
        };
        if !known {
            self.head.note(UNKNOWN_DELTA, || "a delta of an unknown kind".into());
        }
    }

    /// Takes an event that is the one before with another string; false if it is not.
    fn short_cut(&mut self, data: &str, sink: &mut Sink<'_>) -> bool {
        let Some(((index, to), text)) = self.template.fit(data) else {
            return false;
        };
        let Some(place) = self.place_of(index) else {
            return false;
        };
        let step = &mut self.head.step(0, sink);
        self.blocks[place].append(to, text, &mut self.shared, step)
    }

    fn stop(&mut self, index: Option<u64>, sink: &mut Sink<'_>) {
        if let Some(place) = self.place_of(index) {
            self.blocks[place].end(&mut self.shared.calls, &mut self.head.step(0, sink));
        }
    }

    fn place_of(&self, index: Option<u64>) -> Option<usize> {
        let last = self.blocks.len().checked_sub(1);
        let Some(index) = index else {
            return last;
        };
        last.filter(|&last| self.blocks[last].index == index)
            .or_else(|| self.by_index.get(&index).copied())
    }
}

impl Assembler for AnthropicAssembler {
    fn head(&self) -> &Head {
        &self.head
    }

    fn head_mut(&mut self) -> &mut Head {
        &mut self.head
    }

    fn take(&mut self, data: &str, name: Option<&str>, sink: &mut Sink<'_>) {
        if !self.short_cut(data, sink) {
            self.read(data, name, sink);
        }
    }

    fn begins_another(&self, event: Json<'_>) -> bool {
        let kind = event.get("type").and_then(Json::text);
        kind.is_some_and(|it| it == "message_start" || it == "message")
    }

    fn close(mut self: Box<Self>, state: StreamState, sink: &mut Sink<'_>) -> Assembled {
        let head = &mut self.head;
        let is_over = self.message_stop || self.finish.is_known();
        let ending = head.ending(state, (!is_over).then_some("without a stop reason"));
        for block in &mut self.blocks {
            let step = &mut head.step(0, sink);
            block.flush(&mut self.shared.calls, step);
            if ending == Ending::Whole {
                block.announce(step);
            }
        }
        let n_calls = self.shared.calls.len();
        let closing = head.closing(ending, self.finish.reason().as_ref());
        let closed = self.shared.calls.close(closing, &mut head.step(0, sink));
        let finish = self.finish.resolve(n_calls, (state, ending), head);
        let mut calls = BySlot::new(closed);
        let mut parts = Parts::default();
        self.blocks.sort_by_key(|it| it.index);
        for block in self.blocks {
            block.into_parts(&mut calls, &mut head.notes, head.at, &mut parts);
        }
        head.usage = self.usage.into_json();
        let raw_finish = self.finish.raw().map(str::to_owned);
        let mut choice = AssembledChoice::new(0, parts, finish, raw_finish);
        self.around.into_extra(&ANTHROPIC, &mut choice.message.extra);
        let choices = if self.started { vec![choice] } else { Vec::new() };
        self.head.assemble(choices, ending, state, sink)
    }

    fn boxed_clone(&self) -> Box<dyn Assembler> {
        Box::new(self.clone())
    }
}
