//! Images, sounds and files: the content that they become, and where they say that the bytes are (GI-6).

use std::borrow::Cow;

use msg_codec::codec::{MediaSource, RawMember};
use msg_core::Part;

use super::Writer;
use crate::interactions::shape::{INTERACTIONS, STEP, media};

impl<'a> Writer<'a, '_> {
    /// Where a medium has its bytes, and the type of its content; none if the format has no place for it.
    pub(super) fn source<'m>(&self, it: &'m Part) -> Option<(Cow<'m, str>, MediaSource<'m>)> {
        let extra = it.extra();
        let said = |name| extra.get(&INTERACTIONS, name).and_then(|it| it.parse::<String>().ok());
        let mut res = MediaSource::of(it, || said("mime_type"))?;
        let untyped = res.link.filter(|_| res.media_type.is_none());
        let guessed = untyped.and_then(msg_codec::media_type_of_url);
        let kind = match (said("type").filter(|it| media::KINDS.contains(&&**it)), it) {
            (Some(kept), _) => Cow::Owned(kept),
            (None, Part::Image(_)) => "image".into(),
            (None, Part::Audio(_)) => "audio".into(),
            _ => res.kind().as_str().into(),
        };
        if guessed.is_some() && self.plan(extra).may_have(media::MIME) {
            res.media_type = guessed.map(Cow::Borrowed);
        }
        Some((kind, res))
    }

    /// Writes a medium that has a place.
    pub(super) fn media(
        &mut self,
        at: usize,
        it: &'a Part,
        more: &[RawMember<'_>],
        out: &mut Vec<u8>,
    ) {
        let Some((kind, source)) = self.source(it) else { return };
        source.lose(at, it, &[], &mut self.objects.losses);
        let has_raw = it
            .extra()
            .get(&INTERACTIONS, "mime_type")
            .is_some_and(|it| !it.text().starts_with('"'));
        let media_type = source.media_type.as_deref().filter(|_| !has_raw);
        let values = [(&*kind).into(), media_type.into(), source.data.into(), source.link.into()];
        let skip = if has_raw { &[STEP, "type"][..] } else { &[STEP, "type", "mime_type"] };
        self.object(at, (it.extra(), skip, more), &media::SHAPE, &values, out);
    }
}
