//! The values of a profile's fields: choices of several words, character classes of ids and names, and how a value is
//! read and printed. A choice of two is a `bool` in the struct, which the table of fields writes as words.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use crate::Error;

/// An enum whose values are words of a profile file.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$value_doc])* #[serde(rename = $word)] $value,)+
        }

        impl $name {
            /// The word of a profile file.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($name::$value => $word,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// Whether a user message is required.
    UserMessage {
        /// No.
        Any = "any",
        /// One, somewhere.
        Some = "some",
        /// The chain after the system message begins with one.
        First = "first",
    }
}

words! {
    /// Where the system prompt goes; read by wire formats (CA-73).
    SystemPlace {
        /// Into a message.
        Message = "message",
        /// Into a field of the request.
        Field = "field",
        /// Before the first text of the user.
        User = "user",
        /// Nowhere: there is none.
        None = "none",
    }
}

words! {
    /// Where results may be that do not directly follow their call.
    LaterResults {
        /// Anywhere after it.
        Accept = "accept",
        /// After further assistant messages, which are read as one with it.
        Joined = "joined",
        /// Nowhere.
        Reject = "reject",
    }
}

words! {
    /// Whether a provider takes something.
    Acceptance {
        /// It does.
        Accept = "accept",
        /// It does not.
        Reject = "reject",
    }
}

words! {
    /// What the arguments of a call have to be.
    ArgumentsRule {
        /// Any text.
        Any = "any",
        /// JSON.
        Json = "json",
        /// A JSON object.
        Object = "object",
    }
}

words! {
    /// Which reasoning is accepted.
    ReasoningKept {
        /// All.
        All = "all",
        /// None.
        None = "none",
        /// Reasoning among the content parts, as Mistral's `thinking` does.
        Parts = "parts",
        /// That of turns in which a tool is called.
        CallTurns = "call-turns",
    }
}

words! {
    /// Where reasoning is required.
    ReasoningRequired {
        /// Nowhere.
        None = "none",
        /// In every message that calls a tool.
        Calls = "calls",
        /// In every assistant message of a turn in which a tool is called.
        Messages = "messages",
        /// As the signature of the first call of each message of the current turn.
        CallSignature = "call-signature",
    }
}

words! {
    /// What of the tools that a provider runs itself may be sent.
    ServerTools {
        /// All.
        Keep = "keep",
        /// Calls, and results after their call in the same message.
        Pairs = "pairs",
        /// Nothing.
        None = "none",
    }
}

words! {
    /// To what signed reasoning is bound.
    ReasoningBound {
        /// To nothing.
        None = "none",
        /// To the model that made it.
        Model = "model",
        /// To the account that asked for it.
        Account = "account",
    }
}

// Character classes of ids and names: `any`, `none`, or `[a-zA-Z0-9_-]`. Classes are ASCII; no other grammar of
// regular expressions is read.

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

// How the value of one field is read and given back, and what is said of one that does not fit.

/// Why a field cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub(crate) struct FieldError {
    /// The names of the tables that contain the field, and its own.
    pub(crate) path: Vec<String>,
    pub(crate) problem: String,
}

impl FieldError {
    pub(crate) fn unknown(field: &str) -> Self {
        FieldError { path: vec![field.to_owned()], problem: format!("unknown field `{field}`") }
    }

    pub(crate) fn wrong(field: &str, problem: &str) -> Self {
        FieldError { path: vec![field.to_owned()], problem: format!("`{field}`: {problem}") }
    }

    /// The same of a field in a table.
    pub(crate) fn within(mut self, table: &str) -> Self {
        self.path.insert(0, table.to_owned());
        self
    }
}

/// The value of a profile file; else what was expected.
pub(crate) fn read<'v, T: Deserialize<'v>>(value: &'v Value) -> Result<T, String> {
    T::deserialize(value).map_err(|it| it.to_string())
}

/// As [`read`], of a field that is one of two words.
pub(crate) fn read_word(value: &Value, no: &str, yes: &str) -> Result<bool, String> {
    match value.as_str() {
        Some(it) if it == no => Ok(false),
        Some(it) if it == yes => Ok(true),
        _ => Err(format!("{value}, expected `{no}` or `{yes}`")),
    }
}

/// What a profile file has for a value.
pub(crate) fn written(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("because a field is a text, a number, a flag or a list")
}
