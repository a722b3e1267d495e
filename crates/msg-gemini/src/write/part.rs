//! A part of a message as a part of a content (GE-4, GE-7, GE-11, GE-18).

use msg_codec::codec::{Value, text_of_part};
use msg_core::{Extra, Origin, Part, Reasoning, Text};

use super::Writer;
use crate::{
    Thoughts,
    shape::{GEMINI, part},
};

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
