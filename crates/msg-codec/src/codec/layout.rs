//! The layout of an object (MS-6): the order of its members and the odd shapes of their values, one
//! byte a member. Nothing is recorded for an object that the canonical writer gives back as it is.
//!
//! A byte is a *slot*: 0 is "the next unknown member", else the low five bits are the code of a
//! known member ([`Shape`](super::Shape)) and the high three the variant of its value, 0 being the
//! canonical one. Slots of nested objects follow in sections of their own behind `SECTION`.
//! Neither that byte nor any slot can occur in JSON text, which a last section may therefore hold.

use super::shape::ALIASED;

/// Separates the slots of an object from those of the object inside it.
pub(super) const SECTION: u8 = 0x1f;

/// Stands for the members of an object that had none: a section without slots would mean the canonical order.
const EMPTY: u8 = 0x1e;

const CODE: u8 = 0x1f;
const INLINE: usize = 22;

/// Records the members of an object while it is read.
#[derive(Default)]
pub(super) struct Order {
    inline: [u8; INLINE],
    len: usize,
    /// All slots, once there are more than fit inline.
    spill: Vec<u8>,
    seen: u32,
    /// [`ALIASED`] once a member had its second spelling: variants then keep this bit.
    aliased: u8,
}

impl Order {
    /// Notes a known member; false if it was there before, and then it keeps its place.
    pub(super) fn known(&mut self, code: u8) -> bool {
        let first = self.seen & (1 << code) == 0;
        if first {
            self.seen |= 1 << code;
            self.push(code);
        }
        first
    }

    /// Notes a member that the model does not know and that was not there before.
    pub(super) fn unknown(&mut self) {
        self.push(0);
    }

    /// Says in which variant a known member came; the last one counts.
    pub(super) fn vary(&mut self, code: u8, variant: u8) {
        let slots =
            if self.spill.is_empty() { &mut self.inline[..self.len] } else { &mut self.spill[..] };
        if let Some(slot) = slots.iter_mut().find(|it| **it & CODE == code) {
            *slot = (*slot >> 5 & self.aliased | variant) << 5 | code;
        }
    }

    /// Says whether a known member came in its second spelling ([`ALIASED`]); the last one counts.
    pub(super) fn spell(&mut self, code: u8, spelling: u8) {
        if spelling == 0 && self.aliased == 0 {
            return;
        }
        self.aliased = 0;
        self.vary(code, spelling);
        self.aliased = ALIASED;
    }

    /// Whether a member came in its second spelling.
    fn has_alias(&self) -> bool {
        self.aliased != 0 && self.slots().iter().any(|it| it >> 5 & ALIASED != 0)
    }

    /// Takes the slots at these places out, which ascend.
    pub(super) fn remove(&mut self, places: &[usize]) {
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

    /// The known members that were there, as bits by code.
    pub(super) fn seen(&self) -> u32 {
        self.seen
    }

    /// The slots, in source order.
    pub(super) fn slots(&self) -> &[u8] {
        if self.spill.is_empty() { &self.inline[..self.len] } else { &self.spill }
    }

    /// Whether the canonical writer gives this order back: `model` are the members that live in
    /// the model (the others are among the unknown ones), `canonical` those that it writes.
    pub(super) fn is_canonical(&self, model: u32, canonical: u32) -> bool {
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

/// The recorded slots of one object, as its writer asks for them.
#[derive(Clone, Copy, Default)]
pub struct Plan<'a> {
    slots: Option<&'a [u8]>,
    present: u32,
}

impl<'a> Plan<'a> {
    /// Reads slots; bytes that are none are passed over, so that any bytes are a plan.
    pub fn new(slots: Option<&'a [u8]>) -> Self {
        let bits = slots.unwrap_or_default().iter().fold(0, |bits, it| bits | 1 << (it & CODE));
        Self { slots, present: bits & !1 }
    }

    /// The plan of this section of a layout.
    pub fn in_layout(layout: Option<&'a [u8]>, number: usize) -> Self {
        Self::new(section(layout, number))
    }

    /// The layout that has these sections.
    #[must_use]
    pub fn sections(list: &[&[u8]]) -> Vec<u8> {
        if let [one] = list { one.to_vec() } else { list.join(&SECTION) }
    }

    /// The slots, if an order was recorded.
    pub fn slots(&self) -> Option<&'a [u8]> {
        self.slots
    }

    /// Whether the source is known to have had this member.
    pub fn has(&self, code: u8) -> bool {
        self.present & (1 << code) != 0
    }

    /// Whether the source had this member, or nothing is known of the source.
    pub fn may_have(&self, code: u8) -> bool {
        self.slots.is_none() || self.has(code)
    }

    /// In which variant the source had this member.
    pub fn variant(&self, code: u8) -> u8 {
        let slot = self.slots.unwrap_or_default().iter().find(|it| **it & CODE == code);
        slot.map_or(0, |it| it >> 5)
    }

    /// As [`Plan::variant`], of an object whose members have second spellings.
    pub fn variant_of_any(&self, code: u8) -> u8 {
        self.variant(code) & !ALIASED
    }
}

/// How many sections a layout has.
pub(super) fn count(layout: &[u8]) -> usize {
    1 + layout.iter().filter(|it| **it == SECTION).count()
}

/// Slots as a section.
pub(super) fn filled(slots: &[u8]) -> &[u8] {
    if slots.is_empty() { &[EMPTY] } else { slots }
}

/// The section of a layout with this number; none if it is missing or empty.
pub(super) fn section(layout: Option<&[u8]>, number: usize) -> Option<&[u8]> {
    let found = layout?.split(|it| *it == SECTION).nth(number)?;
    (!found.is_empty()).then_some(found)
}
