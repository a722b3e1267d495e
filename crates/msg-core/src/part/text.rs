//! Text and refusal parts (MS-3).

use crate::Extra;

/// A run of text: a text part, or the words of a refusal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Text {
    /// The text, exact.
    pub text: String,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
}

impl Text {
    /// A text without extra members.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), extra: Extra::default() }
    }
}
