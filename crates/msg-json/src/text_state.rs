//! What a text is that should be JSON, such as the arguments of a call: whole, cut off, or no JSON.

use crate::{
    JsonError, Problem,
    scan::{skip_blanks, skip_limited},
};

/// What a whole text is, as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextState {
    /// An object.
    Object,
    /// Another JSON value.
    Value,
    /// The beginning of a JSON value; blank text too.
    Incomplete,
    /// No JSON, or nested deeper than 512.
    Invalid,
}

/// Nesting of argument texts beyond which they count as invalid (CA-55).
const CLASSIFY_DEPTH: usize = 512;

/// Says what a whole text is, as JSON. One pass; allocates only for nesting over 64.
///
/// ```
/// use msg_json::{TextState, classify};
///
/// assert_eq!(classify(r#" {"a": 1} "#), TextState::Object);
/// assert_eq!(classify("[1]"), TextState::Value);
/// assert_eq!(classify(r#"{"a": "x"#), TextState::Incomplete);
/// assert_eq!(classify("{} {}"), TextState::Invalid);
/// ```
pub fn classify(text: &str) -> TextState {
    let bytes = text.as_bytes();
    let start = skip_blanks(bytes, 0);
    match skip_limited(bytes, start, CLASSIFY_DEPTH) {
        Ok(end) if skip_blanks(bytes, end) < bytes.len() => TextState::Invalid,
        Ok(_) if bytes[start] == b'{' => TextState::Object,
        Ok(_) => TextState::Value,
        Err(JsonError { problem: Problem::End { .. }, .. }) => TextState::Incomplete,
        Err(_) => TextState::Invalid,
    }
}
