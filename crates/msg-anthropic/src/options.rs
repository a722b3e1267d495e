//! How Anthropic messages are written: the options of the page, and their words.

use msg_codec::{Error, Layout};
use serde::Deserialize;

pub use msg_codec::{LaterSystem, SealedReasoning};

/// How to handle `cache_control` (AN-9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheControl {
    /// It goes out, that of chat messages too.
    #[default]
    Carry,
    /// It is left out.
    Drop,
}

/// How messages are written.
///
/// ```
/// use msg_anthropic::{LaterSystem, WriteOptions, messages};
/// use msg_core::Message;
///
/// let chat = [Message::user("a"), Message::system("b")];
/// let options = WriteOptions::new().with_later_system(LaterSystem::Hoist);
/// let mut out = Vec::new();
/// messages::write(&chat, &options, &mut out);
/// assert_eq!(out, br#"{"system":"b","messages":[{"role":"user","content":"a"}]}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WriteOptions {
    /// Whether the shape that a source had comes back.
    pub layout: Layout,
    /// How to handle later system messages.
    pub later_system: LaterSystem,
    /// How to handle `cache_control`.
    pub cache_control: CacheControl,
    /// How to handle thinking.
    pub thinking: SealedReasoning,
    /// The `max_tokens` of a request whose source has none (AN-21).
    pub max_tokens: Option<u64>,
}

impl WriteOptions {
    /// The defaults: keep the layout, lose nothing that the format can say.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The canonical form of AN-13, all other options at their defaults.
    #[must_use]
    pub fn canonical() -> Self {
        Self::new().with_layout(Layout::Canonical)
    }

    /// Whether the shape that a source had comes back.
    #[must_use]
    pub fn with_layout(self, layout: Layout) -> Self {
        Self { layout, ..self }
    }

    /// How to handle later system messages.
    #[must_use]
    pub fn with_later_system(self, later_system: LaterSystem) -> Self {
        Self { later_system, ..self }
    }

    /// How to handle `cache_control`.
    #[must_use]
    pub fn with_cache_control(self, cache_control: CacheControl) -> Self {
        Self { cache_control, ..self }
    }

    /// How to handle thinking.
    #[must_use]
    pub fn with_thinking(self, thinking: SealedReasoning) -> Self {
        Self { thinking, ..self }
    }

    /// The `max_tokens` of a request whose source has none.
    #[must_use]
    pub fn with_max_tokens(self, max_tokens: u64) -> Self {
        Self { max_tokens: Some(max_tokens), ..self }
    }

    /// Sets an option by its name and the word for its value, as a document of options has them.
    /// False for an unknown option.
    ///
    /// # Errors
    /// [`Error::Option`] if the option does not take this word.
    ///
    /// ```
    /// use msg_anthropic::WriteOptions;
    ///
    /// let mut options = WriteOptions::new();
    /// assert!(options.set("layout", "canonical")?);
    /// assert_eq!(options, WriteOptions::canonical());
    /// assert!(!options.set("preview", "80")?);
    /// assert!(options.set("thinking", "some").is_err());
    /// # Ok::<(), msg_anthropic::Error>(())
    /// ```
    pub fn set(&mut self, name: &str, word: &str) -> Result<bool, Error> {
        match name {
            "layout" => self.layout = Error::option_word("layout", word, "keep or canonical")?,
            "later_system" => {
                self.later_system =
                    Error::option_word("later_system", word, "user, keep or hoist")?;
            }
            "cache_control" => {
                self.cache_control = Error::option_word("cache_control", word, "carry or drop")?;
            }
            "thinking" => self.thinking = Error::option_word("thinking", word, "keep or none")?,
            "max_tokens" => {
                let wrong = Error::Option { name: "max_tokens", expected: "a number" };
                self.max_tokens = Some(word.parse().map_err(|_| wrong)?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
