//! Recorded usage in one form (CL-30): what was read, written and new sums to the whole prompt.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Serialize;

use crate::error::Error;
use crate::spell::Value;

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

/// How a provider counts: the members of each part, words of a text; a dot is between a member and one in it.
struct Names {
    /// Tokens of the prompt: those of these members together.
    input: &'static str,
    output: &'static str,
    /// The first of these members that is there; so are `write` and `long`, which is a part of it.
    read: &'static str,
    write: &'static str,
    long: &'static str,
    /// The prompt contains what was read and written.
    contains: bool,
}

impl Names {
    const fn new(
        input: &'static str,
        output: &'static str,
        [read, write, long]: [&'static str; 3],
    ) -> Self {
        Names { input, output, read, write, long, contains: false }
    }

    const fn containing(self) -> Self {
        Names { contains: true, ..self }
    }
}

/// Told apart by the member that counts the prompt; the first that is there decides.
const FAMILIES: &[Names] = &[
    Names::new(
        "prompt_cache_miss_tokens",
        "completion_tokens",
        ["prompt_cache_hit_tokens", "", ""],
    ),
    Names::new(
        "prompt_tokens",
        "completion_tokens",
        [
            "prompt_tokens_details.cached_tokens cached_tokens cache_read_input_tokens",
            "prompt_tokens_details.cache_write_tokens cache_creation_input_tokens",
            "prompt_tokens_details.ttl_12h_tokens",
        ],
    )
    .containing(),
    Names::new(
        "promptTokenCount toolUsePromptTokenCount",
        "candidatesTokenCount thoughtsTokenCount",
        ["cachedContentTokenCount", "", ""],
    )
    .containing(),
    Names::new(
        "prompt_token_count tool_use_prompt_token_count",
        "candidates_token_count thoughts_token_count",
        ["cached_content_token_count", "", ""],
    )
    .containing(),
    Names::new(
        "inputTokens",
        "outputTokens",
        ["cacheReadInputTokens", "cacheWriteInputTokens", ""],
    ),
    Names::new(
        "total_input_tokens",
        "total_output_tokens total_thought_tokens",
        ["total_cached_tokens", "", ""],
    )
    .containing(),
];

const ANTHROPIC: Names = Names::new(
    "input_tokens",
    "output_tokens",
    [
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "cache_creation.ephemeral_1h_input_tokens",
    ],
);

const RESPONSES: Names = Names::new(
    "input_tokens",
    "output_tokens",
    [
        "input_tokens_details.cached_tokens cached_input_tokens",
        "input_tokens_details.cache_write_tokens",
        "input_tokens_details.ttl_12h_tokens",
    ],
)
.containing();

impl CacheUsage {
    /// Reads the usage object of any provider, as text.
    pub fn read(json: &[u8]) -> Option<Self> {
        Self::of(&Value::read(json)?)
    }

    pub(crate) fn of(value: &Value<'_>) -> Option<Self> {
        let named = FAMILIES.iter().find(|it| it.input.split(' ').any(|it| value.has(it)));
        let names = match named {
            Some(it) => it,
            None if !value.has("input_tokens") => return None,
            None if value.has("input_tokens_details") || value.has("cached_input_tokens") => {
                &RESPONSES
            }
            None => &ANTHROPIC,
        };
        Some(names.read_from(value))
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

impl Names {
    fn read_from(&self, value: &Value<'_>) -> CacheUsage {
        let sum = |names: &str| names.split(' ').map(|it| value.count(it)).sum::<u64>();
        let first = |paths: &str| {
            let count = |path: &str| {
                let (front, last) = path.rsplit_once('.').unwrap_or(("", path));
                let holder = if front.is_empty() { value } else { value.get(front)? };
                holder.has(last).then(|| holder.count(last))
            };
            paths.split(' ').find_map(count).unwrap_or(0)
        };
        let (total, output) = (sum(self.input), sum(self.output));
        let (mut read, mut written, mut long) =
            (first(self.read), first(self.write), first(self.long));
        let mut input = total;
        if self.contains {
            read = read.min(total);
            written = written.min(total - read);
            input = total - read - written;
        }
        long = long.min(written);
        written -= long;
        CacheUsage { input, read, write: written, write_long: long, output }
    }
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
        let bad = |path: &str, found: &str, expected| Error::BadPrices {
            path: path.to_owned(),
            found: found.to_owned(),
            expected,
        };
        let Some(Value::Object(models)) = Value::read(json) else {
            return Err(bad("the file", "not an object", "an object of models"));
        };
        let mut res = BTreeMap::new();
        for (model, members) in &models {
            if !matches!(members, Value::Object(_)) {
                return Err(bad(model, "not an object", "an object of prices"));
            }
            let price = |name: &str| -> Result<Option<u64>, Error> {
                let Some(value) = members.get(name) else { return Ok(None) };
                match members.number(name).filter(|it| *it >= 0.0) {
                    Some(it) => Ok(Some((it * PICO).round() as u64)),
                    None => {
                        let found = format!("{value:?}");
                        Err(bad(
                            &format!("{model}.{name}"),
                            &found,
                            "a number of dollars, 0 or more",
                        ))
                    }
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
