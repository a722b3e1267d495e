//! Character classes of ids and names: `any`, `none`, or `[a-zA-Z0-9_-]`. Classes are ASCII; no other grammar of
//! regular expressions is read.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::Error;

/// A set of ASCII characters, or every character, or no character.
///
/// ```
/// use msg_chainast::CharClass;
///
/// let class: CharClass = "[a-zA-Z0-9_-]".parse()?;
/// assert!(class.accepts("get_weather"));
/// assert!(!class.accepts("files.read"));
/// assert!("any".parse::<CharClass>()?.accepts("ж"));
/// # Ok::<(), msg_chainast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharClass {
    text: String,
    /// One bit a character; none for every character.
    set: Option<u128>,
}

impl CharClass {
    /// The class of every character.
    pub fn any() -> Self {
        CharClass { text: "any".to_owned(), set: None }
    }

    /// The class of no character.
    pub fn none() -> Self {
        CharClass { text: "none".to_owned(), set: Some(0) }
    }

    /// The class as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a character belongs to the class.
    pub fn contains(&self, it: char) -> bool {
        match self.set {
            None => true,
            Some(set) => it.is_ascii() && set & (1 << u32::from(it)) != 0,
        }
    }

    /// Whether all characters of a text belong to the class.
    pub fn accepts(&self, text: &str) -> bool {
        text.chars().all(|it| self.contains(it))
    }

    /// Whether the class is that of every character.
    pub fn is_any(&self) -> bool {
        self.set.is_none()
    }

    /// Whether no character belongs to the class.
    pub fn is_none(&self) -> bool {
        self.set == Some(0)
    }
}

impl FromStr for CharClass {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "any" => return Ok(CharClass::any()),
            "none" => return Ok(CharClass::none()),
            _ => {}
        }
        let inner =
            text.strip_prefix('[').and_then(|it| it.strip_suffix(']')).ok_or(Error::CharClass)?;
        if inner.is_empty() || !inner.is_ascii() {
            return Err(Error::CharClass);
        }
        let bytes = inner.as_bytes();
        let mut set = 0_u128;
        let mut at = 0;
        while let Some(&first) = bytes.get(at) {
            // A dash between two characters is a range; first or last it is itself.
            let (last, step) = match bytes.get(at + 1..at + 3) {
                Some([b'-', last]) => (*last, 3),
                _ => (first, 1),
            };
            if first > last {
                return Err(Error::CharClass);
            }
            (first..=last).for_each(|it| set |= 1 << it);
            at += step;
        }
        Ok(CharClass { text: text.to_owned(), set: Some(set) })
    }
}

impl fmt::Display for CharClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// From its text.
impl<'de> Deserialize<'de> for CharClass {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// As its text.
impl Serialize for CharClass {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
