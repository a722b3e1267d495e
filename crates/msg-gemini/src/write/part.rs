//! A part of a message as a part of a content (GE-4, GE-7, GE-11, GE-18).

use std::borrow::Cow;

use msg_codec::codec::{
    ListWriter, MediaSource, Placed, RawMember, SlotPlan, Value, object_members, text_of,
    text_of_part,
};
use msg_core::{Extra, Message, Origin, Part, RawJson, Reasoning, Role, Text};

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
            Part::Image(_) | Part::Audio(_) | Part::File(_) => self.source(it).is_some(),
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
        if !fits {
            self.options.thoughts.lose(at, it, &mut self.objects.losses);
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

impl<'a> Writer<'a, '_> {
    /// Where a medium has its bytes; none if the format has no place for that.
    fn source<'m>(&self, it: &'m Part) -> Option<MediaSource<'m>> {
        let spelled = || {
            let members = it.extra().get(&GEMINI, INLINE).and_then(object_members)?;
            let kept = members.iter().find(|it| it.name == "mimeType")?;
            Some(text_of(kept.value)?.0.into_owned())
        };
        let mut res = MediaSource::of(it, spelled)?;
        // Other formats write `image/*` where nothing more is known, which the API refuses.
        if res.link.is_some() && self.is_converting() {
            res.media_type.take_if(|it| it.ends_with("/*"));
        }
        if let (None, Some(url)) = (&res.media_type, res.link)
            && self.objects.plan(it.extra(), 1).may_have(media::MIME)
        {
            res.media_type = msg_codec::media_type_of_url(url).map(Cow::Borrowed);
        }
        Some(res)
    }

    /// Writes a medium that has a source.
    pub(super) fn media(&mut self, at: usize, it: &'a Part, out: &mut Vec<u8>) {
        let Some(source) = self.source(it) else { return };
        source.lose(at, it, &["filename"], &mut self.objects.losses);
        let name = if let Part::File(it) = it { it.filename.as_deref() } else { None };
        let (kind, shape) = match source.data {
            Some(_) => (INLINE, &part::INLINE),
            None => (FILE, &part::FILE),
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
        (source, name): (&MediaSource<'_>, Option<&str>),
        plan: SlotPlan<'_>,
        raw: &[RawMember<'_>],
    ) -> Vec<u8> {
        let shape = if source.data.is_some() { &media::INLINE } else { &media::FILE };
        let data = source.data.or(source.link);
        let has_raw = raw.iter().any(|it| it.name == "mimeType");
        let media_type = source.media_type.as_deref().filter(|_| !has_raw);
        let values = [media_type.into(), data.into(), name.into()];
        self.objects.inner_object(at, (raw, plan), shape, &values)
    }
}

// What goes into `systemInstruction` (GE-3).

impl<'a> ListWriter<'a> for Writer<'a, '_> {
    fn system(&mut self, messages: &'a [Message], leading: usize) -> Option<Vec<u8>> {
        if let [one, ..] = messages
            && leading == 1
            && let Some(source) = self.whole(one, |source| says_alone(source, one))
        {
            return Some(source.as_bytes().to_vec());
        }
        let (mut parts, mut sources) = (Vec::new(), Vec::new());
        for (at, it) in self.later_system().instructions(messages, leading) {
            self.objects.losses.at_message(at);
            self.instructions(at, it, &mut parts);
            sources.push((at, it));
            if at >= leading {
                self.objects.losses.system_moved();
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

    fn list(&mut self, messages: &'a [Message], first: usize, out: &mut Vec<u8>) {
        let mut groups = self.groups(messages, first);
        groups.retain(|it| !self.is_lost(it));
        msg_json::Writer::new(out).array(groups, |out, group| {
            out.value(|out| self.group(&group, ContentForm::List, out));
        });
    }

    fn single(&mut self, messages: &'a [Message], first: usize, out: &mut Vec<u8>) {
        if !self.objects.keeps_layout() {
            return self.list(messages, first, out);
        }
        let mut groups = self.groups(messages, first);
        let bare = match messages {
            [one] => self.bare(one),
            _ => None,
        };
        match (bare, groups.as_mut_slice()) {
            (Some(text), _) => msg_json::write_str(out, text),
            (None, [one]) => self.group(one, ContentForm::List, out),
            _ => self.list(messages, first, out),
        }
    }

    fn keeps(&self, _: &RawJson) -> bool {
        self.objects.keeps_layout()
    }
}

impl<'a> Writer<'a, '_> {
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
