//! Content parts of message items and tool outputs.

use msg_core::{Audio, Extra, File, Image, Origin, Part, Place, Text};

use super::Writer;
use crate::chat::text_of;
use crate::responses::shape::{ITEM, RESPONSES, part, text_type};
use crate::text_blocks::write_block;
use msg_codec::codec::{Shape, Value, members_of, object_members};

/// Whether the format has a place for this part among the contents.
pub(super) fn fits(it: &Part) -> bool {
    match it {
        Part::Text(_) | Part::Refusal(_) => true,
        Part::Image(it) => it.url.is_some() || it.file_id.is_some(),
        Part::File(it) => {
            [&it.file_id, &it.url, &it.data, &it.filename].into_iter().any(Option::is_some)
        }
        Part::Audio(it) => it.id.is_none() && it.data.is_some(),
        Part::Other(it) => match it.format {
            Origin::Json => true,
            Origin::Responses => matches!(it.place, None | Some(Place::Content)),
            _ => false,
        },
        _ => false,
    }
}

impl Writer<'_> {
    /// Whether a part is written as a string where it is the only one and a string is possible.
    pub(super) fn is_plain(&self, it: &Part) -> bool {
        text_of(it).is_some()
            && self.objects.plan(it.extra(), 1).slots().is_none()
            && it.extra().iter(&RESPONSES).all(|(name, _)| name == ITEM)
    }

    /// Parts as an array.
    pub(super) fn parts<'m>(
        &mut self,
        parts: impl Iterator<Item = (usize, &'m Part)>,
        is_assistant: bool,
        out: &mut Vec<u8>,
    ) {
        msg_json::Writer::new(out).array(parts, |it, (at, part)| {
            it.value(|out| self.content_part(at, part, is_assistant, out));
        });
    }

    fn content_part(&mut self, at: usize, it: &Part, is_assistant: bool, out: &mut Vec<u8>) {
        self.objects.losses.foreign(it.extra(), Some(&RESPONSES), Some(at));
        match it {
            Part::Text(text) => self.text(at, text, is_assistant, out),
            Part::Refusal(it) => {
                self.flat(
                    at,
                    &it.extra,
                    &part::REFUSAL,
                    &["refusal".into(), (&it.text).into()],
                    out,
                );
            }
            Part::Image(it) => self.image(at, it, out),
            Part::File(it) => self.file(at, it, out),
            Part::Audio(it) => self.audio(at, it, out),
            Part::Other(other) if other.format == RESPONSES => {
                out.extend_from_slice(other.value.text().as_bytes());
            }
            _ => {
                self.objects.text_losses(at, it);
                let text = text_of(it).unwrap_or_default();
                let kind = part::TEXT_TYPES[text_type(is_assistant)];
                write_block(&mut msg_json::Writer::new(out), kind, text);
            }
        }
    }

    fn text(&mut self, at: usize, it: &Text, is_assistant: bool, out: &mut Vec<u8>) {
        let place = match self.objects.plan(&it.extra, 1).variant(part::TYPE) {
            0 => text_type(is_assistant),
            variant => usize::from(variant) - 1,
        };
        let kind = part::TEXT_TYPES.get(place).copied().unwrap_or(part::TEXT_TYPES[0]);
        self.flat(at, &it.extra, &part::TEXT, &[kind.into(), (&it.text).into()], out);
    }

    fn image(&mut self, at: usize, it: &Image, out: &mut Vec<u8>) {
        self.objects.losses.members(Some(at), &[("media_type", it.media_type.is_some())]);
        let [url, file_id, detail] =
            [&it.url, &it.file_id, &it.detail].map(|it| it.as_deref().into());
        self.flat(at, &it.extra, &part::IMAGE, &["input_image".into(), url, file_id, detail], out);
    }

    fn file(&mut self, at: usize, it: &File, out: &mut Vec<u8>) {
        self.objects.losses.members(Some(at), &[("media_type", it.media_type.is_some())]);
        let members = [&it.file_id, &it.url, &it.data, &it.filename];
        let [file_id, url, data, filename] = members.map(|it| it.as_deref().into());
        let values = ["input_file".into(), file_id, url, data, filename];
        self.flat(at, &it.extra, &part::FILE, &values, out);
    }

    /// A part whose members have these values.
    fn flat(
        &mut self,
        at: usize,
        extra: &Extra,
        shape: &Shape,
        values: &[Value<'_>],
        out: &mut Vec<u8>,
    ) {
        let raw = members_of(extra, &RESPONSES, &[ITEM]);
        self.objects.object(at, (&raw, self.objects.plan(extra, 1)), shape, values, out);
    }

    fn audio(&mut self, at: usize, it: &Audio, out: &mut Vec<u8>) {
        self.objects.losses.members(Some(at), &[("transcript", it.transcript.is_some())]);
        let raw = members_of(&it.extra, &RESPONSES, &[ITEM, "input_audio"]);
        let inner = it.extra.get(&RESPONSES, "input_audio").and_then(object_members);
        let inner = inner.unwrap_or_default();
        let (plan, inner_plan) = (self.objects.plan(&it.extra, 1), self.objects.plan(&it.extra, 2));
        let values = [it.data.as_deref().into(), it.format.as_deref().into()];
        let shape = &part::AUDIO_BODY;
        let object = self.objects.inner_object(at, (&inner, inner_plan), shape, &values);
        let values = ["input_audio".into(), Value::Json(&object)];
        self.objects.object(at, (&raw, plan), &part::AUDIO, &values, out);
    }
}
