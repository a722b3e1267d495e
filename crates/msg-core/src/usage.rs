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
/// # Ok::<(), msg_json::JsonError>(())
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
    /// Reads the numbers out of a provider's object (Chat Completions, Responses, Anthropic or
    /// Gemini names) and keeps the object. Members of another type count as absent.
    pub fn from_raw(raw: RawJson) -> Self {
        let it: Names = raw.parse().unwrap_or_default();
        let details = it.prompt_tokens_details.or(it.input_tokens_details).unwrap_or_default();
        let thoughts =
            it.completion_tokens_details.or(it.output_tokens_details).unwrap_or_default();
        Self {
            input: first(&[&it.prompt_tokens, &it.input_tokens, &it.prompt_token_count]),
            output: first(&[&it.completion_tokens, &it.output_tokens, &it.candidates_token_count]),
            total: first(&[&it.total_tokens, &it.total_token_count]),
            cached: first(&[
                &details.cached_tokens,
                &it.cache_read_input_tokens,
                &it.cached_content_token_count,
            ]),
            cache_write: number(&it.cache_creation_input_tokens),
            reasoning: first(&[&thoughts.reasoning_tokens, &it.thoughts_token_count]),
            raw: Some(raw),
        }
    }
}

impl Usage {
    /// The provider's object, else the numbers as a JSON object under the names of the fields.
    ///
    /// ```
    /// use msg_core::Usage;
    ///
    /// let usage = Usage { input: Some(7), output: Some(2), ..Usage::default() };
    /// assert_eq!(usage.to_raw().text(), r#"{"input":7,"output":2}"#);
    /// ```
    pub fn to_raw(&self) -> RawJson {
        if let Some(raw) = &self.raw {
            return raw.clone();
        }
        let numbers = [
            ("input", self.input),
            ("output", self.output),
            ("total", self.total),
            ("cached", self.cached),
            ("cache_write", self.cache_write),
            ("reasoning", self.reasoning),
        ];
        RawJson::written(|it| {
            it.object(|it| {
                for (name, number) in numbers {
                    if let Some(number) = number {
                        it.key(name).u64(number);
                    }
                }
            });
        })
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
    #[serde(rename = "promptTokenCount")]
    prompt_token_count: Option<RawJson>,
    #[serde(rename = "candidatesTokenCount")]
    candidates_token_count: Option<RawJson>,
    #[serde(rename = "totalTokenCount")]
    total_token_count: Option<RawJson>,
    #[serde(rename = "cachedContentTokenCount")]
    cached_content_token_count: Option<RawJson>,
    #[serde(rename = "thoughtsTokenCount")]
    thoughts_token_count: Option<RawJson>,
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

/// The first of these that is a number.
fn first(all: &[&Option<RawJson>]) -> Option<u64> {
    all.iter().find_map(|it| number(it))
}

fn number(raw: &Option<RawJson>) -> Option<u64> {
    raw.as_ref()?.text().parse().ok()
}

fn lenient<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Details>, D::Error> {
    RawJson::deserialize(deserializer).map(|it| it.parse().ok())
}
