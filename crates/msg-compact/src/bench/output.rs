//! Tool outputs on the workbench: what they cost, and setting them to another text.

use msg_chainast::BodyPairKind;
use msg_core::{Content, Message, Part, ToolResult};

use super::Workbench;
use crate::budget::Unit;

/// A tool result outside summarization pairs, by its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    /// Its section.
    pub section: usize,
    /// Its pair in the section.
    pub pair: usize,
    /// Its message in the pair, from 1.
    pub message: usize,
    /// Its part in the message.
    pub part: usize,
    /// What it costs without the message around it, in the unit in use.
    pub cost: u64,
}

impl Workbench<'_> {
    /// All tool outputs, oldest first.
    pub fn outputs(&self) -> Vec<ToolOutput> {
        let mut outputs = Vec::new();
        for (section, state) in self.sections.iter().enumerate() {
            for (pair, it) in state.pairs.iter().enumerate() {
                if it.kind == BodyPairKind::RequestResponse {
                    self.outputs_of_pair(section, pair, &mut outputs);
                }
            }
        }
        outputs
    }

    fn outputs_of_pair(&self, section: usize, pair: usize, outputs: &mut Vec<ToolOutput>) {
        let items = &self.sections[section].pairs[pair].items;
        for (message, item) in items.iter().enumerate().skip(1) {
            let it = self.message(item);
            let alone = it.parts.len() == 1 && it.name.is_none();
            for (part, result) in it.parts.iter().enumerate() {
                let Part::ToolResult(result) = result else { continue };
                let known = alone.then_some(item.cost.tokens);
                let cost = self.output_cost(result, known);
                outputs.push(ToolOutput { section, pair, message, part, cost });
            }
        }
    }

    fn output_cost(&self, result: &ToolResult, message_tokens: Option<u64>) -> u64 {
        match self.unit {
            Unit::Bytes => result.content.size() as u64,
            Unit::Tokens => self.counter.tool_output(result, message_tokens),
        }
    }

    /// The result at a place.
    pub fn output(&self, at: &ToolOutput) -> Option<&ToolResult> {
        let item = self.sections.get(at.section)?.pairs.get(at.pair)?.items.get(at.message)?;
        self.message(item).parts.get(at.part)?.as_tool_result()
    }

    /// The tool of a result: its call's name.
    pub fn tool_of(&self, at: &ToolOutput) -> &str {
        let Some(result) = self.output(at) else { return "" };
        let assistant = &self.sections[at.section].pairs[at.pair].items[0];
        let call = self.message(assistant).tool_calls().find(|it| it.id == result.call_id);
        call.map_or_else(|| result.name.as_deref().unwrap_or_default(), |it| &it.name)
    }

    /// Sets the contents of results of one message, all of them at once. Refused (false) where the
    /// pair is locked, unless `last` allows the last pair, and where it would not lower the cost.
    pub(crate) fn set_outputs(
        &mut self,
        at: &ToolOutput,
        texts: Vec<(usize, String)>,
        last: bool,
    ) -> bool {
        if self.locked(at.section, at.pair) && !(last && self.is_free_last(at.section, at.pair)) {
            return false;
        }
        let Some(message) = self.with_outputs(at, texts) else { return false };
        self.replace_item(at.section, at.pair, at.message, message)
    }

    /// Whether a pair is the last of all, and locked for no other reason.
    pub(crate) fn is_free_last(&self, section: usize, pair: usize) -> bool {
        let state = &self.sections[section];
        let is_last = section + 1 == self.sections.len() && pair + 1 == state.pairs.len();
        is_last && !state.pinned && !state.pairs[pair].pinned
    }

    fn with_outputs(&self, at: &ToolOutput, texts: Vec<(usize, String)>) -> Option<Message> {
        let item = self.sections.get(at.section)?.pairs.get(at.pair)?.items.get(at.message)?;
        let old = self.message(item);
        let mut texts = texts.into_iter().peekable();
        let mut parts = Vec::with_capacity(old.parts.len());
        for (number, part) in old.parts.iter().enumerate() {
            match (part, texts.next_if(|it| it.0 == number)) {
                (Part::ToolResult(result), Some((_, text))) => {
                    parts.push(Part::ToolResult(with_content(result, text)));
                }
                _ => parts.push(part.clone()),
            }
        }
        Some(Message {
            role: old.role.clone(),
            parts,
            name: old.name.clone(),
            extra: old.extra.clone(),
        })
    }

    /// Puts another message in the place of one of a pair, if it costs less.
    pub(crate) fn replace_item(
        &mut self,
        section: usize,
        pair: usize,
        message: usize,
        new: Message,
    ) -> bool {
        let input = self.sections[section].pairs[pair].items[message].input;
        let new = self.made(new, input);
        let old = &mut self.sections[section].pairs[pair].items[message];
        if self.unit.of(new.cost) >= self.unit.of(old.cost) {
            return false;
        }
        let old = std::mem::replace(old, new);
        let new = self.sections[section].pairs[pair].items[message].cost;
        self.sum = self.sum - old.cost + new;
        true
    }
}

/// The result with another content; id, name and all else stay.
fn with_content(old: &ToolResult, text: String) -> ToolResult {
    ToolResult {
        call_id: old.call_id.clone(),
        kind: old.kind.clone(),
        name: old.name.clone(),
        content: Content::from(text),
        is_error: old.is_error,
        extra: old.extra.clone(),
    }
}
