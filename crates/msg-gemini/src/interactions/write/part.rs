//! A part of a message as a content, or as a step (GI-6, GI-9, GI-15).

use msg_codec::codec::{Placed, RawMember, text_of_part};
use msg_core::{Extra, Origin, Part};

use super::Writer;
use crate::Thoughts;
use crate::interactions::shape::{INTERACTIONS, STEP, TYPE, text};

impl<'a> Writer<'a, '_> {
    /// Whether the format has a place for a part.
    pub(super) fn has_place(&self, it: &Part) -> bool {
        match it {
            Part::Text(_) | Part::Refusal(_) | Part::ToolCall(_) | Part::ToolResult(_) => true,
            Part::Reasoning(it) => self.keeps_thought(it),
            Part::Image(_) | Part::Audio(_) | Part::File(_) => self.source(it).is_some(),
            Part::Other(it) => it.format == INTERACTIONS || it.format == Origin::Json,
            _ => false,
        }
    }

    /// As [`Writer::has_place`], reporting what has none, once a part.
    pub(super) fn fits(&mut self, one: &Placed<'_>) -> bool {
        let fits = self.has_place(one.it);
        match one.it {
            _ if fits => {}
            Part::Reasoning(_) if self.options.thoughts == Thoughts::None => {
                self.objects.losses.as_asked(one.part, "thoughts are");
            }
            Part::Reasoning(_) => {
                let text = "a thought without text is sealed for another provider and left out";
                self.objects.losses.warn("convert::lost-part", Some(one.part), text);
            }
            it => self.objects.losses.part(one.part, it.kind()),
        }
        fits
    }

    /// Writes a part that has a place; `more` are members that go into its object.
    pub(super) fn part(&mut self, one: &Placed<'a>, more: &[RawMember<'a>], out: &mut Vec<u8>) {
        self.objects.losses.at_message(one.message);
        self.object_of(one.part, one.it, more, out);
    }

    /// As [`Writer::part`], of the message at hand.
    pub(super) fn object_of(
        &mut self,
        at: usize,
        it: &'a Part,
        more: &[RawMember<'a>],
        out: &mut Vec<u8>,
    ) {
        match it {
            Part::Text(it) if more.is_empty() && self.is_bare(&it.extra) => {
                msg_json::write_str(out, &it.text);
            }
            Part::Reasoning(it) => self.thought(at, it, more, out),
            Part::ToolCall(it) => self.call(at, it, more, out),
            Part::ToolResult(it) => self.result(at, it, more, out),
            Part::Image(_) | Part::Audio(_) | Part::File(_) => self.media(at, it, more, out),
            Part::Other(it) if it.format == INTERACTIONS => {
                more.iter().for_each(|it| self.objects.losses.raw(None, &it.name));
                out.extend_from_slice(it.value.text().as_bytes());
            }
            it => {
                self.objects.text_losses(at, it);
                let values = ["text".into(), text_of_part(it).unwrap_or_default().into()];
                self.object(at, (it.extra(), &[STEP], more), &text::SHAPE, &values, out);
            }
        }
    }

    /// Whether a text was a string instead of an object, and still can be one.
    fn is_bare(&self, extra: &Extra) -> bool {
        let is_plain = extra.iter(&INTERACTIONS).all(|it| it.0 == STEP);
        self.plan(extra).variant(TYPE) == text::BARE && is_plain && self.is_verbatim()
    }

    /// Writes the object of a part: these values, and its unknown members but those that are named.
    pub(super) fn object(
        &mut self,
        at: usize,
        (extra, skip, more): (&Extra, &[&str], &[RawMember<'_>]),
        shape: &msg_codec::codec::Shape,
        values: &[msg_codec::codec::Value<'_>],
        out: &mut Vec<u8>,
    ) {
        let mut raw = self.members(extra, at, skip);
        let more = more.iter().filter(|new| raw.iter().all(|it| it.name != new.name));
        let more: Vec<_> =
            more.map(|it| RawMember { name: it.name.clone(), value: it.value }).collect();
        raw.extend(more);
        self.objects.object(at, (&raw, self.plan(extra)), shape, values, out);
    }
}
