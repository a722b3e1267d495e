//! Reasoning: the text beside the content, the signed blocks, the parts among the contents.

use std::borrow::Cow;

use msg_core::{Message, Part, Reasoning};

use super::{OPENAI, Writer};
use crate::{
    Layout, ReasoningField,
    chat::shape::{block, message, part},
    text_blocks::{TextBlocks, blocks},
};
use msg_codec::codec::{Plan, RawMember, Value, bit, mask, members_of};

/// The members of a message that hold reasoning, whatever their shape.
pub(super) const MEMBERS: [&str; 4] =
    ["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"];

/// Where the reasoning of one message goes.
#[derive(Default)]
pub(super) struct Thoughts<'m> {
    /// The member that holds the texts, if they are written there at all.
    pub(super) field: Option<u8>,
    /// The texts, joined.
    pub(super) text: Cow<'m, str>,
    /// The parts that are blocks.
    pub(super) blocks: Vec<(usize, &'m Reasoning)>,
}

impl Thoughts<'_> {
    pub(super) fn want(&self) -> u32 {
        self.field.map_or(0, bit) | mask(!self.blocks.is_empty(), message::THINKING_BLOCKS)
    }
}

impl Writer<'_> {
    /// Whether a reasoning part was among the content parts and stays there.
    pub(super) fn is_in_content(&self, it: &Reasoning) -> bool {
        self.plan(&it.extra).variant(part::TYPE) == part::TYPE_IN_CONTENT && it.text.is_some()
    }

    /// Sorts the reasoning of a message into its members, and notes what has no place in them.
    pub(super) fn thoughts<'m>(
        &mut self,
        message: &'m Message,
        plan: Plan<'_>,
        raw: &[RawMember<'_>],
    ) -> Thoughts<'m> {
        let parts = message.parts.iter().enumerate();
        let reasoning = parts.filter_map(|(at, it)| Some((at, it.as_reasoning()?)));
        let beside: Vec<_> = reasoning.filter(|(_, it)| !self.is_in_content(it)).collect();
        if beside.is_empty() {
            return Thoughts::default();
        }
        let (blocks, plain): (Vec<_>, Vec<_>) =
            beside.iter().copied().partition(|(_, it)| self.is_block(it, plan));
        self.note_lost_thoughts(&beside, &plain);
        let covered = plain.iter().all(|(_, it)| it.display_text().is_empty());
        let field = self.reasoning_field(plan, raw, covered && !blocks.is_empty());
        let joined = field.is_some_and(|it| plan.variant(it) == message::REASONING_JOINED);
        let text = join(&beside, if joined { "" } else { "\n\n" });
        let field = field.filter(|_| !text.is_empty());
        Thoughts { field, text, blocks }
    }

    /// Signed and redacted thoughts are blocks, unsigned ones where they came as blocks.
    fn is_block(&self, it: &Reasoning, plan: Plan<'_>) -> bool {
        it.signature.is_some()
            || it.redacted.is_some()
            || (plan.has(message::THINKING_BLOCKS)
                && self.plan(&it.extra).variant(block::TYPE) == block::TYPE_UNSIGNED)
    }

    /// The member for the texts: where the source had them, which may be in the blocks alone.
    fn reasoning_field(&self, plan: Plan<'_>, raw: &[RawMember<'_>], covered: bool) -> Option<u8> {
        let chosen = match self.options.reasoning_field {
            ReasoningField::ReasoningContent => message::REASONING_CONTENT,
            ReasoningField::Reasoning => message::REASONING,
        };
        if plan.slots().is_none() || self.options.layout == Layout::Canonical {
            return Some(chosen);
        }
        let from_model = |code: u8| {
            let name = message::SHAPE.name(code);
            plan.has(code) && raw.iter().all(|it| it.name != name)
        };
        let codes = [message::REASONING_CONTENT, message::REASONING];
        match codes.into_iter().find(|it| from_model(*it)) {
            Some(code) => Some(code),
            None => (!covered).then_some(chosen),
        }
    }

    fn note_lost_thoughts(
        &mut self,
        beside: &[(usize, &Reasoning)],
        plain: &[(usize, &Reasoning)],
    ) {
        for &(at, it) in beside {
            self.objects.losses.foreign(&it.extra, Some(&OPENAI), Some(at));
            let has_summary = it.summary.as_ref().is_some_and(|it| !it.is_empty());
            let lost = [
                ("encrypted", it.encrypted.is_some()),
                ("summary", it.text.is_some() && has_summary),
                ("redacted", it.redacted.is_some() && it.signature.is_some()),
            ];
            self.objects.losses.members(Some(at), &lost);
        }
        for &(at, it) in plain {
            it.extra.iter(&OPENAI).for_each(|(name, _)| self.objects.losses.raw(Some(at), name));
        }
    }

    pub(super) fn blocks(&mut self, blocks: &[(usize, &Reasoning)], out: &mut Vec<u8>) {
        msg_json::Writer::new(out).array(blocks, |list, &(at, it)| {
            list.value(|out| self.block(at, it, out));
        });
    }

    fn block(&mut self, at: usize, it: &Reasoning, out: &mut Vec<u8>) {
        let raw = members_of(&it.extra, &OPENAI, &[]);
        let of = (&*raw, self.plan(&it.extra));
        if let (Some(data), None) = (&it.redacted, &it.signature) {
            let values = ["redacted_thinking".into(), data.into()];
            return self.objects.object(at, of, &block::REDACTED, &values, out);
        }
        let text = it.display_text();
        let values = ["thinking".into(), (&*text).into(), it.signature.as_deref().into()];
        self.objects.object(at, of, &block::THINKING, &values, out);
    }

    /// A `thinking` part among the contents.
    pub(super) fn thinking(&mut self, at: usize, it: &Reasoning, out: &mut Vec<u8>) {
        let text = it.text.as_deref().unwrap_or_default();
        let source = self.objects.source(&it.extra, 2);
        let source = source.filter(|source| {
            TextBlocks::read(source, "text").is_some_and(|it| it.texts.concat() == text)
        });
        let blocks = source.map_or_else(|| blocks("text", [text]), str::to_owned);
        let raw = members_of(&it.extra, &OPENAI, &[]);
        let values = ["thinking".into(), Value::Json(blocks.as_bytes())];
        self.objects.object(at, (&raw, self.plan(&it.extra)), &part::THINKING, &values, out);
        let lost = [
            ("summary", it.summary.is_some()),
            ("signature", it.signature.is_some()),
            ("redacted", it.redacted.is_some()),
            ("encrypted", it.encrypted.is_some()),
        ];
        self.objects.losses.members(Some(at), &lost);
    }

    /// Notes that the reasoning of a message is left out, wherever it is.
    pub(super) fn drop_reasoning(&mut self, message: &Message) {
        for (at, it) in message.parts.iter().enumerate() {
            if let Part::Reasoning(_) = it {
                self.objects.losses.as_asked(at, "reasoning is");
            }
        }
        for (name, _) in message.extra.iter(&OPENAI).filter(|it| MEMBERS.contains(&it.0)) {
            self.objects.losses.raw(None, name);
        }
    }
}

fn join<'m>(parts: &[(usize, &'m Reasoning)], separator: &str) -> Cow<'m, str> {
    let texts = parts.iter().map(|(_, it)| it.display_text());
    let mut texts: Vec<_> = texts.filter(|it| !it.is_empty()).collect();
    match texts.len() {
        0 => Cow::Borrowed(""),
        1 => texts.remove(0),
        _ => Cow::Owned(texts.join(separator)),
    }
}
