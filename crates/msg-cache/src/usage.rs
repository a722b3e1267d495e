//! Recorded usage in one form (CL-30): what was read, written and new sums to the whole prompt.

use serde::Serialize;

use crate::value::Value;

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

/// How a provider counts: the members of each part.
struct Names {
    /// Tokens of the prompt.
    input: &'static [&'static str],
    output: &'static [&'static str],
    read: &'static [&'static [&'static str]],
    write: &'static [&'static [&'static str]],
    long: &'static [&'static [&'static str]],
    /// The prompt contains what was read and written.
    contains: bool,
}

/// Told apart by the member that counts the prompt; the first that is there decides.
const FAMILIES: &[Names] = &[
    Names {
        input: &["prompt_cache_miss_tokens"],
        output: &["completion_tokens"],
        read: &[&["prompt_cache_hit_tokens"]],
        write: &[],
        long: &[],
        contains: false,
    },
    Names {
        input: &["prompt_tokens"],
        output: &["completion_tokens"],
        read: &[&["prompt_tokens_details", "cached_tokens"], &["cached_tokens"]],
        write: &[&["prompt_tokens_details", "cache_write_tokens"]],
        long: &[&["prompt_tokens_details", "ttl_12h_tokens"]],
        contains: true,
    },
    Names {
        input: &["promptTokenCount", "toolUsePromptTokenCount"],
        output: &["candidatesTokenCount", "thoughtsTokenCount"],
        read: &[&["cachedContentTokenCount"]],
        write: &[],
        long: &[],
        contains: true,
    },
    Names {
        input: &["prompt_token_count", "tool_use_prompt_token_count"],
        output: &["candidates_token_count", "thoughts_token_count"],
        read: &[&["cached_content_token_count"]],
        write: &[],
        long: &[],
        contains: true,
    },
    Names {
        input: &["inputTokens"],
        output: &["outputTokens"],
        read: &[&["cacheReadInputTokens"]],
        write: &[&["cacheWriteInputTokens"]],
        long: &[],
        contains: false,
    },
    Names {
        input: &["total_input_tokens"],
        output: &["total_output_tokens", "total_thought_tokens"],
        read: &[&["total_cached_tokens"]],
        write: &[],
        long: &[],
        contains: true,
    },
];

const ANTHROPIC: Names = Names {
    input: &["input_tokens"],
    output: &["output_tokens"],
    read: &[&["cache_read_input_tokens"]],
    write: &[&["cache_creation_input_tokens"]],
    long: &[&["cache_creation", "ephemeral_1h_input_tokens"]],
    contains: false,
};

const RESPONSES: Names = Names {
    input: &["input_tokens"],
    output: &["output_tokens"],
    read: &[&["input_tokens_details", "cached_tokens"], &["cached_input_tokens"]],
    write: &[&["input_tokens_details", "cache_write_tokens"]],
    long: &[&["input_tokens_details", "ttl_12h_tokens"]],
    contains: true,
};

impl CacheUsage {
    /// Reads the usage object of any provider, as text.
    pub fn read(json: &[u8]) -> Option<Self> {
        Self::of(&Value::read(json)?)
    }

    pub(crate) fn of(value: &Value<'_>) -> Option<Self> {
        let named = FAMILIES.iter().find(|it| value.any(it.input).is_some());
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
        let sum = |names: &[&str]| names.iter().map(|it| value.count(it)).sum::<u64>();
        let first = |paths: &[&[&str]]| {
            let count = |path: &&[&str]| {
                let (last, front) = path.split_last()?;
                let holder = value.at(front)?;
                holder.has(last).then(|| holder.count(last))
            };
            paths.iter().find_map(count).unwrap_or(0)
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
