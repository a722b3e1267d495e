//! Images and documents: the `source` that their one place in the model becomes (AN-10, AN-11).

use msg_codec::DataUrl;
use msg_codec::codec::{RawMember, Shape, Value};
use msg_core::{Extra, File, Image};

use super::{SOURCE, Writer};
use crate::shape::{block, source};

/// What a `source` says.
pub(super) enum Source<'m> {
    /// Base64 and its type.
    Base64(DataUrl<'m>),
    /// A text, and whether its type was another than plain.
    Text { text: String, retyped: bool },
    /// A place in the net.
    Url(&'m str),
    /// An uploaded file.
    File(&'m str),
}

impl Source<'_> {
    /// The type, the shape, and the value of the first member after the type.
    fn parts(&self) -> (&'static str, &'static Shape, &str) {
        match self {
            Self::Base64(it) => ("base64", &source::INLINE, it.media_type),
            Self::Text { .. } => ("text", &source::INLINE, "text/plain"),
            Self::Url(url) => ("url", &source::URL, url),
            Self::File(id) => ("file", &source::FILE, id),
        }
    }

    fn data(&self) -> &str {
        match self {
            Self::Base64(it) => it.data,
            Self::Text { text, .. } => text,
            Self::Url(_) | Self::File(_) => "",
        }
    }
}

impl Writer<'_> {
    /// The source of an image; none if the format has none for it.
    pub(super) fn image_source<'m>(&self, it: &'m Image) -> Option<Source<'m>> {
        let is_url = self.objects.plan(&it.extra, 1).variant(source::TYPE) == source::TYPE_URL;
        let inline = it.url.as_deref().filter(|it| DataUrl::is(it) && !is_url);
        let source = match (inline, it.url.as_deref()) {
            (Some(url), _) => DataUrl::parse(url).map(Source::Base64),
            (None, Some(url)) => Some(Source::Url(url)),
            (None, None) => None,
        };
        source.or_else(|| it.file_id.as_deref().map(Source::File))
    }

    /// The source of a document; none if the format has none for it.
    pub(super) fn document_source<'m>(&self, it: &'m File) -> Option<Source<'m>> {
        let inline = it.data.as_deref().and_then(|data| self.inline(it, data));
        inline
            .or_else(|| it.url.as_deref().map(Source::Url))
            .or_else(|| it.file_id.as_deref().map(Source::File))
    }

    fn inline<'m>(&self, it: &'m File, data: &'m str) -> Option<Source<'m>> {
        let url = DataUrl::of(data, it.media_type.as_deref())?;
        let was_base64 =
            self.objects.plan(&it.extra, 1).variant(source::TYPE) == source::TYPE_BASE64;
        let essence = url.essence();
        if was_base64 || essence == "application/pdf" {
            return Some(Source::Base64(url));
        }
        let text = essence.starts_with("text/").then(|| url.text())??;
        Some(Source::Text { text, retyped: !url.media_type.eq_ignore_ascii_case("text/plain") })
    }

    pub(super) fn image(&mut self, at: usize, it: &Image, out: &mut Vec<u8>) {
        let Some(source) = self.image_source(it) else { return };
        let lost = [
            ("url", it.url.is_some() && matches!(source, Source::File(_))),
            ("file_id", it.file_id.is_some() && !matches!(source, Source::File(_))),
            ("detail", it.detail.is_some()),
            ("media_type", it.media_type.is_some()),
        ];
        self.objects.losses.members(Some(at), &lost);
        let inner = self.source_object(at, &it.extra, &source);
        let values = ["image".into(), Value::Json(&inner)];
        self.object(at, (&it.extra, Some(SOURCE)), &block::IMAGE, &values, out);
    }

    pub(super) fn document(&mut self, at: usize, it: &File, out: &mut Vec<u8>) {
        let Some(source) = self.document_source(it) else { return };
        self.document_losses(at, it, &source);
        let inner = self.source_object(at, &it.extra, &source);
        let values = ["document".into(), Value::Json(&inner), it.filename.as_deref().into()];
        self.object(at, (&it.extra, Some(SOURCE)), &block::DOCUMENT, &values, out);
    }

    fn document_losses(&mut self, at: usize, it: &File, source: &Source<'_>) {
        let is_inline = matches!(source, Source::Base64(_) | Source::Text { .. });
        let says_type = |it: &File| match source {
            Source::Base64(url) => it.media_type.as_deref() == Some(url.media_type),
            Source::Text { .. } => !it.data.as_deref().is_some_and(DataUrl::is),
            _ => false,
        };
        let is_retyped = matches!(source, Source::Text { retyped: true, .. });
        let lost = [
            ("data", it.data.is_some() && !is_inline),
            ("url", it.url.is_some() && !matches!(source, Source::Url(_))),
            ("file_id", it.file_id.is_some() && !matches!(source, Source::File(_))),
            ("media_type", is_retyped || (it.media_type.is_some() && !says_type(it))),
        ];
        self.objects.losses.members(Some(at), &lost);
    }

    /// The object of a source, with the unknown members that it had.
    fn source_object(&mut self, at: usize, extra: &Extra, source: &Source<'_>) -> Vec<u8> {
        let (raw, plan) = self.objects.inner(at, extra, SOURCE);
        let (kind, shape, first) = source.parts();
        let is_inline = matches!(source, Source::Base64(_) | Source::Text { .. });
        let is_text = matches!(source, Source::Text { .. });
        // The type of a text is the plain one, unless the source had another or none.
        let has_own = is_text && has(&raw, "media_type");
        let has_type = !has_own && (!is_text || plan.may_have(source::MEDIA_TYPE));
        let values = [
            kind.into(),
            (!is_inline || has_type).then_some(first).into(),
            is_inline.then_some(source.data()).into(),
        ];
        self.objects.inner_object(at, (&raw, plan), shape, &values)
    }
}

fn has(raw: &[RawMember<'_>], name: &str) -> bool {
    raw.iter().any(|it| it.name == name)
}
