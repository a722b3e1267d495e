//! Token usage as providers report it, and why a model stopped (MS-23). The provider's own object is kept.

use std::borrow::Cow;
use std::fmt;

use msg_json::{Reader, Writer};
use serde::{Deserialize, Serialize};

use crate::{Code, Diagnostic, RawJson};

/// The token counts that a provider reports for a reply.
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
    /// The sum, if the provider reports it.
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
    /// The provider's object, unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<RawJson>,
}

impl Usage {
    /// Writes the provider's own object if `is_own` holds for one of its members, else `counts`.
    pub fn write(
        &self,
        it: &mut Writer<'_>,
        is_own: impl Fn(&str) -> bool,
        counts: &[(&str, Option<u64>)],
    ) {
        let is_ours = |it: &&RawJson| {
            let mut members = it.members().into_iter().flatten();
            members.any(|it| is_own(&it.0))
        };
        match self.raw.as_ref().filter(is_ours) {
            Some(own) => it.compact(own.text()),
            None => it.object(|it| {
                for (name, count) in counts {
                    it.optional(name, *count, |it, n| it.u64(n));
                }
            }),
        }
    }

    /// Reads the counts from a provider's object (Chat Completions, Responses, Anthropic, Gemini, Interactions or
    /// Bedrock names) and keeps the object. Members of the wrong type count as absent; [`Usage::settle`] reports
    /// them.
    pub fn from_raw(raw: RawJson) -> Self {
        let members = Members::of(raw.text());
        let first = |names: &[&str]| members.first_of(names);
        let sum = |names: &[&str]| {
            let numbers = names.iter().filter_map(|it| first(&[it]));
            numbers.reduce(u64::saturating_add)
        };
        let within = |names: &[&str], name| {
            let details = names.iter().find_map(|it| members.object(it));
            details.and_then(|it| it.first_of(&[name]))
        };
        let mut res = Self {
            // Anthropic and Bedrock leave caches out of their input (BR-27), Gemini the prompts of tools; Gemini and
            // Interactions leave thoughts out of their output (GI-28). Here both are all there is (RQ-25).
            input: first(&["prompt_tokens", "total_input_tokens"])
                .or_else(|| {
                    first(&["input_tokens"])?;
                    sum(&["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"])
                })
                .or_else(|| {
                    first(&["promptTokenCount"])?;
                    sum(&["promptTokenCount", "toolUsePromptTokenCount"])
                })
                .or_else(|| {
                    first(&["inputTokens"])?;
                    sum(&["inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"])
                }),
            output: first(&["completion_tokens", "output_tokens"])
                .or_else(|| sum(&["candidatesTokenCount", "thoughtsTokenCount"]))
                .or_else(|| first(&["outputTokens"]))
                .or_else(|| sum(&["total_output_tokens", "total_thought_tokens"])),
            total: first(&["total_tokens", "totalTokenCount", "totalTokens"]),
            cached: within(&["prompt_tokens_details", "input_tokens_details"], "cached_tokens")
                .or_else(|| {
                    let names = ["cache_read_input_tokens", "cachedContentTokenCount"];
                    first(&names)
                        .or_else(|| first(&["total_cached_tokens", "cacheReadInputTokens"]))
                }),
            cache_write: within(
                &["prompt_tokens_details", "input_tokens_details"],
                "cache_write_tokens",
            )
            .or_else(|| first(&["cache_creation_input_tokens", "cacheWriteInputTokens"])),
            reasoning: within(
                &["completion_tokens_details", "output_tokens_details"],
                "reasoning_tokens",
            )
            .or_else(|| within(&["output_tokens_details"], "thinking_tokens"))
            .or_else(|| first(&["thoughtsTokenCount", "total_thought_tokens"])),
            raw: None,
        };
        // xAI counts thoughts apart from the completion: the total decides (RQ-26).
        if let (Some(prompt), Some(completion), Some(thoughts), Some(total)) =
            (first(&["prompt_tokens"]), first(&["completion_tokens"]), res.reasoning, res.total)
            && thoughts > 0
            && prompt.saturating_add(completion).saturating_add(thoughts) == total
        {
            res.output = Some(completion.saturating_add(thoughts));
        }
        res.raw = Some(raw);
        res
    }

    /// Removes parts that are larger than their total, and reports them. Also reports counts that are not whole
    /// numbers, which were left out (RQ-25).
    ///
    /// ```
    /// use msg_core::Usage;
    ///
    /// let mut usage = Usage { input: Some(5), cached: Some(9), ..Usage::default() };
    /// assert!(usage.settle().iter().all(|it| it.code == "convert::usage-inconsistent"));
    /// assert_eq!((usage.input, usage.cached), (Some(5), None));
    /// ```
    pub fn settle(&mut self) -> Vec<Diagnostic> {
        let parts = self.settle_parts();
        self.odd_counts().into_iter().chain(parts).collect()
    }

    /// Removes parts that are larger than their total, and reports them.
    pub fn settle_parts(&mut self) -> Option<Diagnostic> {
        let caches = self.cached.unwrap_or(0).saturating_add(self.cache_write.unwrap_or(0));
        let has_more_cached = self.input.is_some_and(|it| caches > it);
        let has_more_thoughts =
            self.output.zip(self.reasoning).is_some_and(|(output, thoughts)| thoughts > output);
        if has_more_cached {
            (self.cached, self.cache_write) = (None, None);
        }
        if has_more_thoughts {
            self.reasoning = None;
        }
        let text = match (has_more_cached, has_more_thoughts) {
            (false, false) => None,
            (true, false) => Some("the cached input is larger than the input and is left out"),
            (false, true) => Some("the thoughts are larger than the output and are left out"),
            (true, true) => Some(
                "the cached input and the thoughts are larger than input and output and are left out",
            ),
        };
        text.map(|it| Diagnostic::warning(Code::new("convert::usage-inconsistent"), it))
    }

    /// Reports the counts of the source that are not whole numbers.
    pub fn odd_counts(&self) -> Vec<Diagnostic> {
        let members = Members::of(self.raw.as_ref().map_or("", RawJson::text)).0;
        let objects = members.iter().filter(|it| it.1.starts_with('{'));
        let details: Vec<_> = objects.flat_map(|it| Members::of(it.1).0).collect();
        let odd = members.iter().chain(&details).filter(|it| is_odd_count(&it.0, it.1));
        let odd = odd.map(|(name, value)| {
            format!("the count `{name}` is {value}, not a whole number, and is left out")
        });
        let code = Code::new("convert::usage-inconsistent");
        odd.map(|it| Diagnostic::warning(code.clone(), it)).collect()
    }

    /// The provider's object, else a JSON object with the counts under the names of the fields.
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
                    it.optional(name, number, |it, n| it.u64(n));
                }
            });
        })
    }
}

/// The members of a provider's object in order, including duplicates; empty for any other value.
struct Members<'j>(Vec<(Cow<'j, str>, &'j str)>);

impl<'j> Members<'j> {
    fn of(json: &'j str) -> Self {
        Members(Self::read(json).unwrap_or_default())
    }

    fn read(json: &'j str) -> Option<Vec<(Cow<'j, str>, &'j str)>> {
        let mut reader = Reader::from_text(json);
        reader.begin_object().ok()?;
        let mut res = Vec::new();
        while let Some(name) = reader.next_key().ok()? {
            res.push((name.text, reader.known_raw().ok()?));
        }
        Some(res)
    }

    /// The last member of this name.
    fn value(&self, name: &str) -> Option<&'j str> {
        self.0.iter().rev().find(|it| it.0 == name).map(|it| it.1)
    }

    /// The members of the last object with this name.
    fn object(&self, name: &str) -> Option<Self> {
        Self::read(self.value(name)?).map(Members)
    }

    /// The first of these members that is a number.
    fn first_of(&self, names: &[&str]) -> Option<u64> {
        names.iter().find_map(|it| count(self.value(it)?))
    }
}

/// Whether a member has the name of a count but not the value of one.
fn is_odd_count(name: &str, value: &str) -> bool {
    let is_named = ["tokens", "Tokens", "TokenCount"].iter().any(|it| name.ends_with(it));
    let is_value = !value.starts_with(['{', '[']) && value != "null";
    is_named && is_value && count(value).is_none()
}

/// A whole number. Some programs write it as a fraction or a text: `5.0`, `"5"`.
fn count(text: &str) -> Option<u64> {
    let text = text.trim_matches('"');
    let whole = text.split_once('.').filter(|it| it.1.bytes().all(|it| it == b'0'));
    whole.map_or(text, |it| it.0).parse().ok()
}

// Why a model stopped (MS-23).

/// Why a model stopped. Any other text is kept.
///
/// ```
/// use msg_core::FinishReason;
///
/// assert_eq!(FinishReason::from("tool_calls"), FinishReason::ToolCalls);
/// assert_eq!(FinishReason::from("banana").as_str(), "banana");
/// assert!(FinishReason::Length.is_cut());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FinishReason {
    /// The answer is complete.
    Stop,
    /// The token limit was reached.
    Length,
    /// The model waits for tool results.
    ToolCalls,
    /// The provider withheld the rest.
    ContentFilter,
    /// The provider failed.
    Error,
    /// The caller stopped the stream.
    Interrupted,
    /// Another text.
    Other(Box<str>),
}

impl FinishReason {
    /// Its name: `stop`, `length`, `tool_calls`, `content_filter`, `error`, `interrupted`.
    pub fn as_str(&self) -> &str {
        match self {
            FinishReason::Stop => "stop",
            FinishReason::Length => "length",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::ContentFilter => "content_filter",
            FinishReason::Error => "error",
            FinishReason::Interrupted => "interrupted",
            FinishReason::Other(text) => text,
        }
    }

    /// Whether the output was cut off: by the length limit, a content filter, an error or an
    /// interruption.
    pub fn is_cut(&self) -> bool {
        matches!(
            self,
            FinishReason::Length
                | FinishReason::ContentFilter
                | FinishReason::Error
                | FinishReason::Interrupted
        )
    }
}

impl From<&str> for FinishReason {
    fn from(word: &str) -> Self {
        match word {
            "stop" => FinishReason::Stop,
            "length" => FinishReason::Length,
            "tool_calls" => FinishReason::ToolCalls,
            "content_filter" => FinishReason::ContentFilter,
            "error" => FinishReason::Error,
            "interrupted" => FinishReason::Interrupted,
            other => FinishReason::Other(other.into()),
        }
    }
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
