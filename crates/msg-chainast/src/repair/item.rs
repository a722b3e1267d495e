//! A message on its way through a repair, and where in the input it came from (CA-71).

use std::borrow::Cow;

use msg_core::{Message, Part};

use crate::tree::Carrier;

/// A part of the input: the index of its message, and its own there.
pub(crate) type Place = (usize, usize);

/// A message, with the place of the input that a finding about it names. A check lends its messages, and what
/// would be changed in one is changed in a copy of that one alone.
#[derive(Debug)]
pub(crate) struct Item<'m> {
    pub(crate) message: Cow<'m, Message>,
    pub(crate) origin: Origin,
}

/// Where a message came from.
#[derive(Debug)]
pub(crate) struct Origin {
    /// The input message; for an inserted one, the message that made it necessary.
    pub(crate) message: usize,
    pub(crate) inserted: bool,
    parts: Places,
}

/// Where the parts of a message came from: message and part.
#[derive(Debug)]
enum Places {
    /// Nobody will ask: where no profile is to judge what was mended, nothing is kept of parts that move.
    Untracked,
    /// From the parts of the same index of the message.
    Own,
    /// The only part from there.
    One(Place),
    /// Each from there.
    Each(Vec<Place>),
}

impl<'m> Item<'m> {
    /// A message of the input, as it came.
    pub(crate) fn whole(message: Message, at: usize) -> Self {
        Item::of(Cow::Owned(message), at)
    }

    /// As [`Item::whole`], of a message that is lent.
    pub(crate) fn of(message: Cow<'m, Message>, at: usize) -> Self {
        Item { message, origin: Origin { message: at, inserted: false, parts: Places::Own } }
    }

    /// The same message as one that was inserted, for a message of the input.
    pub(crate) fn inserted(mut self) -> Self {
        self.origin.inserted = true;
        self
    }

    /// As [`Item::whole`], for a message whose parts nobody will ask about.
    pub(crate) fn untracked(message: Message, at: usize) -> Self {
        let origin = Origin { message: at, inserted: false, parts: Places::Untracked };
        Item { message: Cow::Owned(message), origin }
    }

    /// A new message with one part that came from somewhere.
    pub(crate) fn of_part(mut message: Message, part: Part, place: Place) -> Self {
        message.parts = vec![part];
        let parts = Places::One(place);
        let origin = Origin { message: place.0, inserted: false, parts };
        Item { message: Cow::Owned(message), origin }
    }

    /// Where a part came from.
    pub(crate) fn place(&self, part: usize) -> Place {
        let own = (self.origin.message, part);
        match &self.origin.parts {
            Places::Own | Places::Untracked => own,
            Places::One(place) => *place,
            Places::Each(places) => places.get(part).copied().unwrap_or(own),
        }
    }

    /// The input messages that it is made of, in order: its own, and those whose parts it has.
    pub(crate) fn sources(&self) -> Vec<usize> {
        let parts = (0..self.message.parts.len()).map(|it| self.place(it).0);
        let mut sources: Vec<usize> = std::iter::once(self.origin.message).chain(parts).collect();
        sources.dedup();
        sources
    }

    /// Adds a part that came from elsewhere.
    pub(crate) fn push_part(&mut self, part: Part, place: Place) {
        if let Some(places) = self.places() {
            places.push(place);
        }
        self.message.to_mut().parts.push(part);
    }

    /// Puts parts that came from elsewhere before these.
    pub(crate) fn prepend(&mut self, parts: Vec<(Part, Place)>) {
        let (parts, from): (Vec<Part>, Vec<Place>) = parts.into_iter().unzip();
        if let Some(places) = self.places() {
            places.splice(0..0, from);
        }
        self.message.to_mut().parts.splice(0..0, parts);
    }

    /// Puts a part first.
    pub(crate) fn insert_first(&mut self, part: Part, place: Place) {
        if let Some(places) = self.places() {
            places.insert(0, place);
        }
        self.message.to_mut().parts.insert(0, part);
    }

    /// Keeps the parts for which the predicate, given the index, holds.
    pub(crate) fn retain_parts(&mut self, mut keep: impl FnMut(usize, &Part) -> bool) {
        let parts = self.message.parts.iter().enumerate();
        let Some(first) = parts.clone().find(|it| !keep(it.0, it.1)).map(|it| it.0) else { return };
        let mut kept: Vec<bool> = vec![true; first];
        kept.push(false);
        kept.extend(parts.skip(first + 1).map(|it| keep(it.0, it.1)));
        if let Some(places) = self.places() {
            let mut place = kept.iter();
            places.retain(|_| place.next().copied().unwrap_or(true));
        }
        let mut part = kept.iter();
        self.message.to_mut().parts.retain(|_| part.next().copied().unwrap_or(true));
    }

    /// Takes the parts from this index on, with their places.
    pub(crate) fn split_parts(&mut self, from: usize) -> (Vec<Part>, Vec<Place>) {
        let places = self.places().map_or_else(Vec::new, |it| it.split_off(from));
        (self.message.to_mut().parts.split_off(from), places)
    }

    /// Puts all parts of another message behind these; its name and extra members fill gaps (CA-25). What
    /// finds no gap is dropped, and reported.
    pub(crate) fn merge(&mut self, mut other: Item<'_>) -> Option<Dropped> {
        let dropped = Dropped::between(&self.message, &other.message);
        if let (Some(places), Some(others)) = (self.places(), other.places()) {
            places.append(others);
        }
        let (message, mut other) = (self.message.to_mut(), other.message.into_owned());
        if message.parts.len() == 1 {
            // Two messages in a row are common, three are not.
            message.parts.reserve_exact(other.parts.len());
        }
        message.parts.append(&mut other.parts);
        if message.name.is_none() {
            message.name = other.name;
        }
        message.extra.merge(other.extra);
        dropped
    }

    /// The place of each part, to be changed together with the parts; none if nobody will ask.
    fn places(&mut self) -> Option<&mut Vec<Place>> {
        if let Places::Own | Places::One(_) = self.origin.parts {
            let n_parts = self.message.parts.len();
            self.origin.parts = Places::Each((0..n_parts).map(|part| self.place(part)).collect());
        }
        match &mut self.origin.parts {
            Places::Each(places) => Some(places),
            _ => None,
        }
    }
}

/// What a merge drops of a message, since the one that it joins has another (CA-25).
#[derive(Debug)]
pub(crate) struct Dropped {
    name: Option<String>,
    members: Vec<String>,
}

impl Dropped {
    fn between(kept: &Message, joined: &Message) -> Option<Self> {
        let members = joined.extra.all().filter(|(origin, name, value)| {
            kept.extra.get(origin, name).is_some_and(|kept| kept != *value)
        });
        let members: Vec<String> = members.map(|it| it.1.to_owned()).collect();
        let name = joined.name.clone().filter(|it| kept.name.as_ref().is_some_and(|own| own != it));
        (name.is_some() || !members.is_empty()).then_some(Dropped { name, members })
    }

    /// What stands behind the edit that reports the merge.
    pub(crate) fn text(&self) -> String {
        let members = without_members(&self.members);
        match &self.name {
            Some(name) => format!(", without the name `{name}`{members}"),
            None => members,
        }
    }
}

/// The end of an edit with which these members go.
pub(crate) fn without_members(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|it| format!("`{it}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => format!(", without the member {one}"),
        all => format!(", without the members {}", all.join(", ")),
    }
}

impl Carrier for Item<'_> {
    fn message(&self) -> &Message {
        &self.message
    }

    fn into_message(self) -> Message {
        self.message.into_owned()
    }
}
