//! The options that all wire formats have: how large a document may be, and whether its shape comes
//! back. What only one format can say is that crate's own.

use msg_core::Message;
use serde::Deserialize;
use serde::de::value::Error as Unknown;
use serde::de::{DeserializeOwned, IntoDeserializer};

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

/// How to handle a system message after the first other message (AN-4, BR-2, GE-3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaterSystem {
    /// A message of the user in its place.
    #[default]
    User,
    /// A message of role `system` in its place, which few models take.
    Keep,
    /// The end of the member for system instructions; its place is lost.
    Hoist,
}

impl LaterSystem {
    /// The messages that go into the member for instructions, with their places: the leading ones, and later ones if
    /// they are hoisted.
    pub fn instructions(
        self,
        messages: &[Message],
        leading: usize,
    ) -> impl Iterator<Item = (usize, &Message)> {
        let is_hoisted = move |it: &Message| self == Self::Hoist && it.role.is_system();
        messages.iter().enumerate().filter(move |it| it.0 < leading || is_hoisted(it.1))
    }
}

/// How to handle signed and redacted reasoning (AN-7, BR-11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SealedReasoning {
    /// It goes out as it is.
    #[default]
    Keep,
    /// It is left out: for another model than the one that thought.
    None,
}

/// How large a document a reader takes.
///
/// ```
/// use msg_codec::ReadOptions;
///
/// assert_eq!(ReadOptions::new().max_bytes, 256 << 20);
/// assert_eq!(ReadOptions::new().with_max_bytes(4).max_bytes, 4);
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
    pub fn with_max_bytes(self, max_bytes: usize) -> Self {
        Self { max_bytes }
    }
}

impl Error {
    /// The value of an option that has one of a few words, by the names that `serde` knows.
    ///
    /// # Errors
    /// [`Error::Option`] for any other word.
    ///
    /// ```
    /// use msg_codec::{Error, Layout};
    ///
    /// assert_eq!(Error::option_word::<Layout>("layout", "keep", "keep or canonical")?, Layout::Keep);
    /// assert!(Error::option_word::<Layout>("layout", "loose", "keep or canonical").is_err());
    /// # Ok::<(), msg_codec::Error>(())
    /// ```
    pub fn option_word<T: DeserializeOwned>(
        name: &'static str,
        word: &str,
        expected: &'static str,
    ) -> Result<T, Error> {
        let wrong = |_: Unknown| Error::Option { name, expected };
        T::deserialize(word.into_deserializer()).map_err(wrong)
    }
}

// Why a document, a limit or an option was refused.

/// Everything that can fail in this crate. Nothing half-read comes with it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The document is not JSON, or not a conversation; says which message, member and byte.
    #[error(transparent)]
    Read(#[from] msg_core::Error),
    /// The document is larger than the caller allowed.
    #[error("document is larger than {limit} bytes")]
    TooLarge {
        /// The most bytes that were allowed.
        limit: usize,
    },
    /// A request lacks what its provider demands.
    #[error("a request must say {member}: its source does not, and no option gives one")]
    Missing {
        /// The code of the diagnostic.
        code: &'static str,
        /// The member.
        member: &'static str,
    },
    /// An option has a value that it does not take.
    #[error("option {name} takes {expected}")]
    Option {
        /// The option.
        name: &'static str,
        /// What it takes.
        expected: &'static str,
    },
}
