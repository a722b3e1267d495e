//! `Serialize` and `Deserialize` through the readers and writers of bytes.
//!
//! The forms carry raw JSON, so that the impls are for `serde_json`; other data formats of serde
//! cannot hold them.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};
use serde_json::value::RawValue;

use crate::{Error, Report, reading::Source};
use msg_json::Reader;

pub(crate) fn serialize<S: Serializer>(
    serializer: S,
    write: impl FnOnce(&mut Vec<u8>),
) -> Result<S::Ok, S::Error> {
    let mut out = Vec::new();
    write(&mut out);
    let text = String::from_utf8(out).map_err(S::Error::custom)?;
    RawValue::from_string(text).map_err(S::Error::custom)?.serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    read: impl FnOnce(&mut Source<'_, '_>) -> Result<T, Error>,
) -> Result<T, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    let mut report = Report::with_cap(0);
    let mut source = Source::new(Reader::from_text(raw.get()), &mut report);
    read(&mut source).map_err(D::Error::custom)
}
