//! Which API a body is for, and which provider's rules hold for it.

use std::{collections::BTreeMap, sync::LazyLock};

use msg_json::JsonValue as Value;
use serde::{Deserialize, Serialize};

use crate::cell::{Kind, Spelling, whole};

/// The API that a request body is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Family {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions, and its many imitations.
    #[default]
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
    families: BTreeMap<String, Table>,
    pub(crate) kinds_by_type: Vec<(Kind, Vec<String>)>,
    pub(crate) kinds_by_member: Vec<(Kind, Vec<String>)>,
    providers_by_host: Vec<(String, String)>,
    providers_by_model: Vec<(String, String)>,
    pub(crate) usage: Vec<CountNames>,
}

/// Where the bodies of a family have what is compared.
#[derive(Deserialize)]
pub(crate) struct Table {
    pub(crate) list: String,
    #[serde(default)]
    pub(crate) system: Vec<String>,
    #[serde(default)]
    pub(crate) joins: bool,
    provider: Option<String>,
    pub(crate) settings: Vec<SettingName>,
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
        ["anthropic", "openai", "responses", "gemini", "bedrock"][self as usize]
    }

    /// The family of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.name() == name)
    }

    /// Where its bodies have what is compared.
    pub(crate) fn table(self) -> &'static Table {
        &FAMILIES.families[self.name()]
    }

    /// The family of a body, by members that only it has.
    pub(crate) fn recognise(body: &Value<'_>) -> Option<Self> {
        let has = |names: &[&str]| body.any(names).is_some();
        let messages = body.get("messages").map(Value::list);
        if has(&["contents"]) {
            return Some(Family::Gemini);
        } else if has(&["input"]) || (messages.is_none() && has(&["instructions"])) {
            return Some(Family::Responses);
        }
        let is_converse = |it: &Value<'_>| {
            let first = it.get("content").and_then(|it| it.list().first());
            first.is_some_and(|it| !it.members().is_empty() && !it.has("type"))
        };
        let mut tools = body.get("tools").map_or(&[][..], Value::list).iter();
        let messages = messages?;
        Some(
            if has(&["toolConfig", "inferenceConfig", "modelId"])
                || messages.iter().any(is_converse)
            {
                Family::Bedrock
            } else if has(&["system", "anthropic_version", "thinking", "stop_sequences"])
                || tools.any(|it| it.has("input_schema"))
                || body.text_of("model").is_some_and(|it| it.starts_with("claude"))
            {
                Family::Anthropic
            } else {
                Family::OpenAi
            },
        )
    }

    /// The provider whose rules hold, by model and address.
    pub(crate) fn provider(self, model: Option<&str>, url: Option<&str>) -> &'static str {
        if let Some(only) = &self.table().provider {
            return only;
        }
        let (model, url) = (model.unwrap_or_default(), url.unwrap_or_default());
        let host = url.split('/').nth(2).unwrap_or_default();
        let by_host = FAMILIES.providers_by_host.iter().find(|it| host.contains(&it.0));
        let by_model = || FAMILIES.providers_by_model.iter().find(|it| model.starts_with(&it.0));
        match by_host {
            None if model.contains('/') => "openrouter",
            found => found.or_else(by_model).map_or("openai", |it| &it.1),
        }
    }
}

// Settings of a request that break the cache when they change, without those that say a default (CL-5).

/// A setting that is not at its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    /// The name, as the providers' table has it.
    pub(crate) name: &'static str,
    /// What it says.
    pub(crate) value: String,
}

/// The settings of a body that say something else than their default.
pub(crate) fn settings(body: &Value<'_>, family: Family) -> Vec<Setting> {
    let of_row = |it: &'static SettingName| {
        let value = it.path.split('.').try_fold(body, |value, name| value.get(name))?;
        let mut said = String::new();
        whole(value, Spelling::Meaning, &mut said);
        (!is_default(value, &it.defaults)).then_some(Setting { name: &it.name, value: said })
    };
    let mut res: Vec<Setting> = family.table().settings.iter().filter_map(of_row).collect();
    if family == Family::Anthropic {
        let on = |name| Setting { name, value: "on".to_owned() };
        let searches = body.get("tools").is_some_and(|it| it.list().iter().any(is_web_search));
        res.extend(searches.then(|| on("web_search")));
        res.extend(has_citations(body).then(|| on("citations")));
    }
    res
}

/// A default is the word, an object whose type is the word and that says nothing else, or an object with it as its only
/// member.
fn is_default(value: &Value<'_>, defaults: &[String]) -> bool {
    let is_one = |it: Option<&str>| it.is_some_and(|it| defaults.iter().any(|one| one == it));
    match value.members() {
        [] => is_one(value.text()),
        [(name, it)] => (name == "type" && is_one(it.text())) || is_one(Some(&**name)),
        _ => false,
    }
}

pub(crate) fn is_web_search(tool: &Value<'_>) -> bool {
    tool.text_of("type").is_some_and(|it| it.starts_with("web_search"))
}

/// Whether any document of the messages has citations switched on.
fn has_citations(body: &Value<'_>) -> bool {
    let messages = body.get("messages").map_or(&[][..], Value::list);
    let mut blocks = messages.iter().filter_map(|it| it.get("content")).flat_map(Value::list);
    blocks.any(|it| it.at(&["citations", "enabled"]) == Some(&Value::Bool(true)))
}
