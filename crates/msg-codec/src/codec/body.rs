//! The bodies around messages: every member raw and in its place, with a place for what is held elsewhere
//! (OA-3). Shared by requests and responses of all wire formats.
//!
//! ```text
//! {"model":"m","messages":[…],"x":1}      Body, of which `messages` is held:  model "m", messages (a place), x 1
//! ```

use std::collections::BTreeSet;

use msg_core::{Error, Extra, Message, Origin, Provenance, RawJson, Usage};
use msg_json::{Reader, Writer};
use serde::de::DeserializeOwned;

use super::Context;

/// The members of an object in source order. Those that are held elsewhere, such as its messages, have only
/// their places in it, and are neither given nor set here.
///
/// ```
/// use msg_core::RawJson;
/// use msg_codec::codec::Body;
///
/// let mut body = Body::new(&["messages"]);
/// body.set("model", RawJson::string("m"));
/// body.set("messages", RawJson::string("is held elsewhere"));
/// assert_eq!(body.parse::<String>("model").as_deref(), Some("m"));
/// assert_eq!(body.iter().count(), 1);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Body {
    // Members by order and name, with an index above a few: what `Extra` is.
    members: Extra,
    held: &'static [&'static str],
    /// Members that came more than once.
    doubles: BTreeSet<Box<str>>,
}

impl PartialEq for Body {
    /// The same members; that some came more than once is of the source.
    fn eq(&self, other: &Self) -> bool {
        self.members == other.members && self.held == other.held
    }
}

const JSON: Origin = Origin::Json;

impl Body {
    /// A body without members, of which some are held elsewhere.
    #[must_use]
    pub fn new(held: &'static [&'static str]) -> Self {
        Self { members: Extra::default(), held, doubles: BTreeSet::new() }
    }

    /// Reads an object and the value of the first of the members that are held elsewhere; of several of that
    /// name the last counts.
    ///
    /// # Errors
    /// What is no JSON, and what `value` refuses.
    pub fn read<'a, T>(
        reader: &mut Reader<'a>,
        held: &'static [&'static str],
        mut value: impl FnMut(&mut Reader<'a>) -> Result<T, Error>,
    ) -> Result<(Self, Option<T>), Error> {
        let (mut res, mut found) = (Self::new(held), None);
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            let is_held = held.first().is_some_and(|it| key.text == *it);
            let member = match is_held {
                true => {
                    found = Some(value(reader)?);
                    RawJson::written(|it| it.null())
                }
                false => reader.raw_json()?,
            };
            let name: Box<str> = key.text.into();
            if res.has(&name) {
                res.doubles.insert(name.clone());
            }
            res.members.insert(JSON, name, member);
        }
        Ok((res, found))
    }

    /// Notes the members that came more than once, of which the last counts.
    pub fn note_doubles(&self, cx: &mut Context<'_, '_>) {
        self.doubles.iter().for_each(|it| cx.duplicate_in_body(it));
    }

    /// Makes a place for a member that is held elsewhere, where it stands or last.
    pub fn hold(&mut self, name: &str) {
        self.members.insert(JSON, name, RawJson::written(|it| it.null()));
    }

    /// Says anew which members are held elsewhere.
    #[must_use]
    pub fn holding(self, held: &'static [&'static str]) -> Self {
        Self { held, ..self }
    }

    /// Whether the object has this member, here or elsewhere.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.members.get(&JSON, name).is_some()
    }

    /// The raw value of a member.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.members.get(&JSON, name).filter(|_| !self.held.contains(&name))
    }

    /// A member, read as a type; none if it is absent, null or something else.
    #[must_use]
    pub fn parse<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    /// A member that says what an answer cost.
    #[must_use]
    pub fn usage(&self, name: &str) -> Option<Usage> {
        let raw = self.get(name).filter(|it| it.text() != "null");
        raw.cloned().map(Usage::from_raw)
    }

    /// Says of messages which model made them, where this member does: what a signature in them is bound to
    /// (MS-1).
    pub fn note_model(&self, member: &str, messages: &mut [Message]) {
        note_model(self.parse::<String>(member).as_deref(), messages);
    }

    /// Sets a member: in its place if it is there, else last.
    pub fn set(&mut self, name: &str, value: RawJson) {
        if !self.held.contains(&name) {
            self.members.insert(JSON, name, value);
        }
    }

    /// As [`Body::set`], of a value that is written.
    pub fn write_member(&mut self, name: &str, value: impl FnOnce(&mut Writer<'_>)) {
        self.set(name, RawJson::written(value));
    }

    /// As [`Body::write_member`], unless there is no value.
    pub fn write_optional<T>(
        &mut self,
        name: &str,
        value: Option<T>,
        write: impl FnOnce(&mut Writer<'_>, T),
    ) {
        if let Some(value) = value {
            self.write_member(name, |it| write(it, value));
        }
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) {
        if !self.held.contains(&name) {
            self.members.remove(&JSON, name);
        }
    }

    /// The members, in source order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.members.iter(&JSON).filter(|it| !self.held.contains(&it.0))
    }

    /// Puts the members in this order; those that it does not name stay behind the others.
    pub fn sort(&mut self, order: &[&str]) {
        let rank = |name: &str| order.iter().position(|it| *it == name).unwrap_or(order.len());
        let mut members: Vec<_> = self.members.iter(&JSON).collect();
        members.sort_by_key(|it| rank(it.0));
        let mut sorted = Extra::default();
        for (name, value) in members {
            sorted.insert(JSON, name, value.clone());
        }
        self.members = sorted;
    }

    /// Writes the object. In the place of a member that is held elsewhere goes what `held` writes, which gets
    /// its name and what stands there.
    pub fn write(&self, out: &mut Vec<u8>, mut held: impl FnMut(&mut Writer<'_>, &str, &RawJson)) {
        Writer::new(out).object(|it| {
            for (name, raw) in self.members.iter(&JSON) {
                match self.held.contains(&name) {
                    true => held(it, name, raw),
                    false => it.key(name).raw(raw.text()),
                }
            }
        });
    }
}

/// Says of messages which model made them.
pub(crate) fn note_model<'m>(
    model: Option<&str>,
    messages: impl IntoIterator<Item = &'m mut Message>,
) {
    let Some(model) = model.filter(|it| !it.is_empty()) else { return };
    let maker = Provenance { model: Some(model.to_owned()), ..Provenance::default() };
    messages.into_iter().for_each(|it| it.set_provenance(maker.clone()));
}
