//! The arguments of a tool call: the exact text, and on demand the value (MS-4). Nothing is mended
//! here.

use std::{fmt, sync::OnceLock};

use serde::de::DeserializeOwned;
use serde_json::Value;

use msg_json::TextState;

/// The argument text of a tool call, byte for byte as the model produced it, valid JSON or not.
///
/// ```
/// use msg_core::Arguments;
/// use msg_json::TextState;
///
/// let it = Arguments::from(r#"{"city": "Oslo"}"#);
/// assert_eq!(it.state(), TextState::Object);
/// assert_eq!(it.value().expect("the text is JSON")["city"], "Oslo");
/// assert_eq!(Arguments::from("{city:1}").state(), TextState::Invalid);
/// ```
#[derive(Default)]
pub struct Arguments {
    text: String,
    parsed: OnceLock<Box<Result<Value, ArgumentsError>>>,
}

/// Why [`Arguments::value`] or [`Arguments::parse`] gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("arguments do not parse: {reason}")]
pub struct ArgumentsError {
    /// What the parser said, with line and column.
    pub reason: String,
}

impl Arguments {
    /// The exact text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Gives the text away.
    pub fn into_text(self) -> String {
        self.text
    }

    /// What the text is. One pass over it, no allocation; nesting over 512 counts as invalid
    /// (CA-55).
    pub fn state(&self) -> TextState {
        msg_json::classify(&self.text)
    }

    /// The parsed value; parsed once and kept. Numbers become what serde_json makes of them, so
    /// take [`Arguments::text`] where their spelling counts.
    ///
    /// # Errors
    /// The text is not JSON, nests deeper than 128, or holds half of a surrogate pair.
    pub fn value(&self) -> Result<&Value, ArgumentsError> {
        let parsed = self.parsed.get_or_init(|| Box::new(self.parse()));
        parsed.as_ref().as_ref().map_err(Clone::clone)
    }

    /// Reads the text into a type, without keeping anything.
    ///
    /// # Errors
    /// What serde_json says of the text.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ArgumentsError> {
        serde_json::from_str(&self.text).map_err(|it| ArgumentsError { reason: it.to_string() })
    }
}

impl From<String> for Arguments {
    fn from(text: String) -> Self {
        Self { text, parsed: OnceLock::new() }
    }
}

impl From<&str> for Arguments {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl Clone for Arguments {
    /// Copies the text; the copy parses anew when asked.
    fn clone(&self) -> Self {
        Self::from(self.text.clone())
    }
}

impl PartialEq for Arguments {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Arguments {}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arguments({:?})", self.text)
    }
}
