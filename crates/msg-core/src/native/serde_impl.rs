//! `Serialize` and `Deserialize` of messages and parts: the native form (MS-7), for `serde_json`.
//!
//! The functions of this module are faster: they need no second walk over the bytes.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{part, read, write};
use crate::{
    Message, Part,
    raw_serde::{deserialize, serialize},
};

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
