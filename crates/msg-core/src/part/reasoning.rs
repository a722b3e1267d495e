//! Reasoning parts (MS-3). Signatures and sealed payloads are carried byte for byte and never read.

use std::borrow::Cow;

use crate::Extra;

/// What a model thought.
///
/// `redacted` is Anthropic's opaque block, `encrypted` OpenAI's; a `signature` binds `text` to the
/// conversation before it. All of them are opaque and must go back unchanged or not at all.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reasoning {
    /// The thought, where the provider shows it.
    pub text: Option<String>,
    /// The provider's summaries of the thought; an empty list is kept as such.
    pub summary: Option<Vec<String>>,
    /// The provider's signature of `text`.
    pub signature: Option<String>,
    /// A thought that the provider gave only in sealed form.
    pub redacted: Option<String>,
    /// The thought in the provider's encryption.
    pub encrypted: Option<String>,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
}

impl Reasoning {
    /// An unsigned thought.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// What can be shown: the text, else the summaries joined with a blank line (MS-3).
    ///
    /// ```
    /// use msg_core::Reasoning;
    ///
    /// let summary = Some(vec!["First.".to_owned(), "Then.".to_owned()]);
    /// let it = Reasoning { summary, ..Reasoning::default() };
    /// assert_eq!(it.display_text(), "First.\n\nThen.");
    /// ```
    pub fn display_text(&self) -> Cow<'_, str> {
        if let Some(text) = &self.text {
            return Cow::Borrowed(text);
        }
        match self.summary.as_deref() {
            None | Some([]) => Cow::Borrowed(""),
            Some([one]) => Cow::Borrowed(one),
            Some(more) => Cow::Owned(more.join("\n\n")),
        }
    }

    /// Whether a provider can verify it: it has a signature, a redacted or an encrypted payload,
    /// not empty.
    pub fn is_signed(&self) -> bool {
        [&self.signature, &self.redacted, &self.encrypted]
            .into_iter()
            .any(|it| it.as_deref().is_some_and(|it| !it.is_empty()))
    }
}
