//! How messages are encoded (the options of OA-2), and how large a document may be.

use std::borrow::Cow;

use msg_core::turns::ReasoningPolicy;

use msg_wire::{Error, Layout};

/// How chat messages and Responses items are written (OA-2).
///
/// ```
/// use msg_core::Message;
/// use msg_openai::{EncodeOptions, TextParts, chat};
///
/// let message = Message::user("a").with_text("b");
/// let options = EncodeOptions::new().text_parts(TextParts::Join).text_separator(" ");
/// let json = chat::to_chat_messages(&[message], &options);
/// assert_eq!(json, br#"[{"role":"user","content":"a b"}]"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodeOptions {
    pub(crate) layout: Layout,
    pub(crate) content_when_empty: EmptyContent,
    pub(crate) text_parts: TextParts,
    pub(crate) text_separator: Cow<'static, str>,
    pub(crate) reasoning: ReasoningPolicy,
    pub(crate) reasoning_field: ReasoningField,
    pub(crate) item_ids: ItemIds,
}

/// A closed set of words that an option takes.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// The word for it in a document of options.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// The one that has this word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some($name::$variant),)* _ => None }
            }
        }
    };
}

choice! {
    /// The `content` of an assistant message that has calls and no content.
    EmptyContent {
        /// No member.
        #[default] Omit = "omit",
        /// `null`.
        Null = "null",
        /// `""`.
        Empty = "empty",
    }
}

choice! {
    /// How content that is several texts is written.
    TextParts {
        /// As an array of parts.
        #[default] Array = "array",
        /// As one string, the texts joined with the separator.
        Join = "join",
    }
}

choice! {
    /// The member that holds reasoning.
    ReasoningField {
        /// `reasoning_content`.
        #[default] ReasoningContent = "reasoning_content",
        /// `reasoning`.
        Reasoning = "reasoning",
    }
}

choice! {
    /// What happens to the ids of Responses items (OA-15).
    ItemIds {
        /// They stay.
        #[default] Keep = "keep",
        /// `id` and `status` go, and so do references to items: for another account, or for a
        /// request that stores nothing.
        Drop = "drop",
    }
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self {
            layout: Layout::default(),
            content_when_empty: EmptyContent::default(),
            text_parts: TextParts::default(),
            text_separator: Cow::Borrowed("\n"),
            reasoning: ReasoningPolicy::default(),
            reasoning_field: ReasoningField::default(),
            item_ids: ItemIds::default(),
        }
    }
}

impl EncodeOptions {
    /// The defaults: keep the layout, lose nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The canonical form of OA-2, all other options at their defaults.
    pub fn canonical() -> Self {
        Self::new().layout(Layout::Canonical)
    }

    /// Whether the layout that a reader left is kept; writers of other formats ask too.
    pub fn keeps_layout(&self) -> bool {
        self.layout == Layout::Keep
    }

    /// Whether the shape that a source had comes back.
    #[must_use]
    pub fn layout(self, layout: Layout) -> Self {
        Self { layout, ..self }
    }

    /// The content of an assistant message that has calls and no content.
    #[must_use]
    pub fn content_when_empty(self, content_when_empty: EmptyContent) -> Self {
        Self { content_when_empty, ..self }
    }

    /// How content that is several texts is written.
    #[must_use]
    pub fn text_parts(self, text_parts: TextParts) -> Self {
        Self { text_parts, ..self }
    }

    /// What stands between texts that are joined; a line break if nothing is said.
    #[must_use]
    pub fn text_separator(self, separator: impl Into<Cow<'static, str>>) -> Self {
        Self { text_separator: separator.into(), ..self }
    }

    /// Which messages keep their reasoning.
    #[must_use]
    pub fn reasoning(self, reasoning: ReasoningPolicy) -> Self {
        Self { reasoning, ..self }
    }

    /// The member that holds reasoning.
    #[must_use]
    pub fn reasoning_field(self, reasoning_field: ReasoningField) -> Self {
        Self { reasoning_field, ..self }
    }

    /// What happens to the ids of Responses items.
    #[must_use]
    pub fn item_ids(self, item_ids: ItemIds) -> Self {
        Self { item_ids, ..self }
    }

    /// Sets an option by its name and the word for its value, as a document of options has them.
    /// False if there is no option of this name here.
    ///
    /// # Errors
    /// [`Error::Option`] if the option does not take this word.
    ///
    /// ```
    /// use msg_openai::EncodeOptions;
    ///
    /// let mut options = EncodeOptions::new();
    /// assert!(options.set("layout", "canonical")?);
    /// assert_eq!(options, EncodeOptions::canonical());
    /// assert!(!options.set("preview", "80")?);
    /// assert!(options.set("layout", "loose").is_err());
    /// # Ok::<(), msg_openai::Error>(())
    /// ```
    pub fn set(&mut self, name: &str, word: &str) -> Result<bool, Error> {
        match name {
            "layout" => {
                self.layout = Layout::from_word(word).ok_or(wrong(&LAYOUT))?;
            }
            "content_when_empty" => {
                self.content_when_empty = EmptyContent::from_word(word).ok_or(wrong(&EMPTY))?;
            }
            "text_parts" => {
                self.text_parts = TextParts::from_word(word).ok_or(wrong(&TEXTS))?;
            }
            "text_separator" => self.text_separator = Cow::Owned(word.to_owned()),
            "reasoning" => {
                self.reasoning = match word {
                    "all" => ReasoningPolicy::All,
                    "with_calls" => ReasoningPolicy::WithCalls,
                    "none" => ReasoningPolicy::None,
                    _ => return Err(wrong(&REASONING)),
                };
            }
            "reasoning_field" => {
                self.reasoning_field = ReasoningField::from_word(word).ok_or(wrong(&FIELD))?;
            }
            "item_ids" => {
                self.item_ids = ItemIds::from_word(word).ok_or(wrong(&IDS))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

type Choice = (&'static str, &'static str);

const LAYOUT: Choice = ("layout", "keep or canonical");
const EMPTY: Choice = ("content_when_empty", "omit, null or empty");
const TEXTS: Choice = ("text_parts", "array or join");
const REASONING: Choice = ("reasoning", "all, with_calls or none");
const FIELD: Choice = ("reasoning_field", "reasoning_content or reasoning");
const IDS: Choice = ("item_ids", "keep or drop");

fn wrong((name, expected): &Choice) -> Error {
    Error::Option { name, expected }
}
