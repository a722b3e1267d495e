//! The layout of an object (MS-6): the order of its members and the unusual shapes of their values,
//! one byte per member. Nothing is recorded for an object that the canonical writer restores.
//!
//! A byte is a *slot*: 0 means "the next unknown member"; otherwise the low five bits are the code
//! of a known member ([`Shape`](super::Shape)) and the high three bits the variant of its value, 0
//! for the canonical one. The slots of nested objects follow in separate sections after `SECTION`.
//! Neither that byte nor any slot can occur in JSON text, so the last section may be JSON text.

use std::ops::BitOr;

use msg_core::{Extra, Origin};
use msg_json::{JsonError, Kind, Reader};

use super::fields::{Context, Fields, text_of};
use super::shape::ALIASED;

/// Separates the slots of an object from those of the object inside it.
pub(crate) const SECTION: u8 = 0x1f;

/// Represents the members of an object that had none: a section without slots would mean the canonical order.
const EMPTY: u8 = 0x1e;

const CODE: u8 = 0x1f;
const INLINE: usize = 22;

/// Records the members of an object while it is read.
#[derive(Default)]
pub(crate) struct Order {
    inline: [u8; INLINE],
    len: usize,
    /// All slots, once they no longer fit inline.
    spill: Vec<u8>,
    seen: u32,
    /// [`ALIASED`] once a member had its second spelling; variants then keep this bit.
    aliased: u8,
}

impl Order {
    /// Records a known member; returns false for a duplicate, which keeps its place.
    pub(crate) fn known(&mut self, code: u8) -> bool {
        let first = self.seen & (1 << code) == 0;
        if first {
            self.seen |= 1 << code;
            self.push(code);
        }
        first
    }

    /// Records an unknown member that is not a duplicate.
    pub(crate) fn unknown(&mut self) {
        self.push(0);
    }

    /// Sets the variant of a known member; the last call counts.
    pub(crate) fn vary(&mut self, code: u8, variant: u8) {
        let slots =
            if self.spill.is_empty() { &mut self.inline[..self.len] } else { &mut self.spill[..] };
        if let Some(slot) = slots.iter_mut().find(|it| **it & CODE == code) {
            *slot = (*slot >> 5 & self.aliased | variant) << 5 | code;
        }
    }

    /// Sets whether a known member had its second spelling ([`ALIASED`]); the last call counts.
    pub(crate) fn spell(&mut self, code: u8, spelling: u8) {
        if spelling == 0 && self.aliased == 0 {
            return;
        }
        self.aliased = 0;
        self.vary(code, spelling);
        self.aliased = ALIASED;
    }

    /// Whether a member had its second spelling.
    fn has_alias(&self) -> bool {
        self.aliased != 0 && self.slots().iter().any(|it| it >> 5 & ALIASED != 0)
    }

    /// Removes the slots at these ascending places.
    pub(crate) fn remove(&mut self, places: &[usize]) {
        if places.is_empty() {
            return;
        }
        let mut places = places.iter().peekable();
        let all = std::mem::take(self);
        for (at, &slot) in all.slots().iter().enumerate() {
            if places.next_if_eq(&&at).is_none() {
                self.push(slot);
            }
        }
        self.seen = all.seen;
        self.aliased = all.aliased;
    }

    /// The known members of the source, as bits by code.
    pub(crate) fn seen(&self) -> u32 {
        self.seen
    }

    /// The slots, in source order.
    pub(crate) fn slots(&self) -> &[u8] {
        if self.spill.is_empty() { &self.inline[..self.len] } else { &self.spill }
    }

    /// Whether the canonical writer restores this order: `model` are the members in the model (the others are among the
    /// unknown ones), `canonical` those that it writes.
    pub(crate) fn is_canonical(&self, model: u32, canonical: u32) -> bool {
        let mut last = 0;
        let mut raw = false;
        if self.has_alias() {
            return false;
        }
        for &slot in self.slots() {
            if slot == 0 || model & (1 << (slot & CODE)) == 0 {
                raw = true;
            } else if raw || slot <= last || slot > CODE {
                return false;
            } else {
                last = slot;
            }
        }
        self.seen & model == canonical
    }

    fn push(&mut self, slot: u8) {
        if self.len < INLINE {
            self.inline[self.len] = slot;
            self.len += 1;
            return;
        }
        if self.spill.is_empty() {
            self.spill.extend_from_slice(&self.inline);
        }
        self.spill.push(slot);
    }
}

/// The recorded slots of an object, for its writer.
#[derive(Clone, Copy, Default)]
pub struct SlotPlan<'a> {
    slots: Option<&'a [u8]>,
    present: u32,
}

impl<'a> SlotPlan<'a> {
    /// Reads slots. Invalid bytes are skipped, so any bytes are a plan.
    pub fn new(slots: Option<&'a [u8]>) -> Self {
        let bits = slots.unwrap_or_default().iter().fold(0, |bits, it| bits | 1 << (it & CODE));
        Self { slots, present: bits & !1 }
    }

    /// The plan in this section of a layout.
    pub fn in_layout(layout: Option<&'a [u8]>, number: usize) -> Self {
        Self::new(section(layout, number))
    }

    /// A layout with these sections.
    #[must_use]
    pub fn sections(list: &[&[u8]]) -> Vec<u8> {
        if let [one] = list { one.to_vec() } else { list.join(&SECTION) }
    }

    /// The slots, if an order was recorded.
    pub fn slots(&self) -> Option<&'a [u8]> {
        self.slots
    }

    /// Whether the source had this member; false if the source is unknown.
    pub fn has(&self, code: u8) -> bool {
        self.present & (1 << code) != 0
    }

    /// Whether the source had this member, or the source is unknown.
    pub fn may_have(&self, code: u8) -> bool {
        self.slots.is_none() || self.has(code)
    }

    /// The variant of this member in the source.
    pub fn variant(&self, code: u8) -> u8 {
        let slot = self.slots.unwrap_or_default().iter().find(|it| **it & CODE == code);
        slot.map_or(0, |it| it >> 5)
    }

    /// Whether the source had this flag as false.
    pub fn was_false(&self, code: u8) -> bool {
        self.variant(code) == FLAG_FALSE
    }

    /// As [`SlotPlan::variant`], for an object whose members have second spellings.
    pub fn variant_of_any(&self, code: u8) -> u8 {
        self.variant(code) & !ALIASED
    }
}

/// The number of sections of a layout.
pub(crate) fn count(layout: &[u8]) -> usize {
    1 + layout.iter().filter(|it| **it == SECTION).count()
}

/// Slots as a section.
pub(crate) fn filled(slots: &[u8]) -> &[u8] {
    if slots.is_empty() { &[EMPTY] } else { slots }
}

/// The section of a layout with this number; `None` if it is missing or empty.
pub(crate) fn section(layout: Option<&[u8]>, number: usize) -> Option<&[u8]> {
    let found = layout?.split(|it| *it == SECTION).nth(number)?;
    (!found.is_empty()).then_some(found)
}

// The place of a message in its document, as far as role and parts do not show it: separate or embedded results, and
// system messages among the others (AN-2, GE-8).

/// Marks of a message: one byte, the second section of its layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Placement(u8);

/// Makes the byte differ from every slot and from the section mark.
const BASE: u8 = 0x40;
const ALL: u8 = 0xf;

impl Placement {
    /// The results were a separate message, although the writer would join them with the previous
    /// ones.
    pub const APART: Self = Self(1);
    /// Results came after other parts of the message.
    pub const MIXED: Self = Self(2);
    /// The message was the rest of the message that contained its results.
    pub const JOINED: Self = Self(4);
    /// A system message was in the list, not in the member for instructions.
    pub const LISTED: Self = Self(8);

    /// The marks in a layout; empty if it is not the layout of a message.
    #[must_use]
    pub fn in_layout(layout: Option<&[u8]>) -> Self {
        match section(layout, 1) {
            Some([it]) if it & !ALL == BASE => Self(it & ALL),
            _ => Self(0),
        }
    }

    /// Whether it has this mark.
    #[must_use]
    pub fn has(self, mark: Self) -> bool {
        self.0 & mark.0 != 0
    }

    /// The layout of a message that has no object of its own; empty if there are neither slots nor
    /// marks.
    #[must_use]
    pub fn keep(self, origin: &Origin, slots: &[u8]) -> Extra {
        let mut extra = Extra::default();
        if self.0 != 0 || !slots.is_empty() {
            extra.set_layout(origin.clone(), self.layout(filled(slots)));
        }
        extra
    }

    /// The layout of a message whose source had these slots, with a text in a third section that has no
    /// canonical spelling.
    #[must_use]
    pub fn layout_with(self, slots: &[u8], raw: &str) -> Vec<u8> {
        let marks = [BASE | self.0];
        SlotPlan::sections(&[filled(slots), &marks, raw.as_bytes()])
    }

    fn layout(self, slots: &[u8]) -> Vec<u8> {
        match self.0 {
            0 => slots.to_vec(),
            marks => SlotPlan::sections(&[slots, &[BASE | marks]]),
        }
    }
}

impl BitOr for Placement {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl<'a> Fields<'a> {
    /// As [`Fields::keep`], for a message with marks.
    pub fn keep_placed(
        &mut self,
        canonical: u32,
        placement: Placement,
        origin: &Origin,
        cx: &mut Context<'a, '_>,
    ) -> Extra {
        let is_canonical = self.is_canonical(canonical) && placement.0 == 0;
        let mut extra = Extra::default();
        self.move_extra(cx, origin, &mut extra);
        if !is_canonical {
            extra.set_layout(origin.clone(), placement.layout(self.section()));
        }
        extra
    }
}

// Values with more than one spelling in sources: ids that are numbers, arguments that are not text.

/// The variant of a value that was null.
pub const NULL: u8 = 1;
/// The variant of a flag that was false.
const FLAG_FALSE: u8 = 1;
/// The variant of arguments that were null instead of an object.
pub(super) const ARGUMENTS_NULL: u8 = 1;
/// The variant of arguments that were a string instead of an object.
pub(super) const ARGUMENTS_TEXT: u8 = 2;
/// The variant of arguments that were another value instead of an object.
pub(super) const ARGUMENTS_VALUE: u8 = 3;
/// The id was a number.
const NUMBER: u8 = 2;
/// The arguments were a JSON value instead of a string.
const VALUE: u8 = 2;

impl<'a> Fields<'a> {
    /// Takes an id that is a text, a number or null into the model; a missing one is empty. `None` for other
    /// types, which stay raw.
    pub fn id(&mut self, cx: &mut Context<'a, '_>, code: u8) -> Option<String> {
        let Some(source) = self.raw(code) else { return Some(String::new()) };
        let (id, variant) = match text_of(source) {
            Some(text) => (cx.text(text, self.name(code)), 0),
            None if source == "null" => (String::new(), NULL),
            None => (starts_number(source).then(|| source.to_owned())?, NUMBER),
        };
        if variant == NUMBER {
            cx.shape(format!("{} is a number, no text", self.name(code)));
        }
        self.vary(code, variant);
        self.set_raw(code, None);
        Some(id)
    }

    /// Takes arguments that should be an object into the model (AN-6): the source text, or the value in its place.
    /// Values are reported if their variant is above `fine`: 1 null, 2 a string, 3 another value. Also returns the
    /// source of a string.
    pub fn object_arguments(
        &mut self,
        cx: &mut Context<'a, '_>,
        code: u8,
        fine: u8,
    ) -> (String, Option<&'a str>) {
        let Some(source) = self.raw(code) else { return (String::new(), None) };
        let name = self.name(code);
        let (text, variant) = match source.as_bytes().first() {
            Some(b'n') => (String::new(), ARGUMENTS_NULL),
            Some(b'"') => (cx.text(text_of(source).unwrap_or_default(), name), ARGUMENTS_TEXT),
            Some(b'{') => (argument_text(source), 0),
            _ => (argument_text(source), ARGUMENTS_VALUE),
        };
        self.vary(code, variant);
        if variant > fine {
            cx.shape(format!("{name} is not an object"));
        }
        self.set_raw(code, None);
        (text, (variant == ARGUMENTS_TEXT).then_some(source))
    }

    /// Takes a flag into the model. Other types are reported and stay raw.
    pub fn flag(&mut self, cx: &mut Context<'a, '_>, code: u8) -> bool {
        match self.raw(code) {
            Some("true") => self.set_raw(code, None),
            Some("false") => {
                self.vary(code, FLAG_FALSE);
                self.set_raw(code, None);
                return false;
            }
            None | Some("null") => return false,
            Some(_) => {
                cx.wrong_type(self.name(code));
                return false;
            }
        }
        true
    }

    /// Reads arguments: a text, or the source text of any other value (MS-4).
    pub fn arguments(
        &mut self,
        cx: &mut Context<'a, '_>,
        code: u8,
        reader: &mut Reader<'a>,
    ) -> Result<String, JsonError> {
        let (text, variant) = match reader.peek()? {
            Kind::String => (cx.string(reader.string()?, self.name(code)), 0),
            Kind::Null => reader.null().map(|()| (String::new(), NULL))?,
            _ => (reader.raw()?.to_owned(), VALUE),
        };
        if variant == VALUE {
            cx.shape(format!("{} are a JSON value, no text that holds one", self.name(code)));
        }
        self.vary(code, variant);
        Ok(text)
    }
}

impl SlotPlan<'_> {
    /// Writes a text; null if the source had null and the text is still empty.
    pub fn write_text(self, out: &mut Vec<u8>, code: u8, text: &str) {
        match self.variant(code) {
            NULL if text.is_empty() => out.extend_from_slice(b"null"),
            _ => msg_json::write_str(out, text),
        }
    }

    /// Writes an id with the spelling of its source, if that is still possible.
    pub fn write_id(self, out: &mut Vec<u8>, code: u8, id: &str) {
        match self.variant(code) {
            NUMBER if starts_number(id) && msg_json::validate(id).is_ok() => {
                out.extend_from_slice(id.as_bytes());
            }
            _ => self.write_text(out, code, id),
        }
    }

    /// Writes arguments with the spelling of their source, if that is still possible.
    pub fn write_arguments(self, out: &mut Vec<u8>, code: u8, text: &str) {
        let is_value =
            || !text.starts_with('"') && text != "null" && msg_json::validate(text).is_ok();
        match self.variant(code) {
            VALUE if is_value() => out.extend_from_slice(text.as_bytes()),
            _ => self.write_text(out, code, text),
        }
    }
}

/// The argument text of a JSON value that is not a string (AN-6): its source text, without escapes of
/// characters that need none. Numbers, white space, the order of members and halves of surrogate pairs stay
/// the same.
///
/// ```
/// use msg_codec::codec::argument_text;
///
/// assert_eq!(argument_text(r#"{"n": 1.0, "\u00e9": "a\/\n\ud83e"}"#), "{\"n\": 1.0, \"é\": \"a\\/\\n\\ud83e\"}");
/// ```
#[must_use]
pub fn argument_text(source: &str) -> String {
    if !source.contains('\\') {
        return source.to_owned();
    }
    let mut out = Vec::with_capacity(source.len());
    let mut rest = source;
    while let Some(open) = rest.find('"') {
        let end = msg_json::skip_value(rest.as_bytes(), open).unwrap_or(rest.len());
        out.extend_from_slice(&rest.as_bytes()[..open]);
        write_unescaped(&mut out, &rest[open..end]);
        rest = &rest[end..];
    }
    out.extend_from_slice(rest.as_bytes());
    String::from_utf8(out).expect("because pieces of a text were put together")
}

/// Writes a JSON string with minimal escapes, unless one of them is not a character.
fn write_unescaped(out: &mut Vec<u8>, string: &str) {
    match text_of(string) {
        Some((text, false)) => msg_json::write_str(out, &text),
        _ => out.extend_from_slice(string.as_bytes()),
    }
}

fn starts_number(text: &str) -> bool {
    text.starts_with(|it: char| it == '-' || it.is_ascii_digit())
}
