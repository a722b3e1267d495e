//! Images, sounds and files: the content that they become, and where they say that the bytes are (GI-6).

use std::borrow::Cow;

use msg_codec::codec::{RawMember, Value};
use msg_codec::{DataUrl, MediaKind};
use msg_core::{Extra, Part};

use super::Writer;
use crate::interactions::shape::{INTERACTIONS, STEP, media};

/// A content of a file or a sound.
pub(super) struct Medium<'m> {
    kind: Cow<'m, str>,
    media_type: Option<Cow<'m, str>>,
    source: Source<'m>,
}

/// Where the bytes are.
#[derive(Clone, Copy)]
enum Source<'m> {
    Data(&'m str),
    Uri(&'m str),
}

impl<'a> Writer<'a, '_> {
    /// What a medium is written as; none if the format has no place for it.
    pub(super) fn source<'m>(&self, it: &'m Part) -> Option<Medium<'m>> {
        let extra = it.extra();
        let said = |name| extra.get(&INTERACTIONS, name).and_then(|it| it.parse::<String>().ok());
        let kept = said("type").filter(|it| media::KINDS.contains(&&**it));
        let (media_type, source) = match it {
            Part::Image(it) => self.located(it.url.as_deref()?, it.media_type.as_deref(), extra)?,
            Part::Audio(it) => {
                let (data, format) = (it.data.as_deref()?, it.format.as_deref()?);
                let kept =
                    said("mime_type").filter(|it| msg_codec::audio_format(it) == Some(format));
                let media_type = kept.unwrap_or_else(|| msg_codec::media_type_of_audio(format));
                (Some(Cow::Owned(media_type)), Source::Data(data))
            }
            Part::File(it) => {
                let media_type = it.media_type.as_deref();
                let data = it.data.as_deref().and_then(|it| DataUrl::of(it, media_type));
                match (data, it.url.as_deref()) {
                    (Some(url), _) => inline(url),
                    (None, url) => self.located(url?, media_type, extra)?,
                }
            }
            _ => return None,
        };
        let guessed = match source {
            Source::Uri(url) if media_type.is_none() => msg_codec::media_type_of_url(url),
            _ => None,
        };
        let kind = kept.map_or_else(
            || match it {
                Part::Image(_) => "image".into(),
                Part::Audio(_) => "audio".into(),
                _ => media_type
                    .as_deref()
                    .or(guessed)
                    .map_or(MediaKind::Document, MediaKind::of)
                    .as_str()
                    .into(),
            },
            Cow::Owned,
        );
        Some(Medium { kind, media_type, source })
    }

    fn located<'m>(
        &self,
        url: &'m str,
        media_type: Option<&'m str>,
        extra: &Extra,
    ) -> Option<(Option<Cow<'m, str>>, Source<'m>)> {
        if DataUrl::is(url) {
            return DataUrl::parse(url).map(inline);
        }
        let guesses = self.plan(extra).may_have(media::MIME);
        let guessed = || msg_codec::media_type_of_url(url).filter(|_| guesses);
        Some((media_type.or_else(guessed).map(Cow::Borrowed), Source::Uri(url)))
    }

    /// Writes a medium that has a place.
    pub(super) fn media(
        &mut self,
        at: usize,
        it: &'a Part,
        more: &[RawMember<'_>],
        out: &mut Vec<u8>,
    ) {
        let Some(medium) = self.source(it) else { return };
        self.media_losses(at, it, &medium);
        let has_raw = it
            .extra()
            .get(&INTERACTIONS, "mime_type")
            .is_some_and(|it| !it.text().starts_with('"'));
        let (data, uri) = match medium.source {
            Source::Data(data) => (data.into(), Value::Absent),
            Source::Uri(uri) => (Value::Absent, uri.into()),
        };
        let media_type = medium.media_type.as_deref().filter(|_| !has_raw);
        let values = [(&*medium.kind).into(), media_type.into(), data, uri];
        let skip = if has_raw { &[STEP, "type"][..] } else { &[STEP, "type", "mime_type"] };
        self.object(at, (it.extra(), skip, more), &media::SHAPE, &values, out);
    }

    fn media_losses(&mut self, at: usize, it: &Part, medium: &Medium<'_>) {
        let is_inline = matches!(medium.source, Source::Data(_));
        let retyped = |said: &Option<String>| {
            is_inline
                && said.is_some()
                && *said.as_deref().unwrap_or_default()
                    != *medium.media_type.as_deref().unwrap_or_default()
        };
        let lost: &[(&str, bool)] = match it {
            Part::Image(it) => &[
                ("file_id", it.file_id.is_some()),
                ("detail", it.detail.is_some()),
                ("media_type", retyped(&it.media_type)),
            ],
            Part::Audio(it) => &[("id", it.id.is_some()), ("transcript", it.transcript.is_some())],
            Part::File(it) => &[
                ("file_id", it.file_id.is_some()),
                ("url", it.url.is_some() && it.data.is_some() && is_inline),
                ("data", it.data.is_some() && !is_inline),
                ("filename", it.filename.is_some()),
                ("media_type", retyped(&it.media_type)),
            ],
            _ => &[],
        };
        self.objects.losses.members(Some(at), lost);
    }
}

fn inline(url: DataUrl<'_>) -> (Option<Cow<'_, str>>, Source<'_>) {
    (Some(Cow::Borrowed(url.media_type)), Source::Data(url.data))
}
