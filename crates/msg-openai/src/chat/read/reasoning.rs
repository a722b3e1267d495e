//! Reasoning in its many wire forms: a string beside the content, signed blocks, blocks among the
//! content parts.

use msg_core::{Part, Reasoning};
use msg_json::{Kind, Reader};

use super::OPENAI;
use crate::chat::shape::block;
use msg_codec::codec::{Context, Fields, bit, mask, text_of};

/// Reads `thinking_blocks`; none unless all are of the two known kinds.
pub(super) fn thinking_blocks<'a>(source: &'a str, cx: &mut Context<'a, '_>) -> Option<Vec<Part>> {
    let mark = cx.mark();
    let res = read_blocks(source, cx);
    if res.is_none() {
        cx.back_to(mark);
    }
    res
}

fn read_blocks<'a>(source: &'a str, cx: &mut Context<'a, '_>) -> Option<Vec<Part>> {
    let mut reader = Reader::from_text(source);
    let mut res = Vec::new();
    if reader.peek().ok()? != Kind::Array {
        return None;
    }
    reader.begin_array().ok()?;
    while reader.next_element().ok()? {
        let block = reader.raw().ok()?;
        res.push(Part::Reasoning(thinking(block, cx).or_else(|| redacted(block, cx))?));
    }
    // Blocks that say nothing at all are a member without information (MS-6).
    let says = |it: &Reasoning| {
        !it.display_text().is_empty() || it.signature.is_some() || it.redacted.is_some()
    };
    res.iter().filter_map(Part::as_reasoning).any(says).then_some(res)
}

fn thinking<'a>(source: &'a str, cx: &mut Context<'a, '_>) -> Option<Reasoning> {
    let mark = cx.mark();
    let mut fields = Fields::read(&block::THINKING, cx, &mut Reader::from_text(source)).ok()?;
    if fields.raw(block::TYPE).and_then(text_of)?.0 != "thinking" {
        cx.back_to(mark);
        return None;
    }
    fields.set_raw(block::TYPE, None);
    let text = fields.text(cx, block::TEXT)?;
    let has_signature = fields.raw(block::SIGNATURE) != Some("\"\"");
    let signature = if has_signature { fields.text_or_report(cx, block::SIGNATURE) } else { None };
    if signature.is_none() {
        fields.vary(block::TYPE, block::TYPE_UNSIGNED);
    }
    let canonical =
        bit(block::TYPE) | bit(block::TEXT) | mask(signature.is_some(), block::SIGNATURE);
    let extra = fields.keep(canonical, &OPENAI, cx);
    Some(Reasoning { signature, extra, ..Reasoning::new(text) })
}

fn redacted<'a>(source: &'a str, cx: &mut Context<'a, '_>) -> Option<Reasoning> {
    let mut fields = Fields::read(&block::REDACTED, cx, &mut Reader::from_text(source)).ok()?;
    if fields.raw(block::TYPE).and_then(text_of)?.0 != "redacted_thinking" {
        return None;
    }
    fields.set_raw(block::TYPE, None);
    let redacted = Some(fields.text(cx, 2)?);
    let extra = fields.keep(bit(1) | bit(2), &OPENAI, cx);
    Some(Reasoning { redacted, extra, ..Reasoning::default() })
}
