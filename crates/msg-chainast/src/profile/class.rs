//! Character classes of ids and names: `any`, or `[a-zA-Z0-9_-]`. Classes are ASCII; no other grammar of
//! regular expressions is read.

use std::{fmt, str::FromStr};

use crate::Error;

/// A set of ASCII characters, or every character.
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
}

impl FromStr for CharClass {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text == "any" {
            return Ok(CharClass::any());
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
