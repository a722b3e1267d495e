//! Images, sound and files: inline data, or a file by its URI (GE-9).

use std::borrow::Cow;

use msg_codec::{
    DataUrl,
    codec::{Plan, RawMember, Value},
};
use msg_core::{Audio, File, Image, Part};

use super::Writer;
use crate::shape::{GEMINI, media, part};

const INLINE: &str = "inlineData";
const FILE: &str = "fileData";

/// What a medium is written as.
pub(super) enum Source<'m> {
    /// Base64 and its type.
    Inline { media_type: Cow<'m, str>, data: &'m str },
    /// A place in the net, and the type of what is there.
    Uri { media_type: Option<Cow<'m, str>>, uri: &'m str },
}

impl<'a> Writer<'a, '_> {
    /// The source of an image; none if the format has none for it.
    pub(super) fn image_source<'m>(&self, it: &'m Image) -> Option<Source<'m>> {
        self.by_url(it.url.as_deref()?, it.media_type.as_deref(), &it.extra)
    }

    /// The source of sound, which is never by id.
    pub(super) fn audio_source<'m>(&self, it: &'m Audio) -> Option<Source<'m>> {
        let (data, format) = (it.data.as_deref()?, it.format.as_deref()?);
        let kept = it.extra.get(&GEMINI, INLINE).and_then(|it| {
            let members = msg_codec::codec::object_members(it)?;
            let kept = members.iter().find(|it| it.name == "mimeType")?;
            Some(msg_codec::codec::text_of(kept.value)?.0.into_owned())
        });
        let kept = kept.filter(|it| msg_codec::audio_format(it) == Some(format));
        let media_type = Cow::Owned(kept.unwrap_or_else(|| msg_codec::media_type_of_audio(format)));
        Some(Source::Inline { media_type, data })
    }

    /// The source of a file; none if the format has none for it.
    pub(super) fn file_source<'m>(&self, it: &'m File) -> Option<Source<'m>> {
        let media_type = it.media_type.as_deref();
        let url = it.data.as_deref().and_then(|it| DataUrl::of(it, media_type));
        let inline = url.map(inline);
        let by_url = || self.by_url(it.url.as_deref()?, media_type, &it.extra);
        inline.or_else(by_url)
    }

    fn by_url<'m>(
        &self,
        url: &'m str,
        media_type: Option<&'m str>,
        extra: &msg_core::Extra,
    ) -> Option<Source<'m>> {
        if DataUrl::is(url) {
            return DataUrl::parse(url).map(inline);
        }
        let guesses = self.objects.plan(extra, 1).may_have(media::MIME);
        let guessed = || msg_codec::media_type_of_url(url).filter(|_| guesses);
        Some(Source::Uri { media_type: media_type.or_else(guessed).map(Cow::Borrowed), uri: url })
    }

    /// Writes a medium that has a source.
    pub(super) fn media(&mut self, at: usize, it: &'a Part, out: &mut Vec<u8>) {
        let (source, name) = match it {
            Part::Image(it) => (self.image_source(it), None),
            Part::Audio(it) => (self.audio_source(it), None),
            Part::File(it) => (self.file_source(it), it.filename.as_deref()),
            _ => (None, None),
        };
        let Some(source) = source else { return };
        self.media_losses(at, it, &source);
        let (kind, shape) = match source {
            Source::Inline { .. } => (INLINE, &part::INLINE),
            Source::Uri { .. } => (FILE, &part::FILE),
        };
        let (mut inner, plan) = self.objects.inner(at, it.extra(), kind);
        if let Part::Audio(_) = it {
            inner.retain(|it| it.name != "mimeType");
        }
        let object = self.data(at, (&source, name), plan, &inner);
        let raw = self.members(it.extra(), at, Some(kind));
        self.objects.object(at, (&raw, self.plan(it.extra())), shape, &[Value::Json(&object)], out);
    }

    /// The object in the part.
    fn data(
        &mut self,
        at: usize,
        (source, name): (&Source<'_>, Option<&str>),
        plan: Plan<'_>,
        raw: &[RawMember<'_>],
    ) -> Vec<u8> {
        let (shape, media_type, data) = match source {
            Source::Inline { media_type, data } => (&media::INLINE, Some(&**media_type), *data),
            Source::Uri { media_type, uri } => (&media::FILE, media_type.as_deref(), *uri),
        };
        let has_raw = raw.iter().any(|it| it.name == "mimeType");
        let values = [media_type.filter(|_| !has_raw).into(), data.into(), name.into()];
        self.objects.inner_object(at, (raw, plan), shape, &values)
    }

    fn media_losses(&mut self, at: usize, it: &Part, source: &Source<'_>) {
        let is_inline = matches!(source, Source::Inline { .. });
        let retyped = |said: &Option<String>| match source {
            Source::Inline { media_type, .. } => said.as_deref().is_some_and(|it| it != media_type),
            Source::Uri { .. } => false,
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
                ("media_type", retyped(&it.media_type)),
            ],
            _ => &[],
        };
        self.objects.losses.members(Some(at), lost);
    }
}

fn inline(url: DataUrl<'_>) -> Source<'_> {
    Source::Inline { media_type: Cow::Borrowed(url.media_type), data: url.data }
}
