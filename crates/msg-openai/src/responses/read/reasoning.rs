//! Reasoning items: summaries, texts and the sealed thought.

use msg_core::{Part, Reasoning, json::Reader};

use super::{ItemKept, item::Item};
use crate::responses::shape::item;
use msg_wire::codec::{Context, Fields, bit, mask, text_of};

/// The texts of a list of blocks.
pub(in crate::responses) struct Texts {
    pub(in crate::responses) texts: Vec<String>,
    lone_surrogate: bool,
    /// Whether the writer writes such blocks for these texts.
    is_plain: bool,
}

/// Reads blocks `{"type": kind, "text": …}`; none if one of them is anything else.
fn blocks(source: &str, kind: &str) -> Option<Texts> {
    let mut reader = Reader::from_text(source);
    let mut res = Texts { texts: Vec::new(), lone_surrogate: false, is_plain: true };
    reader.begin_array().ok()?;
    while reader.next_element().ok()? {
        let mut text = None;
        let mut place = 0;
        reader.begin_object().ok()?;
        while let Some(key) = reader.next_key().ok()? {
            let value = reader.raw().ok()?;
            place += 1;
            match &*key.text {
                "type" if text_of(value)?.0 == kind => res.is_plain &= place == 1,
                "text" if text.is_none() => {
                    res.is_plain &= place == 2;
                    text = Some(text_of(value)?);
                }
                "type" | "text" => return None,
                _ => res.is_plain = false,
            }
        }
        let (text, lone_surrogate) = text?;
        res.lone_surrogate |= lone_surrogate;
        res.texts.push(text.into_owned());
    }
    Some(res)
}

/// The text of a reasoning item's `content`, as it is read.
pub(in crate::responses) fn joined_texts(source: &str, kind: &str) -> Option<Vec<String>> {
    blocks(source, kind).map(|it| it.texts)
}

/// Reads a reasoning item.
pub(super) fn read<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Item {
    let mut raw = [None; 2];
    let summary = fields.raw(item::SUMMARY).and_then(|source| {
        let it = blocks(source, "summary_text")?;
        raw[0] = (!it.is_plain || it.lone_surrogate).then_some(source);
        Some(it)
    });
    let content = fields.raw(item::CONTENT).and_then(|source| {
        let it = blocks(source, "reasoning_text").filter(|it| !it.texts.is_empty())?;
        raw[1] = (!it.is_plain || it.lone_surrogate || it.texts.len() > 1).then_some(source);
        Some(it)
    });
    let mut res = Reasoning::default();
    if let Some(it) = summary {
        cx.text(("".into(), it.lone_surrogate), "summary");
        fields.set_raw(item::SUMMARY, None);
        raw[0] = raw[0].filter(|_| !it.lone_surrogate);
        // An empty one says nothing, and every item has one.
        res.summary = Some(it.texts).filter(|it| !it.is_empty());
    }
    if let Some(it) = content {
        res.text = Some(cx.text((it.texts.join("\n\n").into(), it.lone_surrogate), "content"));
        fields.set_raw(item::CONTENT, None);
        raw[1] = raw[1].filter(|_| !it.lone_surrogate);
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
