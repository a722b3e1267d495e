//! A list of requests: where the prompt cache broke, why, and what it cost.

use msg_cache::{Error, Family, Ledger, LedgerOptions, Prices};
use msg_document::{ObjectWriter, Refusal, options_from_json, to_json};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The options of `cache`, those of `msg cache`.
pub(crate) struct CacheOptions(LedgerOptions);

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

impl CacheOptions {
    pub(crate) fn read(json: &[u8]) -> Result<Self, Refusal> {
        let it: CacheMembers = options_from_json(json)?;
        let mut options = LedgerOptions::default();
        if let Some(family) = it.from {
            options.cache = options.cache.with_family(family);
        }
        if let Some(provider) = it.provider {
            options.cache = options.cache.with_provider(provider);
        }
        let prices = it.prices.map(|it| Prices::read(it.get().as_bytes()));
        options.prices = prices.transpose().map_err(|it| Refusal::bad_option(it.to_string()))?;
        options.min_missed = it.min_missed.unwrap_or(options.min_missed);
        options.runs = it.runs.unwrap_or(options.runs);
        Ok(CacheOptions(options))
    }
}

fn family<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Family>, D::Error> {
    let Some(name) = Option::<String>::deserialize(from)? else { return Ok(None) };
    let known = || Family::ALL.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ");
    let unknown = |_| format!("no API is called {name:?}, expected {}", known());
    name.parse().map(Some).map_err(|it| D::Error::custom(unknown(it)))
}

/// The rows of a JSON array of requests, and their totals.
pub(crate) fn log(json: &[u8], options: &CacheOptions) -> Result<Vec<u8>, Refusal> {
    let requests: Vec<&RawValue> = serde_json::from_slice(json)
        .map_err(|it| Refusal::bad_option(format!("expected a list of requests: {it}")))?;
    let mut ledger = Ledger::new(options.0.clone());
    let mut rows = Vec::new();
    for (at, request) in requests.iter().enumerate() {
        if at > 0 {
            rows.push(b',');
        }
        match ledger.push(request.get().as_bytes()) {
            Ok(row) => rows.extend(to_json(&row)),
            Err(error) => rows.extend(bad_row(at, &error)),
        }
    }
    let rows = [&b"["[..], &rows, b"]"].concat();
    Ok(ObjectWriter::new().raw("rows", &rows).with("totals", &ledger.totals()).finish())
}

fn bad_row(at: usize, error: &Error) -> Vec<u8> {
    let error = ObjectWriter::new().with("code", &error.code()).with("message", &error.to_string());
    ObjectWriter::new().with("line", &(at + 1)).raw("error", &error.finish()).finish()
}
