//! `Serialize` and `Deserialize` of turns: the stored form (MS-19), for `serde_json`.

use msg_core::{RawJson, reading::deserialize};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{ToolStatus, Turn, read, write};

impl Serialize for Turn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawJson::written(|it| it.value(|out| write::write_turn(self, out))).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Turn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer, read::read_turn)
    }
}

impl Serialize for ToolStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ToolStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|it| Self::from(it.as_str()))
    }
}
