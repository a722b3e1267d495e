//! How requests are compared, and how a log is read.
//!
//! As JSON: `{"from":"anthropic","provider":"openrouter","prices":{…},"min_missed":2000,"runs":1024}`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::family::Family;
use crate::usage::{Price, Prices};

/// How the bodies are read, and by whose rules they are judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CacheOptions {
    /// The family of both bodies; else each is recognised.
    #[serde(rename = "from", deserialize_with = "family")]
    pub family: Option<Family>,
    /// The provider whose rules hold; else it follows from family, model and address.
    pub provider: Option<String>,
}

impl CacheOptions {
    /// The bodies are of this family.
    #[must_use]
    pub fn with_family(mut self, family: Family) -> Self {
        self.family = Some(family);
        self
    }

    /// The rules of this provider hold.
    #[must_use]
    pub fn with_provider(mut self, provider: impl Into<String>) -> Self {
        self.provider = Some(provider.into());
        self
    }
}

/// How a log is read.
#[derive(Debug, Clone)]
pub struct LedgerOptions {
    /// How its requests are compared.
    pub cache: CacheOptions,
    /// Prices, instead of the built-in list.
    pub prices: Option<Prices>,
    /// The least tokens that count as missed.
    pub min_missed: u64,
    /// How many runs are remembered; the one that was used longest ago is forgotten.
    pub runs: usize,
}

impl LedgerOptions {
    /// The price of a model.
    pub(crate) fn price(&self, model: Option<&str>) -> Option<Price> {
        let prices = self.prices.as_ref().unwrap_or_else(|| Prices::built_in());
        model.and_then(|it| prices.of(it)).copied()
    }
}

impl Default for LedgerOptions {
    fn default() -> Self {
        LedgerOptions {
            cache: CacheOptions::default(),
            prices: None,
            min_missed: 2_000,
            runs: 1_024,
        }
    }
}

/// The members of [`LedgerOptions`]; those that are missing have the value of the default.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CacheMembers {
    #[serde(deserialize_with = "family")]
    from: Option<Family>,
    provider: Option<String>,
    prices: Option<Box<RawValue>>,
    min_missed: Option<u64>,
    runs: Option<usize>,
}

impl<'de> Deserialize<'de> for LedgerOptions {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let it = CacheMembers::deserialize(from)?;
        let prices = it.prices.map(|it| Prices::read(it.get().as_bytes()));
        let unset = LedgerOptions::default();
        Ok(LedgerOptions {
            cache: CacheOptions { family: it.from, provider: it.provider },
            prices: prices.transpose().map_err(D::Error::custom)?,
            min_missed: it.min_missed.unwrap_or(unset.min_missed),
            runs: it.runs.unwrap_or(unset.runs),
        })
    }
}

fn family<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Family>, D::Error> {
    let Some(name) = Option::<String>::deserialize(from)? else { return Ok(None) };
    let known = || Family::ALL.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ");
    let unknown = |_| format!("no API is called {name:?}, expected {}", known());
    name.parse().map(Some).map_err(|it| D::Error::custom(unknown(it)))
}
