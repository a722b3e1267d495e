//! The `content` of a message or of a tool result, and its parts.

use msg_core::{Audio, Extra, File, Image, Part, Reasoning, Text};
use msg_json::{JsonError, Reader};

use super::OPENAI;
use crate::chat::shape::{body, part};
use crate::text_blocks::TextBlocks;
use msg_codec::codec::{Build, Content, Context, Fields, Inner, Shape, bit, mask};

/// Reads the value of `content` that the reader is at.
pub(super) fn read<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Content, JsonError> {
    Content::read(reader, cx, |reader, cx| Content::read_typed(reader, cx, OPENAI, kind))
}

fn kind(name: &str) -> Option<(&'static Shape, Build)> {
    Some(match name {
        "text" => (&part::TEXT, text),
        "refusal" => (&part::REFUSAL, refusal),
        "image_url" => (&part::IMAGE, image),
        "input_audio" => (&part::AUDIO, audio),
        "file" => (&part::FILE, file),
        "thinking" => (&part::THINKING, thinking),
        _ => return None,
    })
}

const CANONICAL: u32 = bit(part::TYPE) | bit(part::BODY);

fn keep<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>, inner: Inner) -> Extra {
    fields.set_raw(part::BODY, None);
    fields.keep_with(CANONICAL, inner, None, (&OPENAI, cx))
}

fn text<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let text = fields.text(cx, part::BODY)?;
    Some(Part::Text(Text { text, extra: keep(fields, cx, Inner::default()) }))
}

fn refusal<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let text = fields.text(cx, part::BODY)?;
    fields.vary(part::TYPE, part::TYPE_IN_CONTENT);
    Some(Part::Refusal(Text { text, extra: keep(fields, cx, Inner::default()) }))
}

fn inner<'a>(
    shape: &'static Shape,
    fields: &Fields<'a>,
    cx: &mut Context<'a, '_>,
) -> Option<Fields<'a>> {
    let source = fields.raw(part::BODY)?;
    Fields::read(shape, cx, &mut Reader::from_text(source)).ok()
}

fn image<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    if let Some(url) = fields.text(cx, part::BODY) {
        fields.vary(part::BODY, part::BODY_STRING);
        cx.shape("image_url is a text, no object with one");
        let extra = keep(fields, cx, Inner::default());
        return Some(Part::Image(Image { extra, ..Image::from_url(url) }));
    }
    let mut it = inner(&body::IMAGE, fields, cx)?;
    let url = it.text(cx, 1)?;
    let detail = it.text_or_report(cx, 2);
    let inner = Inner::new("image_url", it, bit(1) | mask(detail.is_some(), 2), cx);
    let extra = keep(fields, cx, inner);
    Some(Part::Image(Image { detail, extra, ..Image::from_url(url) }))
}

fn audio<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let mut it = inner(&body::INPUT_AUDIO, fields, cx)?;
    let data = Some(it.text(cx, 1)?);
    let format = it.text_or_report(cx, 2);
    let inner = Inner::new("input_audio", it, bit(1) | mask(format.is_some(), 2), cx);
    let extra = keep(fields, cx, inner);
    Some(Part::Audio(Audio { data, format, extra, ..Audio::default() }))
}

fn file<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let mut it = inner(&body::FILE, fields, cx)?;
    let [file_id, data, filename] = [1, 2, 3].map(|code| it.text_or_report(cx, code));
    if file_id.is_none() && data.is_none() {
        return None;
    }
    let canonical =
        mask(file_id.is_some(), 1) | mask(data.is_some(), 2) | mask(filename.is_some(), 3);
    let inner = Inner::new("file", it, canonical, cx);
    let extra = keep(fields, cx, inner);
    Some(Part::File(File { file_id, data, filename, extra, ..File::default() }))
}

fn thinking<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let source = fields.raw(part::BODY)?;
    let blocks = TextBlocks::read(source, "text").filter(|it| !it.texts.is_empty())?;
    let text = cx.text((blocks.texts.concat().into(), blocks.lone_surrogate), "thinking");
    fields.set_raw(part::BODY, None);
    fields.vary(part::TYPE, part::TYPE_IN_CONTENT);
    let raw = blocks.odd(source, 1);
    let extra = fields.keep_with(CANONICAL, Inner::default(), raw, (&OPENAI, cx));
    Some(Part::Reasoning(Reasoning { extra, ..Reasoning::new(text) }))
}
