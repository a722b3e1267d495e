//! `Serialize` and `Deserialize` of turns: the stored form (MS-19), for `serde_json`.

use msg_core::{RawJson, Report, reading::Source};
use msg_json::Reader;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};

use super::{ToolStatus, Turn, read, write};

impl Serialize for Turn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = Vec::new();
        write::write_turn(self, &mut out);
        let text = String::from_utf8(out).map_err(S::Error::custom)?;
        RawJson::new(text).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Turn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        let mut report = Report::with_cap(0);
        let mut source = Source::new(Reader::from_text(raw.text()), &mut report);
        read::read_turn(&mut source).map_err(D::Error::custom)
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
