//! The contents of a step, of a result or of a list (GI-5, GI-6).

use std::borrow::Cow;

use msg_codec::codec::{
    Build, ContentValue, Context, Fields, MediaSource, Shape, bit, keep_whole, mask, read_alone,
    read_mended,
};
use msg_codec::{DataUrl, MediaKind};
use msg_core::{Part, RawJson, Text};
use msg_json::{JsonError, Kind, Reader};

use super::item::read_item;
use crate::interactions::shape::mend;
use crate::interactions::shape::{INTERACTIONS, STEP, TYPE, media, text};

/// Whether a type is one of a content.
pub(super) fn is_content(kind: &str) -> bool {
    kind == "text" || media::KINDS.contains(&kind)
}

/// Reads a content; anything else stays as it is.
pub(crate) fn read_content<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Part, JsonError> {
    read_with(reader, cx, |_| None)
}

/// As [`read_content`], where objects of other types may be too.
pub(super) fn read_with<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
    also: impl Fn(&str) -> Option<(&'static Shape, Build)>,
) -> Result<Part, JsonError> {
    if reader.peek()? == Kind::String {
        return Ok(ContentValue::bare_text(INTERACTIONS, cx.string(reader.string()?, "content")));
    }
    let (start, mark) = (reader.next_offset(), cx.mark());
    let part = read_mended(
        reader,
        cx,
        |source| mend(source, |kind| known(kind).or_else(|| also(kind)).is_some()),
        |reader, cx| {
            ContentValue::read_known(reader, cx, INTERACTIONS, |kind| {
                known(kind).or_else(|| also(kind))
            })
        },
        |part, source| keep_whole(part.extra_mut(), &INTERACTIONS, source),
    )?;
    // The name is taken: the members of a step stay there with its first part (GI-9).
    if part.extra().get(&INTERACTIONS, STEP).is_some() {
        cx.back_to(mark);
        return Ok(ContentValue::carried(
            INTERACTIONS,
            None,
            reader.source(start, reader.offset()),
        ));
    }
    Ok(part)
}

/// Whether this part is what is read of the source of a content or step; what it has of the step that it began aside.
pub(crate) fn says(source: &str, part: &Part) -> bool {
    let alone = |it: &Part| {
        let mut it = it.clone();
        it.extra_mut().remove(&INTERACTIONS, STEP);
        it.extra_mut().clear_layout();
        it
    };
    let read = read_alone(source, |reader, cx| Ok(read_item(reader, cx)?));
    read.is_some_and(|it| alone(&it) == alone(part))
}

fn known(kind: &str) -> Option<(&'static Shape, Build)> {
    let build: Build = match kind {
        "text" => return Some((&text::SHAPE, plain)),
        "image" => |fields, cx| medium(MediaKind::Image, fields, cx),
        "audio" => |fields, cx| medium(MediaKind::Audio, fields, cx),
        "document" => |fields, cx| medium(MediaKind::Document, fields, cx),
        "video" => |fields, cx| medium(MediaKind::Video, fields, cx),
        _ => return None,
    };
    Some((&media::SHAPE, build))
}

fn plain<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let text = fields.text(cx, text::TEXT)?;
    let extra = fields.keep(bit(TYPE) | bit(text::TEXT), &INTERACTIONS, cx);
    Some(Part::Text(Text { text, extra }))
}

/// A medium: either bytes of a type, or a link, which may say one (GI-6).
fn medium<'a>(kind: MediaKind, fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let is_there = |code| fields.raw(code).is_some_and(|it| it != "null");
    let has_data = is_there(media::DATA);
    if has_data == is_there(media::URI) {
        return None;
    }
    let code = if has_data { media::DATA } else { media::URI };
    let place = fields.text(cx, code).filter(|it| !it.is_empty())?;
    let media_type = match has_data {
        true => Some(fields.text(cx, media::MIME)?),
        false if DataUrl::is(&place) => return None,
        false => fields.text_or_report(cx, media::MIME),
    };
    let guessed = msg_codec::media_type_of_url(&place).filter(|_| !has_data);
    let source = MediaSource {
        media_type: media_type.as_deref().map(Cow::Borrowed),
        data: Some(&*place).filter(|_| has_data),
        link: Some(&*place).filter(|_| !has_data),
    };
    let mut part = source.part(kind)?;
    let by_itself = source.kind();
    // Canonically a link has the type of its extension.
    let has_type = media_type.is_some() || guessed.is_some();
    let canonical = bit(TYPE) | mask(has_type, media::MIME) | bit(code);
    let mut extra = fields.keep(canonical, &INTERACTIONS, cx);
    let said = media_type.as_deref().or(guessed);
    match &part {
        Part::Audio(it) => {
            let own = msg_codec::MediaKind::type_of_audio(it.format.as_deref().unwrap_or_default());
            if let Some(spelled) = said.filter(|it| **it != own) {
                extra.insert(INTERACTIONS, "mime_type", RawJson::string(spelled));
            }
        }
        Part::File(_) if by_itself != kind => {
            extra.insert(INTERACTIONS, "type", RawJson::string(kind.as_str()));
        }
        _ => {}
    }
    *part.extra_mut() = extra;
    Some(part)
}
