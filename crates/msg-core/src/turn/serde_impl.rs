//! `Serialize` and `Deserialize` of turns: the stored form (MS-19), for `serde_json`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Turn, read, write};
use crate::raw_serde::{deserialize, serialize};

impl Serialize for Turn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(serializer, |out| write::write_turn(self, out))
    }
}

impl<'de> Deserialize<'de> for Turn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer, read::read_turn)
    }
}
