//! Images and documents by their `source` (AN-10, AN-11).

use msg_codec::DataUrl;
use msg_codec::codec::{Context, Fields, Inner, Shape, bit, mask, text_of, type_of};
use msg_core::{File, Image, Part};
use msg_json::Reader;

use crate::shape::{ANTHROPIC, block, source};

/// Where a source says that the bytes are.
enum Place {
    Data(String),
    Url(String),
    File(String),
}

pub(super) fn image<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let (place, inner) = read(fields.raw(block::BODY)?, false, cx)?;
    fields.set_raw(block::BODY, None);
    let (url, file_id) = match place {
        Place::Data(url) | Place::Url(url) => (Some(url), None),
        Place::File(id) => (None, Some(id)),
    };
    let canonical = bit(block::TYPE) | bit(block::BODY);
    let extra = fields.keep_with(canonical, inner, None, (&ANTHROPIC, cx));
    Some(Part::Image(Image { url, file_id, extra, ..Image::default() }))
}

pub(super) fn document<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let (place, inner) = read(fields.raw(block::BODY)?, true, cx)?;
    fields.set_raw(block::BODY, None);
    let mut res = File { filename: fields.text_or_report(cx, block::TITLE), ..File::default() };
    match place {
        Place::Data(data) => res.data = Some(data),
        Place::Url(url) => res.url = Some(url),
        Place::File(id) => res.file_id = Some(id),
    }
    let canonical =
        bit(block::TYPE) | bit(block::BODY) | mask(res.filename.is_some(), block::TITLE);
    res.extra = fields.keep_with(canonical, inner, None, (&ANTHROPIC, cx));
    Some(Part::File(res))
}

/// Reads a source; none if it is of a kind or a shape that the model has no place for.
fn read<'a>(
    object: &'a str,
    is_document: bool,
    cx: &mut Context<'a, '_>,
) -> Option<(Place, Inner)> {
    let kind = type_of(Reader::from_text(object)).ok()??;
    let shape = shape_of(&kind, is_document)?;
    let mut fields = Fields::read(shape, cx, &mut Reader::from_text(object)).ok()?;
    // A second `type` may have come after the one that chose the kind.
    if text_of(fields.raw(source::TYPE)?)?.0 != kind {
        return None;
    }
    fields.set_raw(source::TYPE, None);
    let place = match &*kind {
        "base64" => base64(&mut fields, is_document, cx)?,
        "text" => text(&mut fields, cx)?,
        "url" => Place::Url(url(&mut fields, is_document, cx)?),
        _ => Place::File(fields.text(cx, block::BODY)?),
    };
    let canonical = bit(source::TYPE) | bit(block::BODY) | mask(is_inline(&kind), source::DATA);
    Some((place, Inner::new("source", fields, canonical, cx)))
}

fn is_inline(kind: &str) -> bool {
    matches!(kind, "base64" | "text")
}

fn shape_of(kind: &str, is_document: bool) -> Option<&'static Shape> {
    match kind {
        "base64" => Some(&source::INLINE),
        "text" if is_document => Some(&source::INLINE),
        "url" => Some(&source::URL),
        "file" => Some(&source::FILE),
        _ => None,
    }
}

fn base64<'a>(
    fields: &mut Fields<'a>,
    is_document: bool,
    cx: &mut Context<'a, '_>,
) -> Option<Place> {
    let media_type = fields.text(cx, source::MEDIA_TYPE)?;
    let data = fields.text(cx, source::DATA)?;
    if is_document && media_type != "application/pdf" {
        fields.vary(source::TYPE, source::TYPE_BASE64);
    }
    DataUrl { media_type: &media_type, data: &data }.url().map(Place::Data)
}

/// A text is base64 in the model. A media type that is not that of plain text is carried.
fn text<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Place> {
    let data = fields.text(cx, source::DATA)?;
    if fields.raw(source::MEDIA_TYPE) == Some("\"text/plain\"") {
        fields.set_raw(source::MEDIA_TYPE, None);
    }
    Some(Place::Data(DataUrl::from_text(&data)))
}

fn url<'a>(fields: &mut Fields<'a>, is_document: bool, cx: &mut Context<'a, '_>) -> Option<String> {
    let url = fields.text(cx, block::BODY)?;
    if !is_document && DataUrl::is(&url) {
        fields.vary(source::TYPE, source::TYPE_URL);
    }
    Some(url)
}
