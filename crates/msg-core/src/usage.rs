//! Token usage as providers report it (MS-23): the numbers that several of them give, and the
//! provider's own object.

use serde::{Deserialize, Serialize};

use crate::RawJson;

/// What a provider says that a reply cost, in tokens.
///
/// ```
/// use msg_core::{RawJson, Usage};
///
/// let usage = Usage::from_raw(RawJson::new(r#"{"prompt_tokens": 7, "completion_tokens": 2}"#)?);
/// assert_eq!((usage.input, usage.output, usage.total), (Some(7), Some(2), None));
/// # Ok::<(), msg_core::json::JsonError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Tokens of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Both, where the provider adds them up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Tokens of the prompt that were read from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// Tokens of the prompt that were written to a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// Tokens of the reply that were reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// The provider's object, as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<RawJson>,
}

impl Usage {
    /// Reads the numbers out of a provider's object (Chat Completions, Responses or Anthropic
    /// names) and keeps the object. Members of another type count as absent.
    pub fn from_raw(raw: RawJson) -> Self {
        let it: Names = raw.parse().unwrap_or_default();
        let details = it.prompt_tokens_details.or(it.input_tokens_details).unwrap_or_default();
        let thoughts =
            it.completion_tokens_details.or(it.output_tokens_details).unwrap_or_default();
        Self {
            input: number(&it.prompt_tokens).or(number(&it.input_tokens)),
            output: number(&it.completion_tokens).or(number(&it.output_tokens)),
            total: number(&it.total_tokens),
            cached: number(&details.cached_tokens).or(number(&it.cache_read_input_tokens)),
            cache_write: number(&it.cache_creation_input_tokens),
            reasoning: number(&thoughts.reasoning_tokens),
            raw: Some(raw),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Names {
    prompt_tokens: Option<RawJson>,
    input_tokens: Option<RawJson>,
    completion_tokens: Option<RawJson>,
    output_tokens: Option<RawJson>,
    total_tokens: Option<RawJson>,
    cache_read_input_tokens: Option<RawJson>,
    cache_creation_input_tokens: Option<RawJson>,
    #[serde(deserialize_with = "lenient")]
    prompt_tokens_details: Option<Details>,
    #[serde(deserialize_with = "lenient")]
    input_tokens_details: Option<Details>,
    #[serde(deserialize_with = "lenient")]
    completion_tokens_details: Option<Details>,
    #[serde(deserialize_with = "lenient")]
    output_tokens_details: Option<Details>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Details {
    cached_tokens: Option<RawJson>,
    reasoning_tokens: Option<RawJson>,
}

fn number(raw: &Option<RawJson>) -> Option<u64> {
    raw.as_ref()?.text().parse().ok()
}

fn lenient<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Details>, D::Error> {
    RawJson::deserialize(deserializer).map(|it| it.parse().ok())
}
