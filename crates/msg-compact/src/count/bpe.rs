//! Exact counts (CP-54), with the feature `bpe`: the vocabularies are compiled in, nothing is
//! fetched.

#![cfg(feature = "bpe")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use msg_core::Role;
use toktok::Tokenizer;

use super::vocabulary::Vocabulary;
use super::{ErrorBar, MediaRates, TokenCounter};
use crate::count;

/// Counts as OpenAI's models do. Text that spells a special token is ordinary text.
///
/// The first 16 MB of a process are counted by a vocabulary that is unpacked in some 20 ms. For more text, tables of a
/// tenth of the cost per byte are made, which takes half a second and 76 MB once; the counts are the same.
///
/// ```
/// use msg_compact::{TokenCounter, count::Bpe};
///
/// assert_eq!(Bpe::o200k().text("hello world"), 2);
/// ```
#[derive(Clone, Copy)]
pub struct Bpe {
    name: &'static str,
    tables: &'static Tables,
    tool_overhead: u64,
    media: MediaRates,
}

impl Bpe {
    /// The vocabulary of GPT-4o and later.
    pub fn o200k() -> Self {
        static TABLES: Tables = Tables::new("o200k_base", Vocabulary::o200k);
        Self { name: "o200k", tables: &TABLES, tool_overhead: 7, media: MediaRates::default() }
    }

    /// The vocabulary of GPT-4 and GPT-3.5.
    pub fn cl100k() -> Self {
        static TABLES: Tables = Tables::new("cl100k_base", Vocabulary::cl100k);
        Self { name: "cl100k", tables: &TABLES, tool_overhead: 10, media: MediaRates::default() }
    }

    /// With images, sound and files counted by these formulas.
    #[must_use]
    pub fn with_media(self, media: MediaRates) -> Self {
        Self { media, ..self }
    }

    /// Makes the tables for much text now, and not after the first 16 MB.
    #[must_use]
    pub fn for_much_text(self) -> Self {
        self.tables.large();
        self
    }
}

/// As many bytes are counted with the vocabulary: what that takes is some of what the large tables take to be made.
const LITTLE: usize = 16 << 20;

/// What an encoding is counted with, made when it is asked for.
struct Tables {
    encoding: &'static str,
    unpack: fn() -> Vocabulary,
    small: OnceLock<Vocabulary>,
    large: OnceLock<Tokenizer>,
    /// How many bytes the vocabulary has counted.
    counted: AtomicUsize,
}

impl Tables {
    const fn new(encoding: &'static str, unpack: fn() -> Vocabulary) -> Self {
        Self {
            encoding,
            unpack,
            small: OnceLock::new(),
            large: OnceLock::new(),
            counted: AtomicUsize::new(0),
        }
    }

    fn large(&self) -> &Tokenizer {
        let make = || Tokenizer::builtin(self.encoding);
        self.large.get_or_init(|| make().expect("the tables of this encoding are compiled in"))
    }

    fn count(&self, text: &str) -> usize {
        let is_little = || {
            let before = self.counted.fetch_add(text.len(), Ordering::Relaxed);
            before.saturating_add(text.len()) <= LITTLE
        };
        if self.large.get().is_none() && is_little() {
            return self.small.get_or_init(self.unpack).count(text);
        }
        self.large().count(text.as_bytes())
    }
}

impl TokenCounter for Bpe {
    fn name(&self) -> &str {
        self.name
    }

    fn text(&self, text: &str) -> u64 {
        self.tables.count(text) as u64
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
