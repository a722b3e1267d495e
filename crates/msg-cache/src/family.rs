//! Which API a body is for, and which provider's rules hold for it.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::error::Error;
use crate::spell::Value;

/// The API that a request body is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Family {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions, and its many imitations.
    OpenAi,
    /// OpenAI Responses.
    Responses,
    /// Gemini `generateContent`.
    Gemini,
    /// Amazon Bedrock Converse.
    Bedrock,
}

impl Family {
    /// All of them.
    pub const ALL: &[Family] =
        &[Family::Anthropic, Family::OpenAi, Family::Responses, Family::Gemini, Family::Bedrock];

    /// The name that `--from` takes.
    pub fn name(self) -> &'static str {
        match self {
            Family::Anthropic => "anthropic",
            Family::OpenAi => "openai",
            Family::Responses => "responses",
            Family::Gemini => "gemini",
            Family::Bedrock => "bedrock",
        }
    }

    /// The API joins neighbouring messages of one role, so that their border is not seen.
    pub(crate) fn joins_messages(self) -> bool {
        matches!(self, Family::Anthropic | Family::Bedrock)
    }

    /// The family of a body, by members that only it has.
    pub(crate) fn recognise(body: &Value<'_>) -> Option<Self> {
        let messages = body.get("messages").map(Value::list);
        let blocks = || messages.unwrap_or_default().iter().filter_map(|it| it.get("content"));
        let is_converse = |it: &Value<'_>| {
            let first = it.list().first();
            first.is_some_and(|it| !it.members().is_empty() && !it.has("type"))
        };
        let is_anthropic = ["system", "anthropic_version", "thinking", "stop_sequences"];
        let has_schema = |it: &Value<'_>| it.list().iter().any(|it| it.has("input_schema"));
        if body.has("contents") {
            Some(Family::Gemini)
        } else if body.has("input") || (messages.is_none() && body.has("instructions")) {
            Some(Family::Responses)
        } else if messages.is_none() {
            None
        } else if ["toolConfig", "inferenceConfig", "modelId"].iter().any(|it| body.has(it))
            || blocks().any(is_converse)
        {
            Some(Family::Bedrock)
        } else if is_anthropic.iter().any(|it| body.has(it))
            || body.get("tools").is_some_and(has_schema)
            || body.text_of("model").is_some_and(|it| it.starts_with("claude"))
        {
            Some(Family::Anthropic)
        } else {
            Some(Family::OpenAi)
        }
    }

    /// The provider whose rules hold, by model and address.
    pub(crate) fn provider(self, model: Option<&str>, url: Option<&str>) -> &'static str {
        let (model, url) = (model.unwrap_or_default(), url.unwrap_or_default());
        match self {
            Family::Anthropic => return "anthropic",
            Family::Bedrock => return "bedrock",
            Family::Gemini => return "gemini",
            Family::OpenAi | Family::Responses => {}
        }
        const HOSTS: &[(&str, &str)] = &[
            ("deepseek", "deepseek"),
            ("x.ai", "xai"),
            ("groq", "groq"),
            ("mistral", "mistral"),
            ("moonshot", "moonshot"),
            ("openrouter", "openrouter"),
        ];
        const MODELS: &[(&str, &str)] = &[
            ("deepseek", "deepseek"),
            ("grok", "xai"),
            ("kimi", "moonshot"),
            ("moonshot", "moonshot"),
            ("mistral", "mistral"),
            ("magistral", "mistral"),
            ("codestral", "mistral"),
            ("devstral", "mistral"),
            ("ministral", "mistral"),
            ("pixtral", "mistral"),
        ];
        let host = url.split('/').nth(2).unwrap_or_default();
        let by_host = HOSTS.iter().find(|it| host.contains(it.0)).map(|it| it.1);
        let by_model = || MODELS.iter().find(|it| model.starts_with(it.0)).map(|it| it.1);
        let named = by_host.or_else(|| model.contains('/').then_some("openrouter"));
        named.or_else(by_model).unwrap_or("openai")
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Family {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let named = Family::ALL.iter().find(|it| it.name() == name);
        named
            .copied()
            .ok_or_else(|| Error::Foreign(format!("`{name}` is not a family of requests")))
    }
}
