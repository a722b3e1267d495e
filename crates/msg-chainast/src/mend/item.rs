//! A message on its way through a repair, and where in the input it came from (CA-71).

use msg_core::{Message, Part};

/// A message, with the place of the input that a finding about it names.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) message: Message,
    pub(crate) origin: Origin,
}

/// Where a message came from.
#[derive(Debug)]
pub(crate) struct Origin {
    /// The input message; for an inserted one, the message that made it necessary.
    pub(crate) message: usize,
    /// The place of each part, where it is not simply the message's part of that index.
    parts: Option<Vec<(usize, usize)>>,
}

impl Item {
    /// A message of the input, as it came.
    pub(crate) fn whole(message: Message, at: usize) -> Self {
        Item { message, origin: Origin { message: at, parts: None } }
    }

    /// Where a part came from.
    pub(crate) fn place(&self, part: usize) -> (usize, usize) {
        match &self.origin.parts {
            Some(places) => places.get(part).copied().unwrap_or((self.origin.message, part)),
            None => (self.origin.message, part),
        }
    }

    /// Adds a part that came from elsewhere.
    pub(crate) fn push_part(&mut self, part: Part, place: (usize, usize)) {
        self.places().push(place);
        self.message.parts.push(part);
    }

    /// Puts a part first.
    pub(crate) fn insert_first(&mut self, part: Part, place: (usize, usize)) {
        self.places().insert(0, place);
        self.message.parts.insert(0, part);
    }

    /// Keeps the parts for which the predicate, given the index, holds.
    pub(crate) fn retain_parts(&mut self, mut keep: impl FnMut(usize, &Part) -> bool) {
        let mut at = 0;
        let kept: Vec<bool> =
            self.message.parts.iter().enumerate().map(|(i, it)| keep(i, it)).collect();
        if kept.iter().all(|it| *it) {
            return;
        }
        let mut at_place = 0;
        self.places().retain(|_| {
            at_place += 1;
            kept[at_place - 1]
        });
        self.message.parts.retain(|_| {
            at += 1;
            kept[at - 1]
        });
    }

    /// Takes the parts from this index on, with their places.
    pub(crate) fn split_parts(&mut self, from: usize) -> (Vec<Part>, Vec<(usize, usize)>) {
        let places = self.places().split_off(from);
        (self.message.parts.split_off(from), places)
    }

    /// Puts all parts of another message behind these; its name and extra members fill gaps (CA-25).
    pub(crate) fn merge(&mut self, other: Item) {
        let mut other = other;
        let places = std::mem::take(other.places());
        self.places().extend(places);
        self.message.parts.append(&mut other.message.parts);
        if self.message.name.is_none() {
            self.message.name = other.message.name;
        }
        self.message.extra.merge(other.message.extra);
    }

    fn places(&mut self) -> &mut Vec<(usize, usize)> {
        let message = self.origin.message;
        let n_parts = self.message.parts.len();
        self.origin.parts.get_or_insert_with(|| (0..n_parts).map(|part| (message, part)).collect())
    }
}
