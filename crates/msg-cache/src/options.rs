//! How requests are compared, and how a log is read.
//!
//! As JSON: `{"from":"anthropic","provider":"openrouter","prices":{…},"min_missed":2000,"runs":1024}`.

use serde::Deserialize;

use crate::family::Family;
use crate::usage::{Price, Prices};

/// How the bodies are read, and by whose rules they are judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CacheOptions {
    /// The family of both bodies; else each is recognised.
    #[serde(rename = "from")]
    pub family: Option<Family>,
    /// The provider whose rules hold; else it follows from family, model and address.
    pub provider: Option<String>,
}

/// How a log is read.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LedgerOptions {
    /// The family of its requests; else each is recognised.
    #[serde(rename = "from")]
    pub family: Option<Family>,
    /// The provider whose rules hold; else it follows from family, model and address.
    pub provider: Option<String>,
    /// Prices, instead of the built-in list.
    pub prices: Option<Prices>,
    /// The least tokens that count as missed.
    pub min_missed: u64,
    /// How many runs are remembered; the one that was used longest ago is forgotten.
    pub runs: usize,
}

impl LedgerOptions {
    /// How two requests of the log are compared.
    pub fn cache(&self) -> CacheOptions {
        CacheOptions { family: self.family, provider: self.provider.clone() }
    }

    /// The price of a model.
    pub(crate) fn price(&self, model: Option<&str>) -> Option<Price> {
        let prices = self.prices.as_ref().unwrap_or_else(|| Prices::built_in());
        model.and_then(|it| prices.of(it)).copied()
    }
}

impl Default for LedgerOptions {
    fn default() -> Self {
        LedgerOptions { family: None, provider: None, prices: None, min_missed: 2_000, runs: 1_024 }
    }
}
