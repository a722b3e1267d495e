//! The contents of a step, of a result or of a list (GI-5, GI-6).

use msg_codec::codec::{
    Build, ContentValue, Context, Fields, Shape, bit, keep_whole, mask, read_alone, read_mended,
};
use msg_codec::{DataUrl, MediaKind};
use msg_core::{Audio, Extra, File, Image, Part, RawJson, Text};
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
    Some(match kind {
        "text" => (&text::SHAPE, plain),
        "image" => (&media::SHAPE, image),
        "audio" => (&media::SHAPE, audio),
        "document" => (&media::SHAPE, document),
        "video" => (&media::SHAPE, video),
        _ => return None,
    })
}

fn plain<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let text = fields.text(cx, text::TEXT)?;
    let extra = fields.keep(bit(TYPE) | bit(text::TEXT), &INTERACTIONS, cx);
    Some(Part::Text(Text { text, extra }))
}

/// Where a medium is; exactly one of both (GI-6).
enum Source {
    /// Base64, and its type.
    Data(String, String),
    /// A link, and the type that it is said to have.
    Uri(String, Option<String>),
}

fn source<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Source> {
    let is_there = |code| fields.raw(code).is_some_and(|it| it != "null");
    match (is_there(media::DATA), is_there(media::URI)) {
        (true, false) => {
            let data = fields.text(cx, media::DATA).filter(|it| !it.is_empty())?;
            Some(Source::Data(data, fields.text(cx, media::MIME)?))
        }
        (false, true) => {
            let is_link = |it: &String| !it.is_empty() && !DataUrl::is(it);
            let uri = fields.text(cx, media::URI).filter(is_link)?;
            Some(Source::Uri(uri, fields.text_or_report(cx, media::MIME)))
        }
        _ => None,
    }
}

/// What an object leaves beside its part; canonically a link has the type of its extension.
fn rest<'a>(
    fields: &mut Fields<'a>,
    cx: &mut Context<'a, '_>,
    (code, has_type): (u8, bool),
) -> Extra {
    let canonical = bit(TYPE) | mask(has_type, media::MIME) | bit(code);
    fields.keep(canonical, &INTERACTIONS, cx)
}

fn image<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    Some(Part::Image(match source(fields, cx)? {
        Source::Data(data, media_type) => {
            let url = DataUrl { media_type: &media_type, data: &data }.url()?;
            Image { extra: rest(fields, cx, (media::DATA, true)), ..Image::from_url(url) }
        }
        Source::Uri(url, media_type) => {
            let has_type = media_type.is_some() || msg_codec::media_type_of_url(&url).is_some();
            let extra = rest(fields, cx, (media::URI, has_type));
            Image { url: Some(url), media_type, extra, ..Image::default() }
        }
    }))
}

fn audio<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    match source(fields, cx)? {
        Source::Data(data, media_type) => {
            let format = msg_codec::audio_format(&media_type)?.to_owned();
            let is_spelled = msg_codec::media_type_of_audio(&format) != media_type;
            let mut extra = rest(fields, cx, (media::DATA, true));
            if is_spelled {
                extra.insert(INTERACTIONS, "mime_type", RawJson::string(&media_type));
            }
            let (data, format) = (Some(data), Some(format));
            Some(Part::Audio(Audio { data, format, extra, ..Audio::default() }))
        }
        it => file(it, "audio", fields, cx),
    }
}

fn document<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let source = source(fields, cx)?;
    file(source, "document", fields, cx)
}

fn video<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let source = source(fields, cx)?;
    file(source, "video", fields, cx)
}

fn file<'a>(
    source: Source,
    kind: &str,
    fields: &mut Fields<'a>,
    cx: &mut Context<'a, '_>,
) -> Option<Part> {
    let (mut res, said) = match source {
        Source::Data(data, media_type) => {
            let url = DataUrl { media_type: &media_type, data: &data }.url()?;
            let extra = rest(fields, cx, (media::DATA, true));
            (File { data: Some(url), extra, ..File::default() }, Some(media_type))
        }
        Source::Uri(url, media_type) => {
            let guessed = msg_codec::media_type_of_url(&url);
            let has_type = media_type.is_some() || guessed.is_some();
            let said = media_type.clone().or_else(|| guessed.map(str::to_owned));
            let extra = rest(fields, cx, (media::URI, has_type));
            (File { url: Some(url), media_type, extra, ..File::default() }, said)
        }
    };
    if said.as_deref().map_or(MediaKind::Document, MediaKind::of).as_str() != kind {
        res.extra.insert(INTERACTIONS, "type", RawJson::string(kind));
    }
    Some(Part::File(res))
}
