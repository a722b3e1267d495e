//! JSON that is carried, not understood: the exact source text of one value.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::json::{self, JsonError};

/// One JSON value as its source text: numbers keep their spelling, members their order, and
/// nesting may be of any depth (MS-8).
///
/// Two of them are equal if their texts are, white space between tokens aside.
///
/// ```
/// use msg_core::RawJson;
///
/// let raw = RawJson::new(r#"{"n": 1.0}"#)?;
/// assert_eq!(raw.text(), r#"{"n": 1.0}"#);
/// assert_eq!(raw, RawJson::new(r#"{"n":1.0}"#)?);
/// assert_eq!(raw.compact_len(), 9);
/// # Ok::<(), msg_core::json::JsonError>(())
/// ```
#[derive(Clone)]
pub struct RawJson(Box<RawValue>);

impl RawJson {
    /// Takes a text that is one JSON value; white space around it is dropped.
    ///
    /// # Errors
    /// The text is not exactly one JSON value; the error has the byte offset.
    pub fn new(text: impl Into<String>) -> Result<Self, JsonError> {
        let text = text.into();
        json::validate(&text)?;
        Ok(RawValue::from_string(text).map(Self).expect("the text was validated as JSON above"))
    }

    /// Takes a text that a reader has walked over, without walking over it again ourselves.
    pub(crate) fn from_walked(text: &str) -> Self {
        let raw = RawValue::from_string(text.to_owned());
        raw.map(Self).expect("a reader that refuses more than serde_json walked over it")
    }

    /// The JSON string of this text.
    pub fn string(text: &str) -> Self {
        let mut out = Vec::with_capacity(text.len() + 2);
        json::write_str(&mut out, text);
        let text = String::from_utf8(out).expect("an escaped text is UTF-8");
        Self(RawValue::from_string(text).expect("an escaped text is JSON"))
    }

    /// The source text.
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// Reads the value into a type.
    ///
    /// # Errors
    /// What serde_json says of a value that does not fit the type, or nests deeper than 128.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.text())
    }

    /// Length in bytes of the text without white space between tokens (CA-20).
    pub fn compact_len(&self) -> usize {
        json::compact_len(self.text())
    }

    /// Appends the text without white space between tokens, which makes it one line.
    pub fn write_compact(&self, out: &mut Vec<u8>) {
        json::write_compact(out, self.text());
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text() || json::tokens(self.text()).eq(json::tokens(other.text()))
    }
}

impl Eq for RawJson {}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawJson({})", self.text())
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self)
    }
}
