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
    parts: Places,
}

/// Where the parts of a message came from: message and part.
#[derive(Debug)]
enum Places {
    /// From the parts of the same index of the message.
    Own,
    /// The only part from there.
    One((usize, usize)),
    /// Each from there.
    Each(Vec<(usize, usize)>),
}

impl Item {
    /// A message of the input, as it came, or one that was inserted for a message of the input.
    pub(crate) fn whole(message: Message, at: usize) -> Self {
        Item { message, origin: Origin { message: at, parts: Places::Own } }
    }

    /// A new message with one part that came from somewhere.
    pub(crate) fn of_part(mut message: Message, part: Part, place: (usize, usize)) -> Self {
        message.parts = vec![part];
        Item { message, origin: Origin { message: place.0, parts: Places::One(place) } }
    }

    /// Where a part came from.
    pub(crate) fn place(&self, part: usize) -> (usize, usize) {
        let own = (self.origin.message, part);
        match &self.origin.parts {
            Places::Own => own,
            Places::One(place) => *place,
            Places::Each(places) => places.get(part).copied().unwrap_or(own),
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
        let parts = self.message.parts.iter().enumerate();
        let Some(first) = parts.clone().find(|it| !keep(it.0, it.1)).map(|it| it.0) else { return };
        let mut kept: Vec<bool> = vec![true; first];
        kept.push(false);
        kept.extend(parts.skip(first + 1).map(|it| keep(it.0, it.1)));
        let mut place = kept.iter();
        self.places().retain(|_| place.next().copied().unwrap_or(true));
        let mut part = kept.iter();
        self.message.parts.retain(|_| part.next().copied().unwrap_or(true));
    }

    /// Takes the parts from this index on, with their places.
    pub(crate) fn split_parts(&mut self, from: usize) -> (Vec<Part>, Vec<(usize, usize)>) {
        let places = self.places().split_off(from);
        (self.message.parts.split_off(from), places)
    }

    /// Puts all parts of another message behind these; its name and extra members fill gaps (CA-25).
    pub(crate) fn merge(&mut self, mut other: Item) {
        let places = std::mem::take(other.places());
        self.places().extend(places);
        self.message.parts.append(&mut other.message.parts);
        if self.message.name.is_none() {
            self.message.name = other.message.name;
        }
        self.message.extra.merge(other.message.extra);
    }

    fn places(&mut self) -> &mut Vec<(usize, usize)> {
        let n_parts = self.message.parts.len();
        let places = (0..n_parts).map(|part| self.place(part));
        let each = match &self.origin.parts {
            Places::Each(_) => None,
            _ => Some(places.collect()),
        };
        if let Some(each) = each {
            self.origin.parts = Places::Each(each);
        }
        match &mut self.origin.parts {
            Places::Each(places) => places,
            _ => unreachable!("because it was just made"),
        }
    }
}
