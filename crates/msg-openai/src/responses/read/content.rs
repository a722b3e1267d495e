//! The content parts of message items and of tool outputs.

use msg_core::{
    Audio, Extra, File, Image, Part, RawJson, Text,
    json::{JsonError, Kind, Reader},
};

use super::{filled, other};
use crate::responses::shape::{RESPONSES, part, text_type};
use msg_wire::codec::{Context, Fields, SECTION, bit, mask, text_of};

/// Reads an array of parts.
pub(super) fn parts<'a>(
    source: &'a str,
    cx: &mut Context<'a, '_>,
    is_assistant: bool,
) -> Result<Vec<Part>, JsonError> {
    let mut reader = Reader::from_text(source);
    let mut res = Vec::new();
    reader.begin_array()?;
    while reader.next_element()? {
        let kind = reader.peek()?;
        let source = reader.raw()?;
        let mark = cx.mark();
        let read = if kind == Kind::Object { read(source, cx, is_assistant) } else { None };
        res.push(read.unwrap_or_else(|| {
            cx.back_to(mark);
            other(None, source)
        }));
    }
    Ok(res)
}

/// Whether a part is written as a string where it is the only one.
pub(super) fn is_plain(part: &Part) -> bool {
    matches!(part, Part::Text(it) if it.extra.is_empty() && it.extra.layout(&RESPONSES).is_none())
}

fn read<'a>(source: &'a str, cx: &mut Context<'a, '_>, is_assistant: bool) -> Option<Part> {
    let kind = type_of(source)?;
    let fields = |shape, cx: &mut Context<'a, '_>| {
        let mut res = Fields::read(shape, cx, &mut Reader::from_text(source)).ok()?;
        // A second `type` may have come behind the one that chose the kind.
        let is_kind = res.raw(part::TYPE).and_then(text_of).is_some_and(|it| it.0 == kind);
        res.set_raw(part::TYPE, None);
        is_kind.then_some(res)
    };
    if let Some(place) = part::TEXT_TYPES.iter().position(|it| *it == kind) {
        let mut fields = fields(&part::TEXT, cx)?;
        let text = fields.text(cx, part::BODY)?;
        if place != text_type(is_assistant) {
            fields.vary(part::TYPE, place as u8 + 1);
        }
        return Some(Part::Text(Text { text, extra: keep(fields, cx, Inner::default()) }));
    }
    Some(match &*kind {
        "refusal" => {
            let mut fields = fields(&part::REFUSAL, cx)?;
            let text = fields.text(cx, part::BODY)?;
            Part::Refusal(Text { text, extra: keep(fields, cx, Inner::default()) })
        }
        "input_image" => image(fields(&part::IMAGE, cx)?, cx)?,
        "input_file" => file(fields(&part::FILE, cx)?, cx)?,
        "input_audio" => audio(fields(&part::AUDIO, cx)?, cx)?,
        _ => return None,
    })
}

/// The first `type` of an object, if it is a string.
fn type_of(source: &str) -> Option<String> {
    let mut reader = Reader::from_text(source);
    reader.begin_object().ok()?;
    while let Some(key) = reader.next_key().ok()? {
        let value = reader.raw().ok()?;
        if key.text == "type" {
            return Some(text_of(value)?.0.into_owned());
        }
    }
    None
}

fn image<'a>(mut fields: Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let [url, file_id, detail] = [2, 3, 4].map(|code| fields.text(cx, code));
    if url.is_none() && file_id.is_none() {
        return None;
    }
    let extra = keep(fields, cx, Inner::default());
    Some(Part::Image(Image { url, file_id, detail, extra, ..Image::default() }))
}

fn file<'a>(mut fields: Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let [file_id, url, data, filename] = [2, 3, 4, 5].map(|code| fields.text(cx, code));
    if [&file_id, &url, &data, &filename].into_iter().all(Option::is_none) {
        return None;
    }
    let extra = keep(fields, cx, Inner::default());
    Some(Part::File(File { file_id, url, data, filename, extra, ..File::default() }))
}

fn audio<'a>(mut fields: Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let source = fields.raw(part::BODY)?;
    let mut it = Fields::read(&part::AUDIO_BODY, cx, &mut Reader::from_text(source)).ok()?;
    let data = Some(it.text(cx, 1)?);
    let format = it.text(cx, 2);
    let is_canonical = it.is_canonical(bit(1) | mask(format.is_some(), 2));
    let extra = it.move_object(cx);
    let inner = Inner { extra, slots: (!is_canonical).then(|| it.slots().to_vec()) };
    fields.set_raw(part::BODY, None);
    let extra = keep(fields, cx, inner);
    Some(Part::Audio(Audio { data, format, extra, ..Audio::default() }))
}

/// What the object inside a part keeps.
#[derive(Default)]
struct Inner {
    extra: Option<RawJson>,
    slots: Option<Vec<u8>>,
}

/// The unknown members of a part and its layout, whose first section is that of the item.
fn keep<'a>(mut fields: Fields<'a>, cx: &mut Context<'a, '_>, inner: Inner) -> Extra {
    let mut extra = Extra::default();
    if let Some(it) = inner.extra {
        extra.insert(RESPONSES, "input_audio", it);
    }
    let is_canonical = fields.is_canonical(fields.in_model() | bit(part::TYPE));
    fields.move_extra(cx, &RESPONSES, &mut extra);
    if !is_canonical || inner.slots.is_some() {
        let mut layout = vec![SECTION];
        layout.extend_from_slice(filled(fields.slots()));
        if let Some(slots) = inner.slots {
            layout.push(SECTION);
            layout.extend_from_slice(filled(&slots));
        }
        extra.set_layout(RESPONSES, layout);
    }
    extra
}
