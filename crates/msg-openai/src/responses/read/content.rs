//! The content parts of message items and of tool outputs; and items of reasoning.

use msg_codec::codec::{Build, ContentValue, Context, Fields, Inner, Shape, SlotPlan, bit, mask};
use msg_core::{Audio, Extra, File, Image, Part, Reasoning, Text};
use msg_json::{JsonError, Reader};

use crate::responses::read::ItemKept;
use crate::responses::read::item::Item;
use crate::responses::shape::{RESPONSES, item, part, text_type};
use crate::text_blocks::TextBlocks;

/// Reads the array of content parts; `is_assistant` says whose, which decides on the type of text that is canonical.
pub(super) fn parts<'a>(
    source: &'a str,
    cx: &mut Context<'a, '_>,
    is_assistant: bool,
) -> Result<Vec<Part>, JsonError> {
    ContentValue::read_parts(&mut Reader::from_text(source), cx, |reader, cx| {
        ContentValue::read_known(reader, cx, RESPONSES, |it| known(it, is_assistant))
    })
}

fn known(kind: &str, is_assistant: bool) -> Option<(&'static Shape, Build)> {
    if let Some(place) = part::TEXT_TYPES.iter().position(|it| *it == kind) {
        let variant = if place == text_type(is_assistant) { 0 } else { place + 1 };
        let builds: [Build; 4] = [text::<0>, text::<1>, text::<2>, text::<3>];
        return Some((&part::TEXT, builds[variant]));
    }
    Some(match kind {
        "refusal" => (&part::REFUSAL, refusal),
        "input_image" => (&part::IMAGE, image),
        "input_file" => (&part::FILE, file),
        "input_audio" => (&part::AUDIO, audio),
        _ => return None,
    })
}

/// A text; its variant is the place of its type, from 1, where that is not the canonical one.
fn text<'a, const VARIANT: u8>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let text = fields.text(cx, part::BODY)?;
    fields.vary(part::TYPE, VARIANT);
    if let Some(kind) = part::TEXT_TYPES.get(usize::from(VARIANT).wrapping_sub(1)) {
        cx.shape(format!("a text of this role has the type {kind}"));
    }
    Some(Part::Text(Text { text, extra: keep(fields, cx, Inner::default()) }))
}

fn refusal<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let text = fields.text(cx, part::BODY)?;
    Some(Part::Refusal(Text { text, extra: keep(fields, cx, Inner::default()) }))
}

fn image<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let [url, file_id, detail] = [2, 3, 4].map(|code| fields.text(cx, code));
    if url.is_none() && file_id.is_none() {
        return None;
    }
    let extra = keep(fields, cx, Inner::default());
    Some(Part::Image(Image { url, file_id, detail, extra, ..Image::default() }))
}

fn file<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let [file_id, url, data, filename] = [2, 3, 4, 5].map(|code| fields.text(cx, code));
    if [&file_id, &url, &data, &filename].into_iter().all(Option::is_none) {
        return None;
    }
    let extra = keep(fields, cx, Inner::default());
    Some(Part::File(File { file_id, url, data, filename, extra, ..File::default() }))
}

fn audio<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let source = fields.raw(part::BODY)?;
    let mut it = Fields::read(&part::AUDIO_BODY, cx, &mut Reader::from_text(source)).ok()?;
    let data = Some(it.text(cx, 1)?);
    let format = it.text(cx, 2);
    let inner = Inner::new("input_audio", it, bit(1) | mask(format.is_some(), 2), cx);
    fields.set_raw(part::BODY, None);
    let extra = keep(fields, cx, inner);
    Some(Part::Audio(Audio { data, format, extra, ..Audio::default() }))
}

/// The unknown members of a part and its layout, after the empty section of its item.
fn keep<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>, inner: Inner) -> Extra {
    let canonical = fields.in_model() | bit(part::TYPE);
    let mut extra = fields.keep_with(canonical, inner, None, (&RESPONSES, cx));
    if let Some(own) = extra.layout(&RESPONSES) {
        let layout = SlotPlan::sections(&[&[], own]);
        extra.set_layout(RESPONSES, layout);
    }
    extra
}

// Reasoning items: summaries, texts and the sealed thought.

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
