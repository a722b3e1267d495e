//! A part as a content block, or as the string that replaces the only one (AN-3, AN-6 to AN-8, AN-20).

use msg_codec::codec::{ArgumentForm, Shape, Value, text_of_part};
use msg_core::{Extra, Origin, Part, Reasoning, Text, ToolCall, ToolResult};

use super::Writer;
use crate::{
    Thinking,
    shape::{ANTHROPIC, block, call, result},
    thought::Thought,
};

impl Writer<'_> {
    /// Whether the format has a place for a part.
    pub(super) fn has_place(&self, it: &Part) -> bool {
        match it {
            Part::Text(_) | Part::Refusal(_) | Part::ToolCall(_) | Part::ToolResult(_) => true,
            Part::Reasoning(it) => self.keeps_thinking(it),
            Part::Image(it) => self.image_source(it).is_some(),
            Part::File(it) => self.document_source(it).is_some(),
            Part::Other(it) => it.format == ANTHROPIC || it.format == Origin::Json,
            _ => false,
        }
    }

    /// As [`Writer::has_place`], reporting what has none, once a part (AN-20).
    pub(super) fn fits(&mut self, at: usize, it: &Part) -> bool {
        let fits = self.has_place(it);
        match it {
            _ if fits => {}
            Part::Reasoning(_) if self.options.thinking == Thinking::None => {
                self.objects.losses.as_asked(at, "thinking is");
            }
            Part::Reasoning(_) => {
                let text = "reasoning without a signature is refused and left out";
                self.objects.losses.warn("convert::lost-part", Some(at), text);
            }
            _ => self.objects.losses.part(at, it.kind()),
        }
        fits
    }

    /// Thinking goes back signed or redacted, or unsigned to where it was (AN-7).
    fn keeps_thinking(&self, it: &Reasoning) -> bool {
        let is_ours = it.text.is_some() && self.objects.layout(&it.extra).is_some();
        self.options.thinking == Thinking::Keep && (is_ours || Thought::of(it).is_signed())
    }

    /// Whether a part is written as a string where it is the only one.
    pub(super) fn is_plain(&self, it: &Part) -> bool {
        let extra = it.extra();
        text_of_part(it).is_some()
            && self.objects.layout(extra).is_none()
            && extra.iter(&ANTHROPIC).next().is_none()
            && extra.get(&Origin::OpenAi, super::CACHE_CONTROL).is_none()
            && extra.get(&Origin::Bedrock, super::CACHE_POINT).is_none()
    }

    /// Writes the one part of a content as a string.
    pub(super) fn string(&mut self, at: usize, it: &Part, out: &mut Vec<u8>) {
        self.objects.losses.foreign(it.extra(), Some(&ANTHROPIC), Some(at));
        self.objects.text_losses(at, it);
        msg_json::write_str(out, text_of_part(it).unwrap_or_default());
    }

    /// Writes a part that has a place as a block.
    pub(super) fn block(&mut self, at: usize, it: &Part, out: &mut Vec<u8>) {
        match it {
            Part::Text(text) => self.text(at, text, out),
            Part::Reasoning(it) => self.thinking(at, it, out),
            Part::Image(it) => self.image(at, it, out),
            Part::File(it) => self.document(at, it, out),
            Part::ToolCall(it) => self.tool_use(at, it, out),
            Part::ToolResult(it) => self.tool_result(at, it, out),
            Part::Other(it) if it.format == ANTHROPIC => {
                out.extend_from_slice(it.value.text().as_bytes());
            }
            _ => self.as_text(at, it, out),
        }
    }

    /// Writes the object of a part, whose members have these values, and its unknown ones but that named by `skip`.
    pub(super) fn object(
        &mut self,
        at: usize,
        (extra, skip): (&Extra, Option<&str>),
        shape: &Shape,
        values: &[Value<'_>],
        out: &mut Vec<u8>,
    ) {
        let raw = self.members(extra, at, skip);
        self.objects.object(at, (&raw, self.plan(extra)), shape, values, out);
    }

    fn text(&mut self, at: usize, it: &Text, out: &mut Vec<u8>) {
        let is_bare = self.plan(&it.extra).variant(block::TYPE) == block::TYPE_BARE;
        if is_bare && it.extra.is_empty() {
            return msg_json::write_str(out, &it.text);
        }
        self.text_block(at, &it.extra, &it.text, out);
    }

    fn as_text(&mut self, at: usize, it: &Part, out: &mut Vec<u8>) {
        self.objects.text_losses(at, it);
        self.text_block(at, it.extra(), text_of_part(it).unwrap_or_default(), out);
    }

    fn text_block(&mut self, at: usize, extra: &Extra, text: &str, out: &mut Vec<u8>) {
        self.object(at, (extra, None), &block::TEXT, &["text".into(), text.into()], out);
    }

    fn thinking(&mut self, at: usize, it: &Reasoning, out: &mut Vec<u8>) {
        let thought = Thought::of(it);
        thought.lost(it).for_each(|name| self.objects.losses.member(Some(at), name));
        let (text, signature) = match thought {
            Thought::Sealed(data) => return self.redacted(at, it, data, out),
            Thought::Open { text, signature } => (text, signature),
        };
        let plan = self.plan(&it.extra);
        let keeps_empty = signature.is_none()
            && plan.has(block::SIGNATURE)
            && it.extra.get(&ANTHROPIC, "signature").is_none();
        let signature = match signature {
            None if keeps_empty && plan.variant(block::SIGNATURE) == block::SIGNATURE_NULL => {
                Value::Json(b"null")
            }
            None if keeps_empty => "".into(),
            it => it.into(),
        };
        let values = ["thinking".into(), (&*text).into(), signature];
        self.object(at, (&it.extra, None), &block::THINKING, &values, out);
    }

    fn redacted(&mut self, at: usize, it: &Reasoning, data: &str, out: &mut Vec<u8>) {
        let values = ["redacted_thinking".into(), data.into()];
        self.object(at, (&it.extra, None), &block::REDACTED, &values, out);
    }

    fn tool_use(&mut self, at: usize, it: &ToolCall, out: &mut Vec<u8>) {
        self.objects.losses.members(Some(at), &[("signature", it.signature.is_some())]);
        self.objects.kind_losses(at, &it.kind);
        let plan = self.plan(&it.extra);
        let has_input = plan.may_have(call::INPUT) || !it.arguments.text().trim_ascii().is_empty();
        let form = match plan.variant(call::INPUT) {
            call::INPUT_NULL => ArgumentForm::Null,
            call::INPUT_STRING => ArgumentForm::Text,
            call::INPUT_VALUE => ArgumentForm::Value,
            _ => ArgumentForm::Object,
        };
        let input = self.objects.arguments(at, it, form);
        let input = has_input.then_some(&input).into();
        let values = ["tool_use".into(), (&it.id).into(), (&it.name).into(), input];
        self.object(at, (&it.extra, None), &call::SHAPE, &values, out);
    }

    fn tool_result(&mut self, at: usize, it: &ToolResult, out: &mut Vec<u8>) {
        self.objects.losses.members(Some(at), &[("name", it.name.is_some())]);
        self.objects.kind_losses(at, &it.kind);
        let parts: Vec<_> =
            it.content.parts().iter().filter(|it| self.fits_result(at, it)).collect();
        let plan = self.plan(&it.extra);
        let is_raw = |name| it.extra.get(&ANTHROPIC, name).is_some();
        let has_content = plan.may_have(result::CONTENT) || !parts.is_empty();
        let has_id = plan.may_have(result::CALL_ID) || !it.call_id.is_empty();
        let says_error = plan.variant(result::IS_ERROR) == result::IS_ERROR_FALSE;
        let has_error = it.is_error || (says_error && !is_raw("is_error"));
        let content = self.result_content(at, &parts, plan.variant(result::CONTENT));
        let is_error = if it.is_error { "true" } else { "false" };
        let values = [
            "tool_result".into(),
            has_id.then_some(it.call_id.as_str()).into(),
            has_content.then_some(&content).into(),
            has_error.then_some(is_error).map_or(Value::Absent, |it| Value::Json(it.as_bytes())),
        ];
        self.object(at, (&it.extra, None), &result::SHAPE, &values, out);
    }

    /// Whether a part has a place inside of a result, which holds no result (AN-8).
    fn fits_result(&mut self, at: usize, it: &Part) -> bool {
        if let Part::ToolResult(_) = it {
            self.objects.losses.part(at, it.kind());
            return false;
        }
        self.fits(at, it)
    }

    /// The value of a result's `content`; the variant is the one that the source had.
    fn result_content(&mut self, at: usize, parts: &[&Part], variant: u8) -> Vec<u8> {
        let mut out = Vec::new();
        match parts {
            [] if variant == result::CONTENT_NULL => out.extend_from_slice(b"null"),
            [] if variant != result::CONTENT_ARRAY => out.extend_from_slice(b"\"\""),
            [one] if variant != result::CONTENT_ARRAY && self.is_plain(one) => {
                self.string(at, one, &mut out);
            }
            all => msg_json::Writer::new(&mut out).array(all, |out, one| {
                out.value(|out| self.block(at, one, out));
            }),
        }
        out
    }
}
