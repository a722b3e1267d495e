//! JSON that is carried, not understood: the exact source text of one value.

use std::{fmt, str::FromStr};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned, ser::Error as _,
};
use serde_json::value::RawValue;

use crate::{JsonError, Reader, Writer, to_text, tokens, validate, write_compact};

/// One JSON value as its source text: numbers keep their spelling, members their order, and
/// nesting may be of any depth (MS-8).
///
/// Two of them are equal if their texts are, white space between tokens aside.
///
/// ```
/// use msg_json::RawJson;
///
/// let raw = RawJson::new(r#"{"n": 1.0}"#)?;
/// assert_eq!(raw.text(), r#"{"n": 1.0}"#);
/// assert_eq!(raw, RawJson::new(r#"{"n":1.0}"#)?);
/// assert_eq!(raw.compact_len(), 9);
/// # Ok::<(), msg_json::JsonError>(())
/// ```
#[derive(Clone)]
pub struct RawJson(Box<str>);

impl RawJson {
    /// Takes a text that is one JSON value; white space around it is dropped.
    ///
    /// # Errors
    /// The text is not exactly one JSON value; the error has the byte offset.
    pub fn new(text: impl Into<String>) -> Result<Self, JsonError> {
        let mut text = text.into();
        validate(&text)?;
        let blanks = [' ', '\n', '\r', '\t'];
        if text.starts_with(blanks) || text.ends_with(blanks) {
            text = text.trim_matches(blanks).to_owned();
        }
        Ok(Self(text.into_boxed_str()))
    }

    /// Takes a text that a reader has walked over, without walking over it again.
    pub(crate) fn from_walked(text: &str) -> Self {
        Self(text.into())
    }

    /// The value that `fill` writes. It is not looked at again: a writer writes JSON.
    ///
    /// ```
    /// use msg_json::RawJson;
    ///
    /// let raw = RawJson::written(|it| it.object(|it| it.key("n").u64(1)));
    /// assert_eq!(raw.text(), r#"{"n":1}"#);
    /// ```
    pub fn written(fill: impl FnOnce(&mut Writer<'_>)) -> Self {
        Self(to_text(fill).into_boxed_str())
    }

    /// The JSON string of this text.
    pub fn string(text: &str) -> Self {
        Self::written(|it| it.str(text))
    }

    /// The source text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Reads the value into a type.
    ///
    /// # Errors
    /// What serde_json says of a value that does not fit the type, or nests deeper than 128.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.text())
    }

    /// The members of an object, in order, duplicates included; none if it is something else. Linear.
    ///
    /// ```
    /// use msg_json::RawJson;
    ///
    /// let members = RawJson::new(r#"{"a":1.0,"b":[]}"#)?.members().expect("because it is an object");
    /// assert_eq!((members[0].0.as_str(), members[0].1.text()), ("a", "1.0"));
    /// # Ok::<(), msg_json::JsonError>(())
    /// ```
    pub fn members(&self) -> Option<Vec<(String, RawJson)>> {
        let mut reader = Reader::from_text(self.text());
        reader.begin_object().ok()?;
        let mut res = Vec::new();
        while let Some(name) = reader.next_key().ok()? {
            res.push((name.text.into_owned(), reader.raw_json().ok()?));
        }
        Some(res)
    }

    /// The members of an object that are not null, in order; none of another value.
    pub fn present_members(&self) -> Option<Vec<(String, RawJson)>> {
        let mut members = self.members()?;
        members.retain(|it| it.1.text() != "null");
        Some(members)
    }

    /// This value, if it is a number.
    pub fn number(&self) -> Option<Self> {
        self.parse::<f64>().is_ok().then(|| self.clone())
    }

    /// Length in bytes of the text without white space between tokens (CA-20).
    pub fn compact_len(&self) -> usize {
        tokens(self.text()).map(str::len).sum()
    }

    /// Appends the text without white space between tokens, which makes it one line.
    pub fn write_compact(&self, out: &mut Vec<u8>) {
        write_compact(out, self.text());
    }
}

impl FromStr for RawJson {
    type Err = JsonError;

    /// As [`RawJson::new`].
    fn from_str(text: &str) -> Result<Self, JsonError> {
        Self::new(text)
    }
}

impl From<serde_json::Value> for RawJson {
    /// The value, written without white space.
    fn from(value: serde_json::Value) -> Self {
        Self(value.to_string().into_boxed_str())
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text() || tokens(self.text()).eq(tokens(other.text()))
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
        // The text is JSON; that serde_json looks at it again is the price of its type.
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|it| Self(it.into()))
    }
}
