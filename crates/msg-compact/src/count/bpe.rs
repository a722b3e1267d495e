//! Exact counts (CP-54), behind the feature `bpe`: the vocabularies are compiled in, nothing is
//! fetched.

#![cfg(feature = "bpe")]
use std::sync::OnceLock;

use msg_core::Role;
use toktok::Tokenizer;

use super::{ErrorBar, MediaRates, TokenCounter};
use crate::count;

/// Counts as OpenAI's models do. Text that spells a special token is ordinary text.
///
/// ```
/// use msg_compact::{TokenCounter, count::Bpe};
///
/// assert_eq!(Bpe::o200k().text("hello world"), 2);
/// ```
#[derive(Clone, Copy)]
pub struct Bpe {
    name: &'static str,
    tokenizer: &'static Tokenizer,
    tool_overhead: u64,
    media: MediaRates,
}

impl Bpe {
    /// The vocabulary of GPT-4o and later.
    pub fn o200k() -> Self {
        static TABLES: OnceLock<Tokenizer> = OnceLock::new();
        Self {
            name: "o200k",
            tokenizer: TABLES.get_or_init(|| tables("o200k_base")),
            tool_overhead: 7,
            media: MediaRates::default(),
        }
    }

    /// The vocabulary of GPT-4 and GPT-3.5.
    pub fn cl100k() -> Self {
        static TABLES: OnceLock<Tokenizer> = OnceLock::new();
        Self {
            name: "cl100k",
            tokenizer: TABLES.get_or_init(|| tables("cl100k_base")),
            tool_overhead: 10,
            media: MediaRates::default(),
        }
    }

    /// With images, sound and files counted by these formulas.
    #[must_use]
    pub fn with_media(self, media: MediaRates) -> Self {
        Self { media, ..self }
    }
}

/// The tables of an encoding, unpacked. For `o200k` they take about 76 MB, and about half a second once.
fn tables(encoding: &str) -> Tokenizer {
    Tokenizer::builtin(encoding).expect("the tables of this encoding are compiled in")
}

impl TokenCounter for Bpe {
    fn name(&self) -> &str {
        self.name
    }

    fn text(&self, text: &str) -> u64 {
        self.tokenizer.count(text.as_bytes()) as u64
    }

    fn tool_overhead(&self) -> u64 {
        self.tool_overhead
    }

    fn frame(&self, _role: &Role) -> Option<u64> {
        Some(count::MESSAGE)
    }

    fn media(&self) -> MediaRates {
        self.media
    }

    fn error_bar(&self) -> Option<ErrorBar> {
        None
    }
}

impl std::fmt::Debug for Bpe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Bpe").field(&self.name).finish()
    }
}
