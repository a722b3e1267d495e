//! How tokens are counted, by name.

use std::str::FromStr;

use msg_compact::TokenCounter;
#[cfg(feature = "bpe")]
use msg_compact::count::Bpe;
use msg_compact::count::{Forge, Script, Wolo};
use serde::{Deserialize, Deserializer, Serialize};

use crate::refusal::Refusal;

/// How tokens are counted (CP-50).
///
/// ```
/// use msg_document::Counter;
///
/// assert_eq!("forge".parse::<Counter>()?, Counter::Forge);
/// assert!("abacus".parse::<Counter>().is_err());
/// # Ok::<(), msg_document::Refusal>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Counter {
    /// An estimate by scripts, without tables.
    Script,
    /// As the agent forge counts.
    Forge,
    /// As the agent wolo counts.
    Wolo,
    /// Exactly, by the table of GPT-4o and later.
    #[cfg(feature = "bpe")]
    O200k,
    /// Exactly, by the table of GPT-4.
    #[cfg(feature = "bpe")]
    Cl100k,
}

impl Counter {
    pub(crate) fn make(self) -> Box<dyn TokenCounter> {
        match self {
            Counter::Script => Box::new(Script::new()),
            Counter::Forge => Box::new(Forge),
            Counter::Wolo => Box::new(Wolo),
            #[cfg(feature = "bpe")]
            Counter::O200k => Box::new(Bpe::o200k()),
            #[cfg(feature = "bpe")]
            Counter::Cl100k => Box::new(Bpe::cl100k()),
        }
    }
}

impl FromStr for Counter {
    type Err = Refusal;

    fn from_str(name: &str) -> Result<Self, Refusal> {
        Ok(match name {
            "script" => Counter::Script,
            "forge" => Counter::Forge,
            "wolo" => Counter::Wolo,
            #[cfg(feature = "bpe")]
            "o200k" => Counter::O200k,
            #[cfg(feature = "bpe")]
            "cl100k" => Counter::Cl100k,
            other => {
                let tables = if cfg!(feature = "bpe") { "o200k, cl100k, " } else { "" };
                let expected = format!("expected script, {tables}forge or wolo");
                let text = format!("no counter is called {other:?}, {expected}");
                return Err(Refusal::bad_option(text));
            }
        })
    }
}

impl<'de> Deserialize<'de> for Counter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}
