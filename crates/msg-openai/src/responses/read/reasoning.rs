//! Reasoning items: summaries, texts and the sealed thought.

use msg_core::{Part, Reasoning};

use super::{ItemKept, item::Item};
use crate::{responses::shape::item, text_blocks::TextBlocks};
use msg_codec::codec::{Context, Fields, bit, mask};

/// Reads a reasoning item.
pub(super) fn read<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Item {
    let mut raw = [None; 2];
    let mut res = Reasoning::default();
    if let Some((source, it)) = blocks(fields, item::SUMMARY, "summary_text") {
        cx.text(("".into(), it.lone_surrogate), "summary");
        fields.set_raw(item::SUMMARY, None);
        raw[0] = it.odd(source, usize::MAX).filter(|_| !it.lone_surrogate);
        // An empty one says nothing, and every item has one.
        res.summary = Some(it.texts).filter(|it| !it.is_empty());
    }
    let content = blocks(fields, item::CONTENT, "reasoning_text");
    if let Some((source, it)) = content.filter(|it| !it.1.texts.is_empty()) {
        res.text = Some(cx.text((it.texts.join("\n\n").into(), it.lone_surrogate), "content"));
        fields.set_raw(item::CONTENT, None);
        raw[1] = it.odd(source, 1).filter(|_| !it.lone_surrogate);
    }
    if fields.raw(item::ENCRYPTED) != Some("\"\"") {
        res.encrypted = fields.text(cx, item::ENCRYPTED);
    }
    let canonical = bit(item::TYPE)
        | bit(item::SUMMARY)
        | mask(res.text.is_some(), item::CONTENT)
        | mask(res.encrypted.is_some(), item::ENCRYPTED);
    // The API refuses it; that it came like this is why it goes out again.
    let marks = res.encrypted.is_none();
    ItemKept { fields, canonical, marks, raw }.keep_in(cx, &mut res.extra);
    Item::of_assistant(Part::Reasoning(res))
}

/// A member that is a list of blocks of this kind, and its source.
fn blocks<'a>(fields: &Fields<'a>, code: u8, kind: &str) -> Option<(&'a str, TextBlocks)> {
    let source = fields.raw(code)?;
    Some((source, TextBlocks::read(source, kind)?))
}
