//! The assembler for APIs that stream numbered blocks (Anthropic, Bedrock Converse, Gemini Interactions): the state of
//! arriving blocks, and their conversion to message parts. An API assigns events to blocks and says what they add.
//!
//! ```text
//! an event ─ BlockWire::read ─┬─ open 1       a block begins: text, thought, call, or one that is carried
//!                             ├─ at(1).say    one of its texts grows
//!                             └─ end(1)       it has ended: what its deltas did not say is announced
//! ```

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use msg_core::{Extra, Origin, Part, StreamEvent};

use super::assembler::{Assembled, AssembledChoice, Assembler};
use super::calls::Calls;
use super::channel::{Channel, TextKind};
use super::close::{BySlot, Ending, Finish, Parts, StreamState};
use super::head::Head;
use super::merged::{AssemblerStep, Merged, Note, Sink};
use super::reader::StreamOptions;
use crate::json::{Json, Str};

/// One block while it arrives.
#[derive(Debug, Clone)]
pub struct Block {
    /// Its number.
    pub index: u64,
    /// What it is.
    pub kind: BlockKind,
    /// Whether its stop arrived.
    pub ended: bool,
    /// Its unknown members.
    pub unknown: Merged,
    /// Members of the object that contains several blocks with one number; stored on the first of them.
    pub around: Merged,
    /// The previous block with the same number that it continues.
    before: Option<usize>,
}

/// What a block is.
#[derive(Debug, Clone)]
pub enum BlockKind {
    /// What the model says.
    Text(Channel),
    /// What it thinks.
    Thought {
        /// Its texts; only the last one still grows.
        texts: Vec<Channel>,
        /// The signature of the provider.
        signature: Channel,
        /// The payload that only the provider can read.
        sealed: Vec<u8>,
    },
    /// A call.
    Call {
        /// The number of the call.
        slot: usize,
        /// The input of its first event, used if no delta follows.
        input: String,
    },
    /// A part that arrived at once.
    Whole(Part),
    /// A block without a kind in the model.
    Carried {
        /// Its name in the API.
        name: String,
        /// Its members.
        members: Merged,
        /// Its input, which arrives in pieces.
        input: Channel,
        /// Its bytes, which arrive in pieces.
        bytes: Vec<u8>,
    },
}

impl Block {
    /// Whether it certainly has only what its deltas announced; for most blocks this avoids building parts.
    fn is_said(&self) -> bool {
        let is_plain = match &self.kind {
            BlockKind::Text(_) => true,
            BlockKind::Thought { signature, sealed, .. } => {
                signature.is_empty() && sealed.is_empty()
            }
            _ => false,
        };
        is_plain && self.unknown.is_empty() && self.around.is_empty()
    }
}

impl BlockKind {
    /// The start of a text.
    #[must_use]
    pub fn text() -> Self {
        Self::Text(Channel::default())
    }

    /// The start of reasoning.
    #[must_use]
    pub fn thought() -> Self {
        Self::Thought { texts: Vec::new(), signature: Channel::default(), sealed: Vec::new() }
    }

    /// The start of a call.
    #[must_use]
    pub fn call() -> Self {
        Self::Call { slot: usize::MAX, input: String::new() }
    }

    /// The start of a block without a kind in the model.
    #[must_use]
    pub fn carried(name: impl Into<String>) -> Self {
        let (members, input) = (Merged::default(), Channel::default());
        Self::Carried { name: name.into(), members, input, bytes: Vec::new() }
    }
}

/// A growing string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grows {
    /// A text.
    Text,
    /// The last text of a thought.
    Thought,
    /// The signature of a thought.
    Signature,
    /// The arguments of a call, or the input of a carried block.
    Input,
}

/// How an API streams its blocks.
pub trait BlockWire: fmt::Debug + Clone + Default + Send + Sync + 'static {
    /// The format of unknown members.
    const ORIGIN: Origin;
    /// The report for a number that several blocks share; `None` if the API reuses numbers.
    const REUSED: Option<&'static str>;
    /// The limit of blocks, as a multiple of the limit of calls.
    const BLOCKS_A_CALL: usize = 1;
    /// Whether a call is complete when its block stops. Otherwise it is complete when another block
    /// begins.
    const STOP_IS_FINAL: bool = true;
    /// The description of a stream that ended without a finish reason.
    const EARLY: &'static str = "without a stop reason";

    /// Reads the data of an event, which should be a JSON object. `name` is the event's name.
    fn read(of: &mut BlockAssembler<Self>, data: &str, name: Option<&str>, sink: &mut Sink<'_>);

    /// Whether an event after the end begins another response.
    fn begins_another(_event: Json<'_>) -> bool {
        false
    }

    /// The parts of a block that is not a call; empty for an empty block.
    fn parts(block: Block) -> Vec<Part>;

    /// Keeps the unknown members of a call.
    fn keep_of_call(unknown: Merged, extra: &mut Extra) {
        unknown.into_extra(&Self::ORIGIN, extra);
    }

    /// Called after the last event. Sets whether the answer is complete, and its finish reason.
    fn stop(of: &mut BlockAssembler<Self>) {
        of.is_over = of.finish.is_known();
    }
}

/// Assembles a stream of numbered blocks.
#[derive(Debug, Clone)]
pub struct BlockAssembler<W> {
    /// The common state of assemblers.
    pub head: Head,
    /// The blocks, in order of arrival.
    pub blocks: Vec<Block>,
    /// The last block of each number.
    by_index: BTreeMap<u64, usize>,
    /// Numbers of blocks that are skipped.
    unread: BTreeSet<u64>,
    /// The calls among them.
    pub calls: Calls,
    /// Whether reasoning was announced, so the next one must be separated.
    has_reasoning: bool,
    /// Unknown members of the message.
    pub around: Merged,
    /// The finish reason.
    pub finish: Finish,
    /// Whether part of an answer was seen.
    pub started: bool,
    /// The answer is over.
    pub is_over: bool,
    /// Whether open calls were truncated.
    pub is_cut: bool,
    /// The API's own state.
    pub wire: W,
}

impl<W: BlockWire> BlockAssembler<W> {
    /// An assembler at the start of a stream.
    #[must_use]
    pub fn new(options: &StreamOptions) -> Self {
        Self {
            head: Head::new(options),
            blocks: Vec::new(),
            by_index: BTreeMap::new(),
            unread: BTreeSet::new(),
            calls: Calls::default(),
            has_reasoning: false,
            around: Merged::default(),
            finish: Finish::default(),
            started: false,
            is_over: false,
            is_cut: false,
            wire: W::default(),
        }
    }

    /// Begins a block, after the last one if it has no number; `None` above a limit.
    pub fn open(
        &mut self,
        index: Option<u64>,
        kind: BlockKind,
        sink: &mut Sink<'_>,
    ) -> Option<usize> {
        let index = index.unwrap_or_else(|| self.blocks.last().map_or(0, |it| it.index + 1));
        let place = self.add(index, kind, None, sink)?;
        if let (Some(_), Some(what)) = (self.by_index.insert(index, place), W::REUSED) {
            self.head.note(Note::INDEX_REUSED, || {
                format!("the index {index} is used by several {what}")
            });
        }
        Some(place)
    }

    /// Begins another block with the same number; `None` above a limit.
    pub fn go_on(&mut self, before: usize, kind: BlockKind, sink: &mut Sink<'_>) -> Option<usize> {
        let index = self.blocks[before].index;
        let place = self.add(index, kind, Some(before), sink)?;
        self.by_index.insert(index, place);
        Some(place)
    }

    /// Notes an event of a skipped block.
    pub fn pass(&mut self, index: Option<u64>) {
        if self.unread.len() < self.head.options.limits.max_calls {
            self.unread.extend(index);
        }
    }

    fn add(
        &mut self,
        index: u64,
        mut kind: BlockKind,
        before: Option<usize>,
        sink: &mut Sink<'_>,
    ) -> Option<usize> {
        let mut step = self.head.step(0, sink);
        if self.blocks.len() / W::BLOCKS_A_CALL >= step.limits.max_calls {
            step.text_gauge().limit();
            return None;
        }
        if let Some(Block { kind: BlockKind::Call { slot, .. }, ended: true, .. }) =
            self.blocks.last()
        {
            self.calls.slots[*slot].is_final = true;
        }
        if let BlockKind::Call { slot, .. } = &mut kind {
            *slot = self.calls.open(&mut step)?;
            self.calls.slots[*slot].unended = true;
        }
        let (unknown, around) = (Merged::default(), Merged::default());
        self.blocks.push(Block { index, kind, ended: false, unknown, around, before });
        Some(self.blocks.len() - 1)
    }

    /// The last block with a number; without one, the last of all.
    #[must_use]
    pub fn place_of(&self, index: Option<u64>) -> Option<usize> {
        let last = self.blocks.len().checked_sub(1);
        let Some(index) = index else { return last };
        last.filter(|&last| self.blocks[last].index == index)
            .or_else(|| self.by_index.get(&index).copied())
    }

    /// The last text block among those that this one continues.
    #[must_use]
    pub fn text_of(&self, place: usize) -> Option<usize> {
        self.chain(place).find(|it| matches!(self.blocks[*it].kind, BlockKind::Text(_)))
    }

    /// A block and those that it continues.
    fn chain(&self, place: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(place), |it| self.blocks[*it].before)
    }

    /// The block that an event adds to.
    pub fn at<'a, 's>(&'a mut self, place: usize, sink: &'a mut Sink<'s>) -> BlockStep<'a, 's> {
        let (calls, has_reasoning) = (&mut self.calls, &mut self.has_reasoning);
        let (block, step) = (&mut self.blocks[place], self.head.step(0, sink));
        BlockStep { block, calls, has_reasoning, step }
    }

    /// Stops a block, and those that it continues.
    pub fn end(&mut self, place: usize, sink: &mut Sink<'_>) {
        let mut all: Vec<_> = self.chain(place).collect();
        all.reverse();
        for place in all {
            let mut it = self.at(place, sink);
            it.flush();
            if let BlockKind::Call { slot, .. } = it.block.kind {
                it.calls.slots[slot].stop(it.step.holes);
                it.calls.slots[slot].is_final |= W::STOP_IS_FINAL;
            }
            self.announce(place, sink);
        }
    }

    /// Announces what the deltas of a block lacked, once.
    fn announce(&mut self, place: usize, sink: &mut Sink<'_>) {
        let block = &mut self.blocks[place];
        let is_call = matches!(block.kind, BlockKind::Call { .. });
        if std::mem::replace(&mut block.ended, true) || is_call || block.is_said() {
            return;
        }
        for part in W::parts(block.clone()) {
            let is_said = match &part {
                Part::Text(it) => it.extra.is_empty(),
                Part::Reasoning(it) => {
                    it.signature.is_none() && it.redacted.is_none() && it.extra.is_empty()
                }
                _ => false,
            };
            if !is_said {
                sink(StreamEvent::PartEnd { choice: 0, part: Cow::Owned(part) });
            }
        }
    }

    /// Keeps the members of an object for the message, except nulls and known ones; the last value counts.
    pub fn keep_around(
        &mut self,
        object: Json<'_>,
        is_known: impl Fn(&str, Json<'_>) -> bool,
        sink: &mut Sink<'_>,
    ) {
        let mut step = self.head.step(0, sink);
        for (name, value) in object.members() {
            if !value.is_null() && !is_known(&name, value) {
                self.around.set(&name, value, &mut step.text_gauge());
            }
        }
    }
}

/// A block that an event adds to, and the environment.
pub struct BlockStep<'a, 's> {
    /// The block.
    pub block: &'a mut Block,
    /// All calls of the message.
    pub calls: &'a mut Calls,
    has_reasoning: &'a mut bool,
    /// The receivers of events and findings.
    pub step: AssemblerStep<'a, 's>,
}

impl BlockStep<'_, '_> {
    /// Appends to a string of the block and announces the addition; returns false if it has no such string.
    pub fn append(&mut self, to: Grows, text: Str<'_>) -> bool {
        let step = &mut self.step;
        match (&mut self.block.kind, to) {
            (BlockKind::Text(channel), Grows::Text) => TextKind::Text.push(channel, text, step),
            (BlockKind::Thought { texts, .. }, Grows::Thought) => {
                if texts.is_empty() {
                    texts.push(Channel::default());
                }
                let Some(channel) = texts.last_mut() else { return false };
                // The first text of later reasoning is separated by a blank line, in events only.
                if *self.has_reasoning && channel.is_empty() {
                    TextKind::Reasoning.announce(TextKind::APART, step);
                }
                *self.has_reasoning = true;
                TextKind::Reasoning.push(channel, text, step);
            }
            (BlockKind::Thought { signature, .. }, Grows::Signature) => {
                signature.push(text, &mut step.text_gauge());
            }
            (BlockKind::Call { slot, .. }, Grows::Input) => {
                self.calls.slots[*slot].push_held(*slot as u32, text, step);
            }
            (BlockKind::Carried { input, .. }, Grows::Input) => {
                input.push(text, &mut step.argument_gauge());
            }
            _ => return false,
        }
        true
    }

    /// Whether it has such a string.
    #[must_use]
    pub fn has(&self, to: Grows) -> bool {
        matches!(
            (&self.block.kind, to),
            (BlockKind::Text(_), Grows::Text)
                | (BlockKind::Thought { .. }, Grows::Thought | Grows::Signature)
                | (BlockKind::Call { .. } | BlockKind::Carried { .. }, Grows::Input)
        )
    }

    /// [`BlockStep::append`] with the text of a member; does nothing if it is empty.
    pub fn say(&mut self, to: Grows, name: &str, value: Json<'_>) {
        if let Some(it) = self.step.said(name, value) {
            self.append(to, it.text());
        }
    }

    /// Keeps an unknown member.
    pub fn keep(&mut self, name: &str, value: Json<'_>) {
        self.block.unknown.add(name, value, &mut self.step.text_gauge());
    }

    /// Sets a call's `id`, `name` (the first value counts) or `signature` (the last one counts). `member` is the API's
    /// name.
    pub fn call_member(&mut self, which: &str, member: &str, value: Json<'_>) {
        let BlockKind::Call { slot, .. } = self.block.kind else { return };
        let said = match value.id().filter(|_| which == "id") {
            Some(it) => Some(it.into_owned()),
            None => self.step.said(member, value).map(|it| it.text().text().into_owned()),
        };
        let Some(text) = said.filter(|it| self.step.text_gauge().take(it.len())) else { return };
        let call = &mut self.calls.slots[slot];
        match which {
            "id" if call.id.is_empty() => call.id = text,
            "name" if call.name.is_empty() => call.name = text,
            "signature" => call.signature = Some(text),
            _ => {}
        }
    }

    /// Announces a call whose name is known.
    pub fn begin_call(&mut self) {
        let BlockKind::Call { slot, .. } = self.block.kind else { return };
        let call = &mut self.calls.slots[slot];
        if !call.name.is_empty() {
            call.begin(slot as u32, &mut self.step);
        }
    }

    /// Appends to the arguments of a call: a text, or the JSON of another value, which is noted.
    pub fn arguments(&mut self, value: Json<'_>) {
        match value.string() {
            Some(text) if text.source.is_empty() => {}
            Some(text) => drop(self.append(Grows::Input, text)),
            None if value.is_null() => {}
            None => {
                let note = || "arguments came as JSON instead of text".to_owned();
                self.step.note(Note::ARGUMENTS_OBJECT, note);
                self.append(Grows::Input, Str::plain(&value.compact()));
            }
        }
    }

    /// Keeps the initial input of a call.
    pub fn begin_input(&mut self, said: String) {
        if let BlockKind::Call { input, .. } = &mut self.block.kind
            && self.step.text_gauge().take(said.len())
        {
            *input = said;
        }
    }

    /// Uses the initial input of a call if no delta arrived.
    fn use_input(&mut self) {
        let BlockKind::Call { slot, input } = &mut self.block.kind else { return };
        let (input, call) = (std::mem::take(input), &mut self.calls.slots[*slot]);
        if !input.is_empty() && !call.has_arguments() {
            call.push(*slot as u32, Str::plain(&input), &mut self.step);
        }
    }

    /// Ends the texts at the end of the stream.
    fn flush(&mut self) {
        let step = &mut self.step;
        match &mut self.block.kind {
            BlockKind::Text(text) => TextKind::Text.end(text, step),
            BlockKind::Thought { texts, signature, .. } => {
                texts.iter_mut().for_each(|it| TextKind::Reasoning.end(it, step));
                signature.end(&mut step.text_gauge());
            }
            BlockKind::Call { .. } => self.use_input(),
            BlockKind::Carried { input, .. } => drop(input.end(&mut step.argument_gauge())),
            BlockKind::Whole(_) => {}
        }
    }
}

impl<W: BlockWire> Assembler for BlockAssembler<W> {
    fn head(&self) -> &Head {
        &self.head
    }

    fn head_mut(&mut self) -> &mut Head {
        &mut self.head
    }

    fn take(&mut self, data: &str, name: Option<&str>, sink: &mut Sink<'_>) {
        W::read(self, data, name, sink);
    }

    fn begins_another(&self, event: Json<'_>) -> bool {
        W::begins_another(event)
    }

    fn close(mut self: Box<Self>, state: StreamState, sink: &mut Sink<'_>) -> Assembled {
        W::stop(&mut self);
        let ending = self.head.ending(state, (!self.is_over).then_some(W::EARLY));
        self.unread.extend(self.blocks.iter().map(|it| it.index));
        self.head.note_gap("block", 0, self.unread.iter().copied());
        for place in 0..self.blocks.len() {
            self.at(place, sink).flush();
            if ending == Ending::Whole {
                self.announce(place, sink);
            }
        }
        let n_calls = self.calls.len();
        let mut closing = self.head.closing(ending, self.finish.reason().as_ref());
        closing.cut |= self.is_cut;
        let closed = self.calls.close(closing, &mut self.head.step(0, sink));
        let finish = self.finish.resolve(n_calls, (state, ending), &mut self.head);
        let raw = self.finish.raw().map(str::to_owned);
        let (mut calls, mut parts) = (BySlot::new(closed), Parts::default());
        msg_core::sort_by_rank(&mut self.blocks, |it| it.index);
        for block in self.blocks {
            let BlockKind::Call { slot, .. } = block.kind else {
                parts.list.extend(W::parts(block));
                continue;
            };
            let mut unknown = Some(block.unknown).filter(|it| !it.is_empty());
            for mut call in calls.take(slot) {
                if let Some(it) = unknown.take() {
                    W::keep_of_call(it, &mut call.call.extra);
                }
                parts.push_call(call);
            }
        }
        let mut choice = AssembledChoice::new(0, parts, finish, raw);
        self.around.into_extra(&W::ORIGIN, &mut choice.message.extra);
        let choices = if self.started { vec![choice] } else { Vec::new() };
        self.head.assemble(choices, ending, state, sink)
    }

    fn boxed_clone(&self) -> Box<dyn Assembler> {
        Box::new(self.clone())
    }
}
