//! How Converse messages are written: the options of the page, and their words.

use msg_codec::{Error, Layout};
use serde::Deserialize;

pub use msg_codec::{LaterSystem, SealedReasoning};

/// How to handle cache points (BR-9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// They go out, those of Anthropic and of chat messages too.
    #[default]
    Carry,
    /// They are left out.
    Drop,
}

/// How to handle reasoning without a signature (BR-11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unsigned {
    /// It is left out: the API refuses it for Claude.
    #[default]
    Drop,
    /// It goes out.
    Keep,
}

/// How messages are written.
///
/// ```
/// use msg_bedrock::{WriteOptions, converse};
/// use msg_core::Message;
///
/// let mut out = Vec::new();
/// converse::write(&[Message::user("a")], &WriteOptions::new(), &mut out);
/// assert_eq!(out, br#"{"messages":[{"role":"user","content":[{"text":"a"}]}]}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WriteOptions {
    /// Whether the shape that a source had comes back.
    pub layout: Layout,
    /// How to handle later system messages; none is `keep` in the same format and `user` otherwise.
    pub later_system: Option<LaterSystem>,
    /// How to handle cache points.
    pub cache: Cache,
    /// How to handle reasoning.
    pub thinking: SealedReasoning,
    /// How to handle unsigned reasoning; none is `keep` in the same format and `drop` otherwise.
    pub unsigned: Option<Unsigned>,
}

impl WriteOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The canonical form of BR-14, all other options at their defaults.
    #[must_use]
    pub fn canonical() -> Self {
        Self { layout: Layout::Canonical, ..Self::default() }
    }

    /// Sets an option by its name and the word for its value. False for an unknown option.
    ///
    /// # Errors
    /// [`Error::Option`] if the option does not take this word.
    pub fn set(&mut self, name: &str, word: &str) -> Result<bool, Error> {
        match name {
            "layout" => self.layout = Error::option_word("layout", word, "keep or canonical")?,
            "later_system" => {
                self.later_system =
                    Some(Error::option_word("later_system", word, "user, keep or hoist")?);
            }
            "cache" => self.cache = Error::option_word("cache", word, "carry or drop")?,
            "thinking" => self.thinking = Error::option_word("thinking", word, "keep or none")?,
            "unsigned" => {
                self.unsigned = Some(Error::option_word("unsigned", word, "drop or keep")?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
