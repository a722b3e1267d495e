//! A part of a message as a part of a content (GE-4, GE-7, GE-11, GE-18).

use std::borrow::Cow;

use msg_codec::DataUrl;
use msg_codec::codec::{Placed, RawMember, SlotPlan, Value, text_of_part};
use msg_core::{Audio, Extra, File, Image, Message, Origin, Part, Reasoning, Role, Text};

use super::Writer;
use crate::Thoughts;
use crate::read::says_alone;
use crate::shape::{GEMINI, media, part};
use crate::write::ContentForm;

impl<'a> Writer<'a, '_> {
    /// Whether the format has a place for a part.
    pub(super) fn has_place(&self, it: &Part) -> bool {
        match it {
            Part::Text(_) | Part::Refusal(_) | Part::ToolCall(_) | Part::ToolResult(_) => true,
            Part::Reasoning(it) => self.keeps_thought(it),
            Part::Image(it) => self.image_source(it).is_some(),
            Part::Audio(it) => self.audio_source(it).is_some(),
            Part::File(it) => self.file_source(it).is_some(),
            Part::Other(it) => it.format == GEMINI || it.format == Origin::Json,
            _ => false,
        }
    }

    /// A thought goes out as its text; one without any only to where it was.
    fn keeps_thought(&self, it: &Reasoning) -> bool {
        let is_ours = it.text.is_some() && !self.is_converting();
        self.options.thoughts == Thoughts::Keep && (is_ours || !it.display_text().is_empty())
    }

    /// As [`Writer::has_place`], reporting what has none, once a part (AN-20).
    pub(super) fn fits(&mut self, at: usize, it: &Part) -> bool {
        let fits = self.has_place(it);
        match it {
            _ if fits => {}
            Part::Reasoning(_) if self.options.thoughts == Thoughts::None => {
                self.objects.losses.as_asked(at, "thoughts are");
            }
            Part::Reasoning(_) => {
                let text = "a thought without text is sealed for another provider and left out";
                self.objects.losses.warn("convert::lost-part", Some(at), text);
            }
            _ => self.objects.losses.part(at, it.kind()),
        }
        fits
    }

    /// Writes a part that has a place.
    pub(super) fn part(&mut self, at: usize, it: &'a Part, out: &mut Vec<u8>) {
        match it {
            Part::Text(text) => self.text(at, text, out),
            Part::Reasoning(it) => self.thought(at, it, out),
            Part::Image(_) | Part::Audio(_) | Part::File(_) => self.media(at, it, out),
            Part::ToolCall(it) => self.call(at, it, out),
            Part::ToolResult(it) => self.response(at, it, out),
            Part::Other(it) if it.format == GEMINI => {
                out.extend_from_slice(it.value.text().as_bytes());
            }
            _ => self.as_text(at, it, out),
        }
    }

    fn text(&mut self, at: usize, it: &Text, out: &mut Vec<u8>) {
        let is_bare = self.plan(&it.extra).variant_of_any(part::DATA) == part::DATA_BARE;
        if is_bare && it.extra.is_empty() {
            return msg_json::write_str(out, &it.text);
        }
        self.text_part(at, &it.extra, &it.text, out);
    }

    fn as_text(&mut self, at: usize, it: &Part, out: &mut Vec<u8>) {
        self.objects.text_losses(at, it);
        self.text_part(at, it.extra(), text_of_part(it).unwrap_or_default(), out);
    }

    fn text_part(&mut self, at: usize, extra: &Extra, text: &str, out: &mut Vec<u8>) {
        let mut raw = self.members(extra, at, None);
        // It would make a thought of the text.
        let before = raw.len();
        raw.retain(|it| it.name != "thought" || it.value != "true");
        if raw.len() < before {
            self.objects.losses.raw(Some(at), "gemini.thought");
        }
        self.objects.object(at, (&raw, self.plan(extra)), &part::TEXT, &[text.into()], out);
    }

    fn thought(&mut self, at: usize, it: &Reasoning, out: &mut Vec<u8>) {
        let is_said = |it: &Option<String>| it.as_deref().is_some_and(|it| !it.is_empty());
        let has_summary = it.summary.as_ref().is_some_and(|it| !it.is_empty());
        let lost = [
            ("summary", it.text.is_some() && has_summary),
            ("signature", is_said(&it.signature)),
            ("redacted", is_said(&it.redacted)),
            ("encrypted", is_said(&it.encrypted)),
        ];
        self.objects.losses.members(Some(at), &lost);
        let text = it.display_text();
        let raw = self.members(&it.extra, at, None);
        let values = [(&*text).into(), Value::Json(b"true")];
        self.objects.object(at, (&raw, self.plan(&it.extra)), &part::TEXT, &values, out);
    }
}

// Images, sound and files: inline data, or a file by its URI (GE-9).

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
        plan: SlotPlan<'_>,
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

// What goes into `systemInstruction` (GE-3).

impl<'a> Writer<'a, '_> {
    /// The value of `systemInstruction`: the leading messages, and later ones that are hoisted; none if
    /// they have no parts.
    pub(crate) fn system(&mut self, messages: &'a [Message], leading: usize) -> Option<Vec<u8>> {
        if let [one, ..] = messages
            && leading == 1
            && let Some(source) = self.whole(one, |source| says_alone(source, one))
        {
            return Some(source.as_bytes().to_vec());
        }
        let (mut parts, mut sources) = (Vec::new(), Vec::new());
        for (at, it) in messages.iter().enumerate() {
            let is_hoisted = at >= leading && self.hoists() && it.role.is_system();
            if at < leading || is_hoisted {
                self.objects.losses.at_message(at);
                self.instructions(at, it, &mut parts);
                sources.push((at, it));
                if is_hoisted {
                    self.objects.losses.system_moved();
                }
            }
        }
        let mut out = Vec::new();
        match sources.as_slice() {
            [(_, one)] if let Some(text) = self.bare(one).filter(|it| !it.is_empty()) => {
                msg_json::write_str(&mut out, text);
            }
            all if parts.is_empty() => {
                self.unsaid(all);
                return None;
            }
            all => self.content(all, parts, (ContentForm::Alone, None), &mut out),
        }
        Some(out)
    }

    /// Finds the texts of a message; only text has a place, but what was there goes back.
    fn instructions(&mut self, at: usize, it: &'a Message, parts: &mut Vec<Placed<'a>>) {
        if it.role == Role::Developer {
            let text = "developer instructions go with those of the system";
            self.objects.losses.warn("convert::role-changed", None, text);
        }
        for one in Placed::all(at, it) {
            if !self.is_converting() || text_of_part(one.it).is_some() {
                parts.push(one);
            } else {
                self.objects.losses.part(one.part, one.it.kind());
            }
        }
    }

    /// Notes what was beside instructions that have no text.
    fn unsaid(&mut self, messages: &[(usize, &Message)]) {
        for (at, it) in messages {
            self.objects.lose_envelope(*at, it);
        }
    }
}
