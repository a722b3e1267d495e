//! The bodies around messages: every member raw and in its place, with a hole where the messages
//! are (OA-3). Shared by requests and responses of both wire formats.

use msg_core::{
    Extra, Origin, RawJson,
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
                let value = RawJson::new(reader.raw()?)?;
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
