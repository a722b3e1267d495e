//! Which API a body is for, and which provider's rules hold for it.

use std::{collections::BTreeMap, fmt, str::FromStr, sync::LazyLock};

use serde::{Deserialize, Serialize};

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

/// How the bodies and the usage of each API are read: `data/families.json`.
pub(crate) static FAMILIES: LazyLock<Families> = LazyLock::new(|| {
    let text = include_str!("../data/families.json");
    serde_json::from_str(text).expect("because a test reads it")
});

#[derive(Deserialize)]
pub(crate) struct Families {
    settings: BTreeMap<String, Vec<SettingName>>,
    providers_by_host: Vec<(String, String)>,
    providers_by_model: Vec<(String, String)>,
    pub(crate) usage: Vec<CountNames>,
}

/// Where a setting is in a body, and which of its values are the default.
#[derive(Deserialize)]
pub(crate) struct SettingName {
    pub(crate) name: String,
    /// Empty for what is not a member of the body.
    #[serde(default)]
    pub(crate) path: String,
    #[serde(default)]
    pub(crate) defaults: Vec<String>,
}

/// The members in which a provider counts.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct CountNames {
    pub(crate) when: Vec<String>,
    pub(crate) prompt: Vec<String>,
    pub(crate) output: Vec<String>,
    pub(crate) read: Vec<String>,
    pub(crate) write: Vec<String>,
    pub(crate) long: Vec<String>,
    pub(crate) whole: bool,
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

    /// The settings of its bodies, in the order of findings.
    pub(crate) fn settings(self) -> &'static [SettingName] {
        let name = if self == Family::Responses { Family::OpenAi } else { self }.name();
        &FAMILIES.settings[name]
    }

    /// The name of the list of messages in its bodies.
    pub(crate) fn list_name(self) -> &'static str {
        match self {
            Family::Gemini => "contents",
            Family::Responses => "input",
            _ => "messages",
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
        let host = url.split('/').nth(2).unwrap_or_default();
        let by_host = FAMILIES.providers_by_host.iter().find(|it| host.contains(&it.0));
        let by_model = || FAMILIES.providers_by_model.iter().find(|it| model.starts_with(&it.0));
        match by_host {
            None if model.contains('/') => "openrouter",
            found => found.or_else(by_model).map_or("openai", |it| &it.1),
        }
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
