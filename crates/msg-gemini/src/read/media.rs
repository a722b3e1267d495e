//! Media: inline data, and files by their URI (GE-9).

use msg_codec::{
    DataUrl, MediaKind,
    codec::{Context, Fields, Inner, bit, mask},
};
use msg_core::{Audio, File, Image, Part, RawJson};
use msg_json::{Kind, Reader};

use crate::shape::{GEMINI, media, part};

pub(super) fn inline<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let mut object = object(fields, &media::INLINE, cx)?;
    let media_type = object.text(cx, media::MIME)?;
    let data = object.text(cx, media::DATA)?;
    let mut canonical = bit(media::MIME) | bit(media::DATA);
    let mut part = if let Some(format) = msg_codec::MediaKind::audio_format(&media_type) {
        let format = Some(format.to_owned());
        Part::Audio(Audio { data: Some(data), format, ..Audio::default() })
    } else {
        let url = DataUrl { media_type: &media_type, data: &data }.url()?;
        if MediaKind::of(&media_type) == MediaKind::Image {
            Part::Image(Image::from_url(url))
        } else {
            let filename = object.text_or_report(cx, media::NAME);
            canonical |= mask(filename.is_some(), media::NAME);
            Part::File(File { data: Some(url), filename, ..File::default() })
        }
    };
    let mut inner = Inner::new("inlineData", object, canonical, cx);
    if let Part::Audio(it) = &part
        && msg_codec::MediaKind::type_of_audio(it.format.as_deref().unwrap_or_default())
            != media_type
    {
        inner.unknown = Some(with_type(inner.unknown, &media_type));
    }
    fields.set_raw(part::DATA, None);
    *part.extra_mut() = fields.keep_with(bit(part::DATA), inner, None, (&GEMINI, cx));
    Some(part)
}

/// The unknown members of inline data, after the media type that its format does not say.
fn with_type(unknown: Option<RawJson>, media_type: &str) -> RawJson {
    let spelled = RawJson::string(media_type);
    let rest = unknown.as_ref().and_then(msg_codec::codec::object_members).unwrap_or_default();
    let rest = rest.iter().map(|it| (&*it.name, it.value));
    msg_codec::codec::object_of(std::iter::once(("mimeType", spelled.text())).chain(rest))
}

pub(super) fn file<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let mut object = object(fields, &media::FILE, cx)?;
    let url = object.text(cx, media::DATA).filter(|it| !DataUrl::is(it))?;
    let media_type = object.text_or_report(cx, media::MIME);
    let guessed = msg_codec::media_type_of_url(&url);
    let mut canonical =
        bit(media::DATA) | mask(media_type.is_some() || guessed.is_some(), media::MIME);
    let is_image = media_type.as_deref().map(MediaKind::of) == Some(MediaKind::Image);
    let mut part = if is_image {
        Part::Image(Image { url: Some(url), media_type, ..Image::default() })
    } else {
        let filename = object.text_or_report(cx, media::NAME);
        canonical |= mask(filename.is_some(), media::NAME);
        Part::File(File { url: Some(url), media_type, filename, ..File::default() })
    };
    let inner = Inner::new("fileData", object, canonical, cx);
    fields.set_raw(part::DATA, None);
    *part.extra_mut() = fields.keep_with(bit(part::DATA), inner, None, (&GEMINI, cx));
    Some(part)
}

/// The members of the object in a part; none if it is not an object.
fn object<'a>(
    fields: &Fields<'a>,
    shape: &'static msg_codec::codec::Shape,
    cx: &mut Context<'a, '_>,
) -> Option<Fields<'a>> {
    let mut reader = Reader::from_text(fields.raw(part::DATA)?);
    if reader.peek().ok()? != Kind::Object {
        return None;
    }
    Fields::read(shape, cx, &mut reader).ok()
}
