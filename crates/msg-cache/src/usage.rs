//! Recorded usage in one form (CL-30): what was read, written and new sums to the whole prompt.

use std::{collections::BTreeMap, sync::LazyLock};

use msg_json::JsonValue as Value;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::error::Error;
use crate::family::{CountNames, FAMILIES};

/// Tokens of a request and its answer. The first four sum to the whole prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CacheUsage {
    /// Neither read from the cache nor written to it.
    pub input: u64,
    /// Read from the cache.
    pub read: u64,
    /// Written to the cache for the usual time.
    pub write: u64,
    /// Written for longer (1 h, 12 h).
    pub write_long: u64,
    /// The answer, thoughts included.
    pub output: u64,
}

impl CacheUsage {
    /// Reads the usage object of any provider, as text.
    pub fn read(json: &[u8]) -> Option<Self> {
        Self::of(&Value::read(json)?)
    }

    pub(crate) fn of(value: &Value<'_>) -> Option<Self> {
        let is_there = |it: &&CountNames| it.when.iter().any(|it| value.has(it));
        let names = FAMILIES.usage.iter().find(is_there)?;
        let sum = |names: &[String]| names.iter().map(|it| count(value, it)).sum::<u64>();
        let first = |paths: &[String]| {
            let count = |path: &String| {
                let (front, last) = path.rsplit_once('.').unwrap_or(("", path));
                let holder = if front.is_empty() { value } else { value.get(front)? };
                holder.has(last).then(|| count(holder, last))
            };
            paths.iter().find_map(count).unwrap_or(0)
        };
        let mut input = sum(&names.prompt);
        let (mut read, mut written) = (first(&names.read), first(&names.write));
        if names.whole {
            read = read.min(input);
            written = written.min(input - read);
            input -= read + written;
        }
        let write_long = first(&names.long).min(written);
        let (write, output) = (written - write_long, sum(&names.output));
        Some(CacheUsage { input, read, write, write_long, output })
    }

    /// The whole prompt.
    pub fn prompt(&self) -> u64 {
        self.input + self.read + self.written()
    }

    /// What was written, for however long.
    pub fn written(&self) -> u64 {
        self.write + self.write_long
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.input += other.input;
        self.read += other.read;
        self.write += other.write;
        self.write_long += other.write_long;
        self.output += other.output;
    }
}

/// A count of tokens: 0 for a value that is not a number, or below zero; never so large that sums overflow.
fn count(value: &Value<'_>, name: &str) -> u64 {
    value.number(name).map_or(0, |it| it.clamp(0.0, 1e12) as u64)
}

// What tokens cost, by model: a built-in list with its date, or a file in LiteLLM's form (CL-31).
//
// ```text
// {"claude-opus-4-6":{"input_cost_per_token":5e-06,"output_cost_per_token":2.5e-05,"cache_read_input_token_cost":5e-07,…},…}
// ```

/// Picodollars in a dollar: money is summed in whole numbers.
pub(crate) const PICO: f64 = 1e12;

static BUILT_IN: LazyLock<Prices> = LazyLock::new(|| {
    Prices::read(include_bytes!("../data/prices.json")).expect("because a test reads it")
});

/// What a model's tokens cost, in picodollars each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// A token of the prompt.
    pub input: u64,
    /// A token of the answer.
    pub output: u64,
    /// A token that was read from the cache.
    pub read: u64,
    /// A token that was written to it.
    pub write: u64,
    /// A token that was written for longer.
    pub write_long: u64,
}

impl Price {
    /// What a request cost, in picodollars.
    pub fn cost(&self, usage: &CacheUsage) -> u128 {
        let parts = [
            (usage.input, self.input),
            (usage.read, self.read),
            (usage.write, self.write),
            (usage.write_long, self.write_long),
            (usage.output, self.output),
        ];
        parts.iter().map(|it| u128::from(it.0) * u128::from(it.1)).sum()
    }
}

/// Prices by model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prices(BTreeMap<String, Price>);

impl<'de> Deserialize<'de> for Prices {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let file = Box::<RawValue>::deserialize(from)?;
        Prices::read(file.get().as_bytes()).map_err(D::Error::custom)
    }
}

impl Prices {
    /// The list that comes with this crate: base tiers of 225 names, dated in its sources.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// Reads a price file in LiteLLM's form; members that are not prices are passed over.
    ///
    /// # Errors
    /// A text that is not an object of objects, and a price that is not a number or below zero; the error names the member.
    pub fn read(json: &[u8]) -> Result<Self, Error> {
        let bad = |path: &str, found: &str, expected: &str| {
            Error::BadPrices(format!("{path}: {found}, expected {expected}"))
        };
        let Some(Value::Object(models)) = Value::read(json) else {
            return Err(bad("the file", "not an object", "an object of models"));
        };
        let mut res = BTreeMap::new();
        for (model, members) in &models {
            if !matches!(members, Value::Object(_)) {
                return Err(bad(model, "not an object", "an object of prices"));
            }
            let price = |name: &str| match (members.get(name), members.number(name)) {
                (None, _) => Ok(None),
                (_, Some(it)) if it >= 0.0 => Ok(Some((it * PICO).round() as u64)),
                (Some(found), _) => {
                    let (path, found) = (format!("{model}.{name}"), format!("{found:?}"));
                    Err(bad(&path, &found, "a number of dollars, 0 or more"))
                }
            };
            let Some(input) = price("input_cost_per_token")? else { continue };
            let write = price("cache_creation_input_token_cost")?.unwrap_or(input);
            let long = price("cache_creation_input_token_cost_above_1hr")?;
            let row = Price {
                input,
                output: price("output_cost_per_token")?.unwrap_or(0),
                read: price("cache_read_input_token_cost")?.unwrap_or(input),
                write,
                write_long: long.unwrap_or(write),
            };
            res.insert(model.to_string(), row);
        }
        Ok(Prices(res))
    }

    /// The price of a model: by its exact name, else by the longest name that it begins with; without what is in front of a
    /// slash.
    pub fn of(&self, model: &str) -> Option<&Price> {
        let bare = model.rsplit('/').next().unwrap_or(model);
        let exact = self.0.get(model).or_else(|| self.0.get(bare));
        exact.or_else(|| {
            let begins = self.0.iter().filter(|it| bare.starts_with(it.0.as_str()));
            begins.max_by_key(|it| it.0.len()).map(|it| it.1)
        })
    }
}
