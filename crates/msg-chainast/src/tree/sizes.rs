//! Sizes that every level of the tree keeps (CA-20 to CA-22).

use std::ops::{AddAssign, SubAssign};

use msg_core::{Message, Part};

/// What a part of the tree holds: bytes, bytes of reasoning, messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) bytes: usize,
    pub(crate) reasoning: usize,
    pub(crate) messages: usize,
}

impl Sizes {
    /// The size of one message.
    pub(crate) fn of(message: &Message) -> Self {
        Sizes { messages: 1, ..message.parts.iter().map(Sizes::of_part).sum() }
    }

    /// The size of one part.
    pub(crate) fn of_part(part: &Part) -> Self {
        Sizes { bytes: part.size(), reasoning: part.reasoning_size(), messages: 0 }
    }
}

impl AddAssign for Sizes {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.reasoning += other.reasoning;
        self.messages += other.messages;
    }
}

impl SubAssign for Sizes {
    fn sub_assign(&mut self, other: Self) {
        self.bytes -= other.bytes;
        self.reasoning -= other.reasoning;
        self.messages -= other.messages;
    }
}

impl std::iter::Sum for Sizes {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        let mut sum = Sizes::default();
        all.for_each(|it| sum += it);
        sum
    }
}
