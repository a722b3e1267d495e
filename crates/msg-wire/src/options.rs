//! The options that all wire formats have: how large a document may be, and whether its shape comes
//! back. What only one format can say is that crate's own.

use serde::Deserialize;

/// Whether the shape that a source had comes back (OA-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// What was not edited goes out as it came in.
    #[default]
    Keep,
    /// One form for all.
    Canonical,
}

impl Layout {
    /// The word for it in a document of options.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Canonical => "canonical",
        }
    }

    /// The one that has this word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Keep, Self::Canonical].into_iter().find(|it| it.as_str() == word)
    }
}

/// How large a document a reader takes.
///
/// ```
/// use msg_wire::ReadOptions;
///
/// assert_eq!(ReadOptions::new().max_bytes, 256 << 20);
/// assert_eq!(ReadOptions::new().max_bytes(4).max_bytes, 4);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// The most bytes that a document may have.
    pub max_bytes: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { max_bytes: 256 << 20 }
    }
}

impl ReadOptions {
    /// The defaults: documents of at most 256 MiB.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The most bytes that a document may have.
    #[must_use]
    pub fn max_bytes(self, max_bytes: usize) -> Self {
        Self { max_bytes }
    }
}
