//! Who sealed what, and where it may go (AN-7, RQ-44): the one table of provenance.
//!
//! A seal proves to its maker what the maker's model thought; another provider refuses it or is misled by it. The model
//! says by the member whose seal it is, so that writers need not guess:
//!
//! | maker | in the model | formats that hold it |
//! |---|---|---|
//! | Anthropic | `signature` and `redacted` of reasoning | `anthropic`, `bedrock`; `thinking_blocks` of `openai` |
//! | OpenAI | `encrypted` of reasoning, `extra.responses.item` | `responses` |
//! | Gemini | `signature` of a call; `extra.gemini`, `extra.interactions` | `gemini`, `interactions`; `extra_content.google` of `openai` |
//!
//! Frameworks and gateways keep a seal beside the name of its maker, which [`Maker::of`] reads.

/// Whose seal it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    /// Anthropic, on its own API, on Bedrock and on Vertex AI.
    Anthropic,
    /// Gemini, on both of its APIs and on Vertex AI.
    Gemini,
    /// OpenAI, on its own API and on Azure.
    OpenAi,
}

impl Maker {
    /// The maker by the name that a framework gives the provider (`azure-openai`), or that a gateway gives the form of
    /// the seal (`anthropic-claude-v1`). None if it is unknown: then the seal goes nowhere else.
    ///
    /// ```
    /// use msg_core::Maker;
    ///
    /// assert_eq!(Maker::of("amazon-bedrock"), Some(Maker::Anthropic));
    /// assert_eq!(Maker::of("openai-responses-v1"), Some(Maker::OpenAi));
    /// assert_eq!(Maker::of("xai-responses-v1"), None);
    /// ```
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        const NAMES: [(&str, Maker); 9] = [
            ("anthropic", Maker::Anthropic),
            ("bedrock", Maker::Anthropic),
            ("amazon-bedrock", Maker::Anthropic),
            ("aws", Maker::Anthropic),
            ("google", Maker::Gemini),
            ("gemini", Maker::Gemini),
            ("vertex", Maker::Gemini),
            ("openai", Maker::OpenAi),
            ("azure", Maker::OpenAi),
        ];
        NAMES.into_iter().find(|it| name.starts_with(it.0)).map(|it| it.1)
    }
}
