//! The `content` of a message or of a tool result.

use msg_core::{Audio, Extra, File, Image, Origin, Part, Place, Text};

use super::{OPENAI, Writer};
use crate::{
    chat::shape::{body, message, part},
    text_blocks::write_block,
};
use msg_codec::codec::{Shape, Value, members_of};

/// The parts that go into a `content`, each with the part of the message that findings name: its own, or the
/// result that it is in.
pub(super) type Contents<'m> = [(usize, &'m Part)];

/// Whether the format has a place for this part among the contents.
pub(super) fn fits(it: &Part) -> bool {
    match it {
        Part::Text(_) | Part::Refusal(_) => true,
        Part::Image(it) => it.url.is_some(),
        Part::Audio(it) => !is_reply(it) && it.data.is_some(),
        Part::File(it) => it.file_id.is_some() || it.data.is_some(),
        Part::Other(it) => match it.format {
            Origin::Json => true,
            Origin::OpenAi => matches!(it.place, None | Some(Place::Content)),
            _ => false,
        },
        _ => false,
    }
}

/// Whether it is a reply of the model, which has a member of its own. Sound that says in which format
/// it is was given to the model, whatever id it has beside.
pub(super) fn is_reply(it: &Audio) -> bool {
    it.id.is_some() && (it.data.is_none() || it.format.is_none())
}

/// The text that a part is written as: that of a text part, or the source of a JSON part.
pub(crate) fn text_of(it: &Part) -> Option<&str> {
    match it {
        Part::Text(it) => Some(&it.text),
        Part::Other(it) if it.format == Origin::Json => Some(it.value.text()),
        _ => None,
    }
}

impl Writer<'_> {
    /// Writes the value of `content`; the variant is the one that the source had.
    pub(super) fn content(&mut self, contents: &Contents<'_>, variant: u8, out: &mut Vec<u8>) {
        match contents {
            [] if variant == message::CONTENT_NULL => out.extend_from_slice(b"null"),
            [] if variant == message::CONTENT_ARRAY => out.extend_from_slice(b"[]"),
            [] => out.extend_from_slice(b"\"\""),
            [one] if variant != message::CONTENT_ARRAY && self.is_plain(one.1) => {
                self.objects.joined(contents, "", out);
            }
            all if self.options.joins(all) => {
                self.objects.joined(all, &self.options.text_separator, out);
            }
            all => msg_json::Writer::new(out).array(all, |it, &(at, part)| {
                it.value(|out| self.content_part(at, part, out));
            }),
        }
    }

    /// Whether a part that is the only one is written as a string.
    fn is_plain(&self, it: &Part) -> bool {
        text_of(it).is_some()
            && self.objects.layout(it.extra()).is_none()
            && it.extra().iter(&OPENAI).next().is_none()
    }

    fn content_part(&mut self, at: usize, it: &Part, out: &mut Vec<u8>) {
        self.objects.losses.foreign(it.extra(), Some(&OPENAI), Some(at));
        match it {
            Part::Text(it) => self.text(at, it, &part::TEXT, "text", out),
            Part::Refusal(it) => self.text(at, it, &part::REFUSAL, "refusal", out),
            Part::Image(it) => self.image(at, it, out),
            Part::Audio(it) => self.input_audio(at, it, out),
            Part::File(it) => self.file(at, it, out),
            Part::Reasoning(it) => self.thinking(at, it, out),
            Part::Other(other) if other.format == OPENAI => {
                out.extend_from_slice(other.value.text().as_bytes());
            }
            Part::Other(json) => {
                self.objects.text_losses(at, it);
                write_block(&mut msg_json::Writer::new(out), "text", json.value.text());
            }
            _ => self.objects.losses.part(at, it.kind()),
        }
    }

    fn text(&mut self, at: usize, it: &Text, shape: &Shape, name: &str, out: &mut Vec<u8>) {
        let plan = self.plan(&it.extra);
        let raw = members_of(&it.extra, &OPENAI, &[]);
        if plan.variant(part::TYPE) == part::TYPE_BARE && raw.is_empty() && name == "text" {
            return msg_json::write_str(out, &it.text);
        }
        self.objects.object(at, (&raw, plan), shape, &[name.into(), (&it.text).into()], out);
    }

    fn image(&mut self, at: usize, it: &Image, out: &mut Vec<u8>) {
        let lost = [("file_id", it.file_id.is_some()), ("media_type", it.media_type.is_some())];
        self.objects.losses.members(Some(at), &lost);
        let url = it.url.as_deref().unwrap_or_default();
        let values = [url.into(), it.detail.as_deref().into()];
        let plan = self.plan(&it.extra);
        let is_bare = plan.variant(part::BODY) == part::BODY_STRING
            && it.detail.is_none()
            && it.extra.get(&OPENAI, "image_url").is_none();
        let bare = is_bare.then_some(url);
        self.nested(at, &it.extra, (&part::IMAGE, "image_url"), &body::IMAGE, &values, bare, out);
    }

    fn input_audio(&mut self, at: usize, it: &Audio, out: &mut Vec<u8>) {
        let lost = [("id", it.id.is_some()), ("transcript", it.transcript.is_some())];
        self.objects.losses.members(Some(at), &lost);
        let values = [it.data.as_deref().into(), it.format.as_deref().into()];
        let outer = (&part::AUDIO, "input_audio");
        self.nested(at, &it.extra, outer, &body::INPUT_AUDIO, &values, None, out);
    }

    fn file(&mut self, at: usize, it: &File, out: &mut Vec<u8>) {
        let lost = [("url", it.url.is_some()), ("media_type", it.media_type.is_some())];
        self.objects.losses.members(Some(at), &lost);
        let values = [&it.file_id, &it.data, &it.filename].map(|it| it.as_deref().into());
        self.nested(at, &it.extra, (&part::FILE, "file"), &body::FILE, &values, None, out);
    }

    /// A part whose body is an object of texts, or a bare string.
    #[expect(clippy::too_many_arguments, reason = "two objects, one inside the other")]
    fn nested(
        &mut self,
        at: usize,
        extra: &Extra,
        (outer, name): (&Shape, &str),
        inner: &Shape,
        values: &[Value<'_>],
        bare: Option<&str>,
        out: &mut Vec<u8>,
    ) {
        let raw = members_of(extra, &OPENAI, &[name]);
        let (inner_raw, inner_plan) = self.objects.inner(at, extra, name);
        let object;
        let body = match bare {
            Some(bare) => bare.into(),
            None => {
                object = self.objects.inner_object(at, (&inner_raw, inner_plan), inner, values);
                Value::Json(&object)
            }
        };
        self.objects.object(at, (&raw, self.plan(extra)), outer, &[name.into(), body], out);
    }

    /// The `audio` of a message: a reply of the model.
    pub(super) fn audio(&mut self, at: usize, it: &Audio, out: &mut Vec<u8>) {
        self.objects.losses.foreign(&it.extra, Some(&OPENAI), Some(at));
        self.objects.losses.members(Some(at), &[("format", it.format.is_some())]);
        let values = [&it.id, &it.data, &it.transcript].map(|it| it.as_deref().into());
        let raw = members_of(&it.extra, &OPENAI, &[]);
        self.objects.object(at, (&raw, self.plan(&it.extra)), &body::AUDIO, &values, out);
    }
}
