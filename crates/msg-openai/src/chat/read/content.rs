//! The `content` of a message or of a tool result, and its parts.

use msg_core::{Audio, Extra, File, Image, Part, Reasoning, Text};
use msg_json::{JsonError, Kind, Reader};

use super::{OPENAI, other};
use crate::chat::shape::{body, part};
use crate::text_blocks::TextBlocks;
use msg_wire::codec::{Context, Fields, Inner, Shape, bit, mask, text_of, type_of};

/// What a `content` member held.
#[derive(Default)]
pub(super) enum Content {
    #[default]
    Absent,
    Null,
    Text(String),
    Parts(Vec<Part>),
    /// Of a type that no content has.
    Raw,
}

impl Content {
    pub(super) fn read<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
    ) -> Result<Self, JsonError> {
        match reader.peek()? {
            Kind::String => Ok(Content::Text(cx.string(reader.string()?, "content"))),
            Kind::Array => {
                let mut parts = Vec::new();
                reader.begin_array()?;
                while reader.next_element()? {
                    parts.push(read_part(reader, cx)?);
                }
                Ok(Content::Parts(parts))
            }
            Kind::Null => reader.raw().map(|_| Content::Null),
            _ => reader.raw().map(|_| Content::Raw),
        }
    }
}

fn read_part<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Part, JsonError> {
    match reader.peek()? {
        Kind::String => {
            let text = cx.string(reader.string()?, "content");
            let mut extra = Extra::default();
            extra.set_layout(OPENAI, [part::TYPE_BARE << 5 | part::TYPE]);
            return Ok(Part::Text(Text { text, extra }));
        }
        Kind::Object => {}
        _ => return Ok(other(None, reader.raw()?)),
    }
    let Some((shape, build)) = type_of(reader.clone())?.and_then(|it| kind(&it)) else {
        return Ok(other(None, reader.raw()?));
    };
    let start = reader.next_offset();
    let mark = cx.mark();
    let mut fields = Fields::read(shape, cx, reader)?;
    let source = reader.source(start, reader.offset());
    // A second `type` may have come behind the one that chose the kind.
    let type_is = fields.raw(part::TYPE).and_then(text_of).and_then(|it| kind(&it.0));
    if type_is.is_some_and(|it| std::ptr::eq(it.0, shape)) {
        fields.set_raw(part::TYPE, None);
        if let Some(res) = build(&mut fields, cx) {
            return Ok(res);
        }
    }
    cx.back_to(mark);
    Ok(other(None, source))
}

type Build = for<'a> fn(&mut Fields<'a>, &mut Context<'a, '_>) -> Option<Part>;

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
