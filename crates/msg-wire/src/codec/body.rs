//! The bodies around messages: every member raw and in its place, with a hole where the messages
//! are (OA-3). Shared by requests and responses of both wire formats.

use msg_core::{
    Extra, Message, Origin, Provenance, RawJson,
    json::{JsonError, Reader, Writer},
};
use serde::de::DeserializeOwned;

/// The members of an object in source order; that of the hole is held elsewhere.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Body {
    // Members by order and name, with an index above a few: what `Extra` is.
    members: Extra,
}

const JSON: Origin = Origin::Json;

impl Body {
    /// Reads an object; `hole` reads the value of its member, and may be called again for a
    /// duplicate, whose value counts.
    pub fn read<'a, E: From<JsonError>>(
        reader: &mut Reader<'a>,
        is_hole: impl Fn(&str) -> bool,
        mut hole: impl FnMut(&mut Reader<'a>) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut res = Self::default();
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            if is_hole(&key.text) {
                hole(reader)?;
                res.dig(&key.text);
            } else {
                let value = reader.raw_json()?;
                res.members.insert(JSON, key.text, value);
            }
        }
        Ok(res)
    }

    /// Makes place for a member that is held elsewhere.
    pub fn dig(&mut self, name: &str) {
        let nothing = RawJson::new("null").expect("null is JSON");
        self.members.insert(JSON, name, nothing);
    }

    /// The raw value of a member.
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.members.get(&JSON, name)
    }

    /// A member, read as a type; none if it is absent, null or something else.
    pub fn parse<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    /// Says of messages which model made them, where this member does: what a signature in them is bound to
    /// (MS-1).
    pub fn note_model<'m>(
        &self,
        member: &str,
        messages: impl IntoIterator<Item = &'m mut Message>,
    ) {
        note_model(self.parse::<String>(member).as_deref(), messages);
    }

    /// Sets a member: in its place if it is there, else last.
    pub fn set(&mut self, name: &str, value: RawJson) {
        self.members.insert(JSON, name, value);
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) {
        self.members.remove(&JSON, name);
    }

    /// The members, in source order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.members.iter(&JSON)
    }

    /// Writes the object, that of `hole` through `value`.
    pub fn write(&self, out: &mut Vec<u8>, hole: &str, mut value: impl FnMut(&mut Vec<u8>)) {
        Writer::new(out).object(|it| {
            for (name, raw) in self.iter() {
                match name == hole {
                    true => it.key(name).value(&mut value),
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
