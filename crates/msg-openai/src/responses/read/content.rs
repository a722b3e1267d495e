//! The content parts of message items and of tool outputs.

use msg_core::{Audio, Extra, File, Image, Part, Text};
use msg_json::{JsonError, Kind, Reader};

use crate::responses::shape::{RESPONSES, part, text_type};
use msg_wire::codec::{Content, Context, Fields, Inner, Plan, bit, mask, text_of, type_of};

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
            Content::carried(RESPONSES, None, source)
        }));
    }
    Ok(res)
}

fn read<'a>(source: &'a str, cx: &mut Context<'a, '_>, is_assistant: bool) -> Option<Part> {
    let kind = type_of(Reader::from_text(source)).ok()??;
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
    let inner = Inner::new("input_audio", it, bit(1) | mask(format.is_some(), 2), cx);
    fields.set_raw(part::BODY, None);
    let extra = keep(fields, cx, inner);
    Some(Part::Audio(Audio { data, format, extra, ..Audio::default() }))
}

/// The unknown members of a part and its layout, behind the empty section of its item.
fn keep<'a>(mut fields: Fields<'a>, cx: &mut Context<'a, '_>, inner: Inner) -> Extra {
    let canonical = fields.in_model() | bit(part::TYPE);
    let mut extra = fields.keep_with(canonical, inner, None, (&RESPONSES, cx));
    if let Some(own) = extra.layout(&RESPONSES) {
        let layout = Plan::sections(&[&[], own]);
        extra.set_layout(RESPONSES, layout);
    }
    extra
}
