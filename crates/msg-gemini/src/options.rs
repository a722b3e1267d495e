//! How Gemini contents are written: the options of the page, and their words.

use msg_codec::codec::Losses;
use msg_codec::{Error, Layout};
use msg_core::Part;
use serde::Deserialize;

pub use msg_codec::LaterSystem;

/// How to handle the ids of calls and results (GE-6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ids {
    /// They go out where there are any.
    #[default]
    Keep,
    /// They are left out, for Vertex knows none.
    Omit,
}

/// How to handle thoughts (GE-7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thoughts {
    /// Their text goes out as a thought.
    #[default]
    Keep,
    /// All are left out.
    None,
}

impl Thoughts {
    /// Reports a part that has no place, and why (AN-20).
    pub(crate) fn lose(self, at: usize, it: &Part, losses: &mut Losses<'_>) {
        match it {
            Part::Reasoning(_) if self == Self::None => losses.as_asked(at, "thoughts are"),
            Part::Reasoning(_) => {
                let text = "a thought without text is sealed for another provider and left out";
                losses.warn("convert::lost-part", Some(at), text);
            }
            _ => losses.part(at, it.kind()),
        }
    }
}

/// Where contents are sent (GE-21).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flavor {
    /// The Gemini API.
    #[default]
    AiStudio,
    /// Vertex AI, which refuses ids.
    Vertex,
}

/// How contents are written.
///
/// ```
/// use msg_core::Message;
/// use msg_gemini::{LaterSystem, WriteOptions, contents};
///
/// let chat = [Message::user("a"), Message::system("b")];
/// let options = WriteOptions::new().with_later_system(LaterSystem::Hoist);
/// let mut out = Vec::new();
/// contents::write(&chat, &options, &mut out);
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     r#"{"systemInstruction":{"parts":[{"text":"b"}]},"contents":[{"role":"user","parts":[{"text":"a"}]}]}"#,
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WriteOptions {
    /// Whether the shape that a source had comes back.
    pub layout: Layout,
    /// How to handle later system messages. Gemini has no role for [`LaterSystem::Keep`], which is as
    /// [`LaterSystem::User`].
    pub later_system: LaterSystem,
    /// How to handle ids.
    pub ids: Ids,
    /// How to handle thoughts.
    pub thoughts: Thoughts,
}

impl From<Flavor> for WriteOptions {
    fn from(flavor: Flavor) -> Self {
        let ids = match flavor {
            Flavor::AiStudio => Ids::Keep,
            Flavor::Vertex => Ids::Omit,
        };
        Self::new().with_ids(ids)
    }
}

impl WriteOptions {
    /// The defaults: keep the layout, lose nothing that the format can say.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The canonical form of GE-12, all other options at their defaults.
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

    /// How to handle ids.
    #[must_use]
    pub fn with_ids(self, ids: Ids) -> Self {
        Self { ids, ..self }
    }

    /// How to handle thoughts.
    #[must_use]
    pub fn with_thoughts(self, thoughts: Thoughts) -> Self {
        Self { thoughts, ..self }
    }

    /// Sets an option by its name and the word for its value, as a document of options has them.
    /// False for an unknown option.
    ///
    /// # Errors
    /// [`Error::Option`] if the option does not take this word.
    ///
    /// ```
    /// use msg_gemini::{Flavor, WriteOptions};
    ///
    /// let mut options = WriteOptions::new();
    /// assert!(options.set("ids", "omit")?);
    /// assert_eq!(options, WriteOptions::from(Flavor::Vertex));
    /// assert!(!options.set("preview", "80")?);
    /// assert!(options.set("thoughts", "some").is_err());
    /// # Ok::<(), msg_gemini::Error>(())
    /// ```
    pub fn set(&mut self, name: &str, word: &str) -> Result<bool, Error> {
        match name {
            "layout" => self.layout = Error::option_word("layout", word, "keep or canonical")?,
            "later_system" => {
                let (name, expected) = ("later_system", "user or hoist");
                self.later_system = Error::option_word(name, word, expected)?;
                if self.later_system == LaterSystem::Keep {
                    return Err(Error::Option { name, expected });
                }
            }
            "ids" => self.ids = Error::option_word("ids", word, "keep or omit")?,
            "thoughts" => self.thoughts = Error::option_word("thoughts", word, "keep or none")?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}
