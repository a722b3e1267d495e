//! Writes the contents of a message: the `content` of a message or a tool result, tool calls, and the older
//! `function_call`.

use std::borrow::Cow;

use msg_codec::{
    DataUrl,
    codec::{RawMember, Shape, SlotPlan, Value, bit, mask},
};
use msg_core::{
    Audio, CallKind, Extra, File, Image, Message, Origin, Part, Place, Reasoning, Text, ToolCall,
};

use super::{OPENAI, Writer};
use crate::chat::shape;
use crate::chat::shape::{block, body, call, function, message, part};
use crate::wanted::{TextBlocks, blocks, lose_foreign, part_members, shared, write_block};
use crate::{Layout, ReasoningField};

/// The parts of a `content`, each with the index that findings name: its own, or that of its result.
pub(super) type Contents<'m> = [(usize, &'m Part)];

/// Whether this part can be in the content.
pub(super) fn fits(it: &Part) -> bool {
    match it {
        Part::Text(_) | Part::Refusal(_) => true,
        Part::Image(it) => it.url.is_some(),
        Part::Audio(it) => !is_reply(it) && it.data.is_some(),
        Part::File(it) => it.file_id.is_some() || it.data.is_some(),
        Part::Other(it) => match it.format {
            Origin::Json => true,
            Origin::OpenAi => matches!(it.place, None | Some(Place::Content)),
            _ => false,
        },
        _ => false,
    }
}

/// Whether it is a reply of the model, which has a member of its own. Audio with a format was given to the model, even
/// with an id.
pub(super) fn is_reply(it: &Audio) -> bool {
    it.id.is_some() && (it.data.is_none() || it.format.is_none())
}

/// The text for a part: of a text part, or the source of a JSON part.
pub(crate) fn text_of(it: &Part) -> Option<&str> {
    match it {
        Part::Text(it) => Some(&it.text),
        Part::Other(it) if it.format == Origin::Json => Some(it.value.text()),
        _ => None,
    }
}

impl Writer<'_> {
    /// Writes the value of `content`; `variant` is that of the source.
    pub(super) fn content(&mut self, contents: &Contents<'_>, variant: u8, out: &mut Vec<u8>) {
        match contents {
            [] if variant == message::CONTENT_NULL => out.extend_from_slice(b"null"),
            [] if variant == message::CONTENT_ARRAY => out.extend_from_slice(b"[]"),
            [] => out.extend_from_slice(b"\"\""),
            [one] if variant != message::CONTENT_ARRAY && self.is_plain(one.1) => {
                self.objects.joined(contents, "", out);
            }
            all if self.options.joins(all) => {
                self.objects.joined(all, &self.options.text_separator, out);
            }
            all => msg_json::Writer::new(out).array(all, |it, &(at, part)| {
                it.value(|out| self.content_part(at, part, out));
            }),
        }
    }

    /// Whether a single part is written as a string.
    fn is_plain(&self, it: &Part) -> bool {
        text_of(it).is_some()
            && self.objects.layout(it.extra()).is_none()
            && it.extra().iter(&OPENAI).next().is_none()
            && shared(it.extra(), &OPENAI).is_none()
    }

    fn content_part(&mut self, at: usize, it: &Part, out: &mut Vec<u8>) {
        lose_foreign(&mut self.objects.losses, at, it.extra(), &OPENAI);
        match it {
            Part::Text(it) => self.text(at, it, &part::TEXT, "text", out),
            Part::Refusal(it) => self.text(at, it, &part::REFUSAL, "refusal", out),
            Part::Image(it) => self.image(at, it, out),
            Part::Audio(it) => self.input_audio(at, it, out),
            Part::File(it) => self.file(at, it, out),
            Part::Reasoning(it) => self.thinking(at, it, out),
            Part::Other(other) if other.format == OPENAI => {
                out.extend_from_slice(other.value.text().as_bytes());
            }
            Part::Other(json) => {
                self.objects.text_losses(at, it);
                write_block(&mut msg_json::Writer::new(out), "text", json.value.text());
            }
            _ => self.objects.losses.part(at, &it.kind_of_source()),
        }
    }

    fn text(&mut self, at: usize, it: &Text, shape: &Shape, name: &str, out: &mut Vec<u8>) {
        let plan = self.plan(&it.extra);
        let raw = part_members(&it.extra, &OPENAI, &[]);
        if plan.variant(part::TYPE) == part::TYPE_BARE && raw.is_empty() && name == "text" {
            return msg_json::write_str(out, &it.text);
        }
        self.objects.object(at, (&raw, plan), shape, &[name.into(), (&it.text).into()], out);
    }

    fn image(&mut self, at: usize, it: &Image, out: &mut Vec<u8>) {
        let lacks_type = DataUrl::lacks_type(it.media_type.as_deref(), it.url.as_deref());
        let lost = [("file_id", it.file_id.is_some()), ("media_type", lacks_type)];
        self.objects.losses.members(Some(at), &lost);
        let url = it.url.as_deref().unwrap_or_default();
        let values = [url.into(), it.detail.as_deref().into()];
        let plan = self.plan(&it.extra);
        let is_bare = plan.variant(part::BODY) == part::BODY_STRING
            && it.detail.is_none()
            && it.extra.get(&OPENAI, "image_url").is_none();
        let bare = is_bare.then_some(url);
        self.nested(at, &it.extra, (&part::IMAGE, "image_url"), &body::IMAGE, &values, bare, out);
    }

    fn input_audio(&mut self, at: usize, it: &Audio, out: &mut Vec<u8>) {
        let lost = [("id", it.id.is_some()), ("transcript", it.transcript.is_some())];
        self.objects.losses.members(Some(at), &lost);
        let values = [it.data.as_deref().into(), it.format.as_deref().into()];
        let outer = (&part::AUDIO, "input_audio");
        self.nested(at, &it.extra, outer, &body::INPUT_AUDIO, &values, None, out);
    }

    fn file(&mut self, at: usize, it: &File, out: &mut Vec<u8>) {
        let lacks_type = DataUrl::lacks_type(it.media_type.as_deref(), it.data.as_deref());
        let lost = [("url", it.url.is_some()), ("media_type", lacks_type)];
        self.objects.losses.members(Some(at), &lost);
        let values = [&it.file_id, &it.data, &it.filename].map(|it| it.as_deref().into());
        self.nested(at, &it.extra, (&part::FILE, "file"), &body::FILE, &values, None, out);
    }

    /// A part whose body is an object of texts, or a bare string.
    #[expect(clippy::too_many_arguments, reason = "two objects, one inside the other")]
    fn nested(
        &mut self,
        at: usize,
        extra: &Extra,
        (outer, name): (&Shape, &str),
        inner: &Shape,
        values: &[Value<'_>],
        bare: Option<&str>,
        out: &mut Vec<u8>,
    ) {
        let raw = part_members(extra, &OPENAI, &[name]);
        let (inner_raw, inner_plan) = self.objects.inner(at, extra, name);
        let object;
        let body = match bare {
            Some(bare) => bare.into(),
            None => {
                object = self.objects.inner_object(at, (&inner_raw, inner_plan), inner, values);
                Value::Json(&object)
            }
        };
        self.objects.object(at, (&raw, self.plan(extra)), outer, &[name.into(), body], out);
    }

    /// The `audio` of a message: a reply of the model.
    pub(super) fn audio(&mut self, at: usize, it: &Audio, out: &mut Vec<u8>) {
        self.objects.losses.foreign(&it.extra, Some(&OPENAI), Some(at));
        self.objects.losses.members(Some(at), &[("format", it.format.is_some())]);
        let values = [&it.id, &it.data, &it.transcript].map(|it| it.as_deref().into());
        let raw = RawMember::all_of(&it.extra, &OPENAI, &[]);
        self.objects.object(at, (&raw, self.plan(&it.extra)), &body::AUDIO, &values, out);
    }
}

// Reasoning: the text beside the content, the signed blocks, the parts among the contents.

/// The members of a message with reasoning, in any shape.
pub(super) const MEMBERS: [&str; 4] =
    ["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"];

/// The places of the reasoning of one message.
#[derive(Default)]
pub(super) struct Thoughts<'m> {
    /// The member for the texts, if they are written at all.
    pub(super) field: Option<u8>,
    /// The texts, joined.
    pub(super) text: Cow<'m, str>,
    /// The parts that become blocks.
    pub(super) blocks: Vec<(usize, &'m Reasoning)>,
}

impl Thoughts<'_> {
    pub(super) fn want(&self) -> u32 {
        self.field.map_or(0, bit) | mask(!self.blocks.is_empty(), message::THINKING_BLOCKS)
    }
}

impl Writer<'_> {
    /// Whether a reasoning part was in the content and stays there.
    pub(super) fn is_in_content(&self, it: &Reasoning) -> bool {
        self.plan(&it.extra).variant(part::TYPE) == part::TYPE_IN_CONTENT && it.text.is_some()
    }

    /// Assigns the reasoning of a message to its members, and reports what does not fit.
    pub(super) fn thoughts<'m>(
        &mut self,
        message: &'m Message,
        plan: SlotPlan<'_>,
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

    /// Whether reasoning is a block: signed and redacted reasoning, and unsigned reasoning that came as a block.
    fn is_block(&self, it: &Reasoning, plan: SlotPlan<'_>) -> bool {
        it.signature.is_some()
            || it.redacted.is_some()
            || (plan.has(message::THINKING_BLOCKS)
                && self.plan(&it.extra).variant(block::TYPE) == block::TYPE_UNSIGNED)
    }

    /// The member for the texts: that of the source, which may have had only blocks.
    fn reasoning_field(
        &self,
        plan: SlotPlan<'_>,
        raw: &[RawMember<'_>],
        covered: bool,
    ) -> Option<u8> {
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
        let raw = RawMember::all_of(&it.extra, &OPENAI, &[]);
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
        let raw = RawMember::all_of(&it.extra, &OPENAI, &[]);
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

    /// Reports that the reasoning of a message is left out.
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

impl Writer<'_> {
    /// Whether a call was the `function_call` of its message and can still be.
    pub(super) fn is_legacy(&self, it: &ToolCall) -> bool {
        self.plan(&it.extra).variant(call::FUNCTION) == call::FUNCTION_LEGACY
            && it.id.is_empty()
            && it.kind == CallKind::Function
            && it.signature.is_none()
    }

    pub(super) fn legacy_call(&mut self, at: usize, it: &ToolCall, out: &mut Vec<u8>) {
        self.objects.losses.foreign(&it.extra, Some(&OPENAI), Some(at));
        let (raw, plan) = self.objects.inner(at, &it.extra, "function");
        for (name, _) in it.extra.iter(&OPENAI).filter(|it| it.0 != "function") {
            self.objects.losses.raw(Some(at), name);
        }
        let lost = function(it, &function::SHAPE, plan, &raw, out);
        self.objects.losses.taken(Some(at), lost);
    }

    pub(super) fn call(&mut self, at: usize, it: &ToolCall, out: &mut Vec<u8>) {
        self.objects.losses.foreign(&it.extra, Some(&OPENAI), Some(at));
        if let CallKind::Other(_) = it.kind {
            self.objects.losses.member(Some(at), "kind");
        }
        let is_custom = it.kind == CallKind::Custom;
        let in_custom = is_custom && !self.came_as_function(it);
        let body = if in_custom { call::CUSTOM } else { call::FUNCTION };
        let shape = if in_custom { &function::CUSTOM } else { &function::SHAPE };
        let name = call::SHAPE.name(body);
        let (inner_raw, inner_plan) = self.objects.inner(at, &it.extra, name);
        let plan = self.call_plan(it, body);
        let signature = self.extra_content(it);
        let skip: &[&str] = if signature.is_some() { &[name, "extra_content"] } else { &[name] };
        let raw = RawMember::all_of(&it.extra, &OPENAI, skip);
        // The `custom` of a source determines the kind without a type.
        let is_untyped = it.kind == CallKind::Unspecified || (is_custom && plan.has(call::CUSTOM));
        let has_own_type = it.kind == CallKind::Unspecified
            && self.options.keeps_layout()
            && raw.iter().any(|it| it.name == "type");
        let has_body = !is_empty(it) || !inner_raw.is_empty();
        let want = mask(plan.may_have(call::ID) || !it.id.is_empty(), call::ID)
            | mask((plan.may_have(call::TYPE) || !is_untyped) && !has_own_type, call::TYPE)
            | mask(plan.may_have(body) || has_body, body)
            | mask(signature.is_some(), call::EXTRA_CONTENT);
        let mut inner_lost = 0;
        let lost = call::SHAPE.write(out, plan, want, &raw, |out, code| match code {
            call::ID => plan.write_id(out, call::ID, &it.id),
            call::TYPE if plan.variant(call::TYPE) == call::TYPE_NULL && is_untyped => {
                out.extend_from_slice(b"null");
            }
            call::TYPE => msg_json::write_str(out, if is_custom { "custom" } else { "function" }),
            call::EXTRA_CONTENT => {
                out.extend_from_slice(signature.as_deref().unwrap_or("{}").as_bytes());
            }
            _ if plan.variant(body) == call::FUNCTION_NULL && !has_body => {
                out.extend_from_slice(b"null");
            }
            _ => inner_lost = function(it, shape, inner_plan, &inner_raw, out),
        });
        self.objects.losses.taken(Some(at), lost + inner_lost);
    }

    /// Whether a custom call had a `function` instead of a `custom`.
    fn came_as_function(&self, it: &ToolCall) -> bool {
        let plan = self.plan(&it.extra);
        // A `function` that is not an object was never parsed; it is among the raw members.
        let is_raw =
            it.extra.get(&OPENAI, "function").is_some_and(|it| !it.text().starts_with('{'));
        plan.has(call::FUNCTION) && !plan.has(call::CUSTOM) && !is_raw
    }

    /// The plan of a call; that of a `function_call` does not apply to a call with an id.
    fn call_plan<'b>(&self, it: &'b ToolCall, body: u8) -> SlotPlan<'b> {
        let plan = self.plan(&it.extra);
        let is_legacy = plan.variant(body) == call::FUNCTION_LEGACY;
        if is_legacy { SlotPlan::default() } else { plan }
    }

    /// The `extra_content` of a signed call: unchanged, or with the signature added.
    fn extra_content(&self, it: &ToolCall) -> Option<String> {
        let signature = it.signature.as_deref()?;
        let rest = it.extra.get(&OPENAI, "extra_content");
        let source = self.objects.source(&it.extra, 2).filter(|source| {
            shape::split(source)
                .is_some_and(|it| it.signature == signature && it.rest.as_ref() == rest)
        });
        Some(source.map_or_else(|| shape::join(signature, rest), str::to_owned))
    }
}

fn is_empty(it: &ToolCall) -> bool {
    it.name.is_empty() && it.arguments.text().is_empty()
}

fn function(
    it: &ToolCall,
    shape: &Shape,
    plan: SlotPlan<'_>,
    raw: &[RawMember<'_>],
    out: &mut Vec<u8>,
) -> usize {
    let text = it.arguments.text();
    let want = mask(plan.may_have(function::NAME) || !it.name.is_empty(), function::NAME)
        | mask(plan.may_have(function::ARGUMENTS) || !text.is_empty(), function::ARGUMENTS);
    shape.write(out, plan, want, raw, |out, code| match code {
        function::NAME => plan.write_text(out, code, &it.name),
        _ => plan.write_arguments(out, code, text),
    })
}
