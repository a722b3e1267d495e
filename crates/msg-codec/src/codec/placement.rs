//! What the role and the parts of a message do not say of where it stood in its document: results that were a
//! message of their own, or none, and system messages among the others (AN-2, GE-8).

use std::ops::BitOr;

use msg_core::{Extra, Origin};

use super::{
    Context, Fields, Plan,
    layout::{filled, section},
};

/// Marks of a message: one byte, the second section of its layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Placement(u8);

/// Makes the byte differ from every slot, and from the mark of a section.
const BASE: u8 = 0x40;
const ALL: u8 = 0xf;

impl Placement {
    /// The results were a message of their own, though the writer would join them with those before.
    pub const APART: Self = Self(1);
    /// Results stood behind other parts of the message.
    pub const MIXED: Self = Self(2);
    /// The message was the rest of the one that its results were in.
    pub const JOINED: Self = Self(4);
    /// A system message stood among the others, and not in the member that is for it.
    pub const LISTED: Self = Self(8);

    /// What a layout says; nothing if it is none of a message.
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

    /// What a message keeps that has no object of its own; nothing if there are neither slots nor marks.
    #[must_use]
    pub fn keep(self, origin: &Origin, slots: &[u8]) -> Extra {
        let mut extra = Extra::default();
        if self.0 != 0 || !slots.is_empty() {
            extra.set_layout(origin.clone(), self.layout(filled(slots)));
        }
        extra
    }

    /// The layout of a message whose source had these slots, and of which a text is kept that has no canonical
    /// spelling: a third section.
    #[must_use]
    pub fn layout_with(self, slots: &[u8], raw: &str) -> Vec<u8> {
        let marks = [BASE | self.0];
        Plan::sections(&[filled(slots), &marks, raw.as_bytes()])
    }

    fn layout(self, slots: &[u8]) -> Vec<u8> {
        match self.0 {
            0 => slots.to_vec(),
            marks => Plan::sections(&[slots, &[BASE | marks]]),
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
    /// As [`Fields::keep`], of a message that has marks.
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
