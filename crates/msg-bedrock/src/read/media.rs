//! Images, documents, videos and sounds (BR-8).

use msg_codec::codec::{MediaSource, object_of, text_of};
use msg_codec::{DataUrl, MediaKind};
use msg_core::{Audio, Extra, Part, RawJson};

use super::block::{Members, keep, members, rest, take, take_optional, take_text};
use crate::formats::Medium;

/// Where a source says that the bytes are.
enum Place {
    Bytes(String),
    Link(String),
    Text(String),
}

/// Reads the inside of a media block; none if it is of a shape or a format that the API does not have.
pub(super) fn medium(kind: Medium, mut it: Members<'_>, mut extra: Extra) -> Option<Part> {
    let mut inner = members(take(&mut it, "source")?)?;
    let (place, left) = place(kind, &mut inner)?;
    let format = take_optional(&mut it, "format")?;
    let media_type = match &format {
        Some(format) => kind.media_type(format)?,
        None if matches!(place, Place::Text(_)) => "text/plain",
        None => return None,
    };
    let filename = match kind {
        Medium::Document => Some(take_text(&mut it, "name")?),
        _ => None,
    };
    keep(&mut extra, kind.name(), &it, left.map(|it| ("source", it)));
    let data = match &place {
        Place::Bytes(data) => Some(data.clone()),
        Place::Text(text) => DataUrl::from_text(text).split_once(',').map(|it| it.1.to_owned()),
        Place::Link(_) => None,
    };
    let source = MediaSource {
        media_type: Some(media_type.into()),
        data: data.as_deref(),
        link: match &place {
            Place::Link(link) => Some(link),
            _ => None,
        },
    };
    let mut part = match (kind, &data) {
        (Medium::Audio, Some(_)) => Part::Audio(Audio { data, format, ..Audio::default() }),
        (Medium::Image, _) => source.part(MediaKind::Image)?,
        _ => source.part(MediaKind::Document)?,
    };
    if let Part::File(it) = &mut part {
        it.filename = filename;
    }
    *part.extra_mut() = extra;
    Some(part)
}

/// The one place of a source, and what is left of the source.
fn place(kind: Medium, inner: &mut Members<'_>) -> Option<(Place, Option<RawJson>)> {
    let (bytes, link, text) =
        (take(inner, "bytes"), take(inner, "s3Location"), take(inner, "text"));
    match (bytes, link, text) {
        (Some(bytes), None, None) => Some((Place::Bytes(base64(bytes)?), rest(inner))),
        (None, Some(link), None) => {
            let mut link = members(link)?;
            // Another link would have no place when it is written: it stays what it is.
            let uri = take_text(&mut link, "uri").filter(|it| it.starts_with("s3://"))?;
            let left = rest(&link);
            let all = inner.iter().map(|it| (&*it.name, it.value));
            let own = left.as_ref().map(|it| ("s3Location", it.text()));
            let left = (left.is_some() || !inner.is_empty())
                .then(|| object_of(own.into_iter().chain(all)));
            Some((Place::Link(uri), left))
        }
        (None, None, Some(text)) if kind == Medium::Document => {
            let (text, is_cut) = text_of(text)?;
            (!is_cut).then(|| (Place::Text(text.into_owned()), rest(inner)))
        }
        _ => None,
    }
}

/// Base64, also as Strands stores it.
fn base64(source: &str) -> Option<String> {
    if let Some((text, _)) = text_of(source) {
        return Some(text.into_owned());
    }
    let mut stored = members(source)?;
    let is_marked = take(&mut stored, "__bytes_encoded__") == Some("true");
    let data = take_text(&mut stored, "data")?;
    (is_marked && stored.is_empty()).then_some(data)
}
