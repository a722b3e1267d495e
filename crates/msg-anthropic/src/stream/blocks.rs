//! The content blocks of an Anthropic message while they arrive (OA-23).

use std::borrow::Cow;

use msg_codec::stream::{AssemblerStep, BySlot, Calls, Channel, Merged, Notes, Parts, TextKind};
use msg_codec::{Json, Str};
use msg_core::{Other, Part, Place, RawJson, Reasoning, StreamEvent, Text};

use super::SIGNATURE_MISSING;
use crate::shape::ANTHROPIC;

/// One block.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) index: u64,
    pub(crate) kind: BlockKind,
    /// Its `content_block_stop` came.
    pub(crate) ended: bool,
    /// Members that the model does not know.
    unknown: Merged,
}

/// What all blocks of a message share.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shared {
    pub(crate) calls: Calls,
    /// Some reasoning was announced, so that the next block's is set apart.
    has_reasoning: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum BlockKind {
    Text(Channel),
    Thinking {
        text: Channel,
        signature: Channel,
    },
    Redacted(String),
    Call {
        slot: usize,
        /// The input of the start block, used if no delta comes.
        input: String,
    },
    Other {
        members: Merged,
        input: Channel,
    },
}

/// A text that grows by deltas of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Growing {
    Text,
    Thinking,
    Signature,
    Input,
}

impl Growing {
    /// The text that a type of deltas appends to, and the member that has the string.
    pub(crate) fn of_delta(kind: &str) -> Option<(Self, &'static str)> {
        Some(match kind {
            "text_delta" => (Self::Text, "text"),
            "thinking_delta" => (Self::Thinking, "thinking"),
            "signature_delta" => (Self::Signature, "signature"),
            "input_json_delta" => (Self::Input, "partial_json"),
            _ => return None,
        })
    }
}

impl Block {
    /// The block that `content_block_start` begins; none over a limit, or if it is not an object.
    pub(crate) fn start(
        index: u64,
        raw: Json<'_>,
        shared: &mut Shared,
        step: &mut AssemblerStep<'_, '_>,
    ) -> Option<Self> {
        let members: Vec<_> = raw.members().collect();
        let kind = members.iter().rev().find(|it| it.0 == "type").and_then(|it| it.1.text())?;
        let kind = match &*kind {
            "text" => BlockKind::Text(Channel::default()),
            "thinking" => {
                BlockKind::Thinking { text: Channel::default(), signature: Channel::default() }
            }
            "redacted_thinking" => BlockKind::Redacted(String::new()),
            "tool_use" => {
                let slot = shared.calls.open(step)?;
                shared.calls.slots[slot].unended = true;
                BlockKind::Call { slot, input: String::new() }
            }
            _ => BlockKind::Other { members: Merged::default(), input: Channel::default() },
        };
        let mut block = Self { index, kind, ended: false, unknown: Merged::default() };
        for (key, value) in members {
            block.member(&key, value, shared, step);
        }
        Some(block)
    }

    /// A start block for a delta that came without one.
    pub(crate) fn implied_by(delta: Json<'_>) -> Option<Json<'static>> {
        Some(Json::from_valid(match &*delta.get("type")?.text()? {
            "text_delta" => r#"{"type":"text"}"#,
            "thinking_delta" => r#"{"type":"thinking"}"#,
            "input_json_delta" => r#"{"type":"tool_use"}"#,
            _ => return None,
        }))
    }

    fn member(
        &mut self,
        key: &str,
        value: Json<'_>,
        shared: &mut Shared,
        step: &mut AssemblerStep<'_, '_>,
    ) {
        match (&mut self.kind, key) {
            (BlockKind::Other { members, .. }, _) => {
                members.set(key, value, &mut step.text_gauge());
            }
            (_, "type") => {}
            (BlockKind::Text(channel), "text") => push(TextKind::Text, channel, value, step),
            (BlockKind::Thinking { text, .. }, "thinking") => {
                if let Some(said) = step.said(key, value) {
                    think(text, said.text(), &mut shared.has_reasoning, step);
                }
            }
            (BlockKind::Thinking { signature, .. }, "signature") => {
                if let Some(delta) = value.filled() {
                    signature.push(delta, &mut step.text_gauge());
                }
            }
            (BlockKind::Redacted(data), "data") => {
                if step.text_gauge().take(value.source().len()) {
                    *data = value.text().map(Cow::into_owned).unwrap_or_default();
                }
            }
            (BlockKind::Call { slot, .. }, "id") => {
                shared.calls.slots[*slot].id = value.id().map(Cow::into_owned).unwrap_or_default();
            }
            (BlockKind::Call { slot, .. }, "name") => {
                let said = step.said(key, value);
                shared.calls.slots[*slot].name =
                    said.map(|it| it.text().text().into_owned()).unwrap_or_default();
            }
            (BlockKind::Call { input, .. }, "input") => {
                let is_blank =
                    value.is_null() || value.members().next().is_none() && value.is_object();
                if !is_blank && step.text_gauge().take(value.source().len()) {
                    *input = value.compact();
                }
            }
            _ => self.unknown.add(key, value, &mut step.text_gauge()),
        }
    }

    /// Appends the string of a delta; false if a block of this kind has no such text.
    pub(crate) fn append(
        &mut self,
        to: Growing,
        text: Str<'_>,
        shared: &mut Shared,
        step: &mut AssemblerStep<'_, '_>,
    ) -> bool {
        match (&mut self.kind, to) {
            (BlockKind::Text(channel), Growing::Text) => {
                TextKind::Text.push(channel, text, step);
            }
            (BlockKind::Thinking { text: channel, .. }, Growing::Thinking) => {
                think(channel, text, &mut shared.has_reasoning, step);
            }
            (BlockKind::Thinking { signature, .. }, Growing::Signature) => {
                signature.push(text, &mut step.text_gauge());
            }
            (BlockKind::Call { slot, .. }, Growing::Input) => {
                shared.calls.slots[*slot].push_held(*slot as u32, text, step);
            }
            (BlockKind::Other { input, .. }, Growing::Input) => {
                input.push(text, &mut step.argument_gauge());
            }
            _ => return false,
        }
        true
    }

    /// Whether a block of this kind has such a text.
    pub(crate) fn has(&self, to: Growing) -> bool {
        matches!(
            (&self.kind, to),
            (BlockKind::Text(_), Growing::Text)
                | (BlockKind::Thinking { .. }, Growing::Thinking | Growing::Signature)
                | (BlockKind::Call { .. } | BlockKind::Other { .. }, Growing::Input)
        )
    }

    /// Takes a delta that does not only append to one of the known texts; false if a block of this
    /// kind has none of its type.
    pub(crate) fn delta(&mut self, delta: Json<'_>, step: &mut AssemblerStep<'_, '_>) -> bool {
        let kind = delta.get("type").and_then(Json::text);
        match (&mut self.kind, kind.as_deref().unwrap_or_default()) {
            (BlockKind::Text(_), "citations_delta") => {
                if let Some(citation) = delta.get("citation") {
                    self.unknown.append("citations", citation, &mut step.text_gauge());
                }
            }
            (BlockKind::Other { members, .. }, _) => {
                for (key, value) in delta.members().filter(|(key, _)| key != "type") {
                    members.grow(&key, value, &mut step.text_gauge());
                }
            }
            _ => return false,
        }
        true
    }

    /// Its `content_block_stop`. What the deltas of the part did not say is announced, once.
    pub(crate) fn end(&mut self, calls: &mut Calls, step: &mut AssemblerStep<'_, '_>) {
        if let BlockKind::Call { slot, input } = &mut self.kind {
            calls.slots[*slot].unended = false;
            use_input(*slot, input, calls, step);
        }
        self.announce(step);
    }

    /// Announces what the deltas of the part did not say, if it has just ended.
    pub(crate) fn announce(&mut self, step: &mut AssemblerStep<'_, '_>) {
        if !std::mem::replace(&mut self.ended, true)
            && self.says_more()
            && let Some(part) = self.clone().into_part()
        {
            (step.sink)(StreamEvent::PartEnd { choice: step.choice, part: Cow::Owned(part) });
        }
    }

    /// Whether the part has something that no delta announced.
    fn says_more(&self) -> bool {
        match &self.kind {
            BlockKind::Text(_) => !self.unknown.is_empty(),
            BlockKind::Thinking { signature, .. } => {
                !signature.is_empty() || !self.unknown.is_empty()
            }
            BlockKind::Redacted(_) | BlockKind::Other { .. } => true,
            BlockKind::Call { .. } => false,
        }
    }

    /// The stream is over: ends the texts.
    pub(crate) fn flush(&mut self, calls: &mut Calls, step: &mut AssemblerStep<'_, '_>) {
        match &mut self.kind {
            BlockKind::Text(text) => TextKind::Text.end(text, step),
            BlockKind::Thinking { text, signature } => {
                TextKind::Reasoning.end(text, step);
                signature.end(&mut step.text_gauge());
            }
            BlockKind::Call { slot, input } => use_input(*slot, input, calls, step),
            BlockKind::Other { input, .. } => {
                input.end(&mut step.argument_gauge());
            }
            BlockKind::Redacted(_) => {}
        }
    }

    /// Adds the part, or the calls, that the block is.
    pub(crate) fn into_parts(
        self,
        calls: &mut BySlot,
        notes: &mut Notes,
        at: u64,
        parts: &mut Parts,
    ) {
        match &self.kind {
            BlockKind::Thinking { signature, .. } if signature.is_empty() => {
                notes.add(SIGNATURE_MISSING, at, || {
                    "a thinking block came without its signature".into()
                });
            }
            BlockKind::Call { slot, .. } => {
                let mut unknown = Some(self.unknown);
                for mut call in calls.take(*slot) {
                    if let Some(unknown) = unknown.take() {
                        unknown.into_extra(&ANTHROPIC, &mut call.call.extra);
                    }
                    parts.push_call(call);
                }
                return;
            }
            _ => {}
        }
        parts.list.extend(self.into_part());
    }

    /// The part; none of a call, of a text that says nothing, and of a block without members.
    fn into_part(self) -> Option<Part> {
        let mut part = match self.kind {
            BlockKind::Text(text) => Part::Text(Text::new(text.into_text())),
            BlockKind::Thinking { text, signature } => {
                let signature = Some(signature.into_text()).filter(|it| !it.is_empty());
                Part::Reasoning(Reasoning { signature, ..Reasoning::new(text.into_text()) })
            }
            BlockKind::Redacted(data) => {
                Part::Reasoning(Reasoning { redacted: Some(data), ..Reasoning::default() })
            }
            BlockKind::Call { .. } => return None,
            BlockKind::Other { mut members, input } => {
                if !input.is_empty() {
                    members.put_input(input.text());
                }
                if members.is_empty() {
                    return None;
                }
                let json = members.into_json();
                let mut other = Other::new(ANTHROPIC, RawJson::written(|it| it.raw(&json)));
                other.place = Some(Place::Content);
                Part::Other(other)
            }
        };
        self.unknown.into_extra(&ANTHROPIC, part.extra_mut());
        (part.as_text() != Some("") || !part.extra().is_empty()).then_some(part)
    }
}

/// The input of the start block counts if no delta came.
fn use_input(slot: usize, input: &mut String, calls: &mut Calls, step: &mut AssemblerStep<'_, '_>) {
    let input = std::mem::take(input);
    let call = &mut calls.slots[slot];
    if !input.is_empty() && !call.has_arguments() {
        call.push(slot as u32, Str::plain(&input), step);
    }
}

fn push(kind: TextKind, channel: &mut Channel, text: Json<'_>, step: &mut AssemblerStep<'_, '_>) {
    if let Some(said) = step.said("text", text) {
        kind.push(channel, said.text(), step);
    }
}

/// Appends reasoning; the first of a later block is set apart by a blank line, in the events only.
fn think(
    channel: &mut Channel,
    text: Str<'_>,
    has_reasoning: &mut bool,
    step: &mut AssemblerStep<'_, '_>,
) {
    if *has_reasoning && channel.is_empty() {
        TextKind::Reasoning.announce("\n\n", step);
    }
    *has_reasoning = true;
    TextKind::Reasoning.push(channel, text, step);
}
