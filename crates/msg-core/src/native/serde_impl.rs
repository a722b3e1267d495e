//! `Serialize` and `Deserialize` of messages and parts: the native form (MS-7), for `serde_json`.
//!
//! The form carries raw JSON, so that other data formats of serde cannot hold it. The functions of
//! this module are faster: they go from bytes to messages without serde between.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};
use serde_json::value::RawValue;

use super::{part, read, write};
use crate::{Error, Message, Part, Report, json::Reader, reading::Source};

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(serializer, |out| write::write_message(self, out))
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(serializer, |out| write::write_part(self, out))
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer, read::read_message)
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer, part::read)
    }
}

fn serialize<S: Serializer>(
    serializer: S,
    write: impl FnOnce(&mut Vec<u8>),
) -> Result<S::Ok, S::Error> {
    let mut out = Vec::new();
    write(&mut out);
    let text = String::from_utf8(out).map_err(S::Error::custom)?;
    RawValue::from_string(text).map_err(S::Error::custom)?.serialize(serializer)
}

fn deserialize<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    read: impl FnOnce(&mut Source<'_, '_>) -> Result<T, Error>,
) -> Result<T, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    let mut report = Report::with_cap(0);
    let mut source = Source::new(Reader::from_text(raw.get()), &mut report);
    read(&mut source).map_err(D::Error::custom)
}
