//! Which API a body is for, which provider's rules hold for it, and what each provider documents about its prompt
//! cache.

use std::{collections::BTreeMap, sync::LazyLock};

use msg_json::JsonValue as Value;
use serde::{Deserialize, Serialize};

use crate::cell::{Cell, Kind, Level};
use crate::cell::{Spelling, whole};
use crate::compare::{Comparison, Relation, Side};
use crate::prompt::Prompt;

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

// What each provider documents about its prompt cache, as data: `data/rules.json`, with the sources.

/// The text of the rules, as `msg cache --rules` prints it.
pub const RULES: &str = include_str!("../data/rules.json");

static BUILT_IN: LazyLock<Rules> =
    LazyLock::new(|| serde_json::from_str(RULES).expect("because a test reads it"));

/// The rules of all providers.
#[derive(Debug, Deserialize)]
pub(crate) struct Rules {
    providers: BTreeMap<String, Provider>,
    compaction_markers: Vec<String>,
}

/// The rules of a provider.
#[derive(Debug, Deserialize)]
pub(crate) struct Provider {
    /// Where entries are written: `marked`, `marked+last` (and at the last user or tool cell), or `prefix`: everywhere.
    entries: String,
    /// Lengths of what is cached are multiples of it.
    pub(crate) step: Option<u64>,
    pub(crate) max_markers: Option<usize>,
    /// Cells that are looked back from a mark, itself counted.
    pub(crate) lookback: Option<usize>,
    /// Seconds, by what was asked for.
    ttl: BTreeMap<String, Option<u64>>,
    min: u64,
    /// The price of a token that is read, as a share of the input price; none where it is the model's price alone.
    read: Option<f64>,
    /// The same of tokens that are written, by how long they live.
    #[serde(default)]
    write: BTreeMap<String, f64>,
    #[serde(default)]
    min_by_model: Vec<(String, u64)>,
    #[serde(default)]
    strips_thinking: Vec<String>,
    /// Models of a newer version of a provider's cache.
    #[serde(default)]
    models: Vec<String>,
    /// The first level that each setting breaks: `all`, `system` or `messages`.
    pub(crate) settings: BTreeMap<String, String>,
}

impl Provider {
    /// The rules for a provider and a model; those of OpenAI where the provider has none.
    pub(crate) fn of(name: &str, model: Option<&str>) -> &'static Self {
        let model = model.unwrap_or_default();
        let is_claude = || model.to_ascii_lowercase().contains("claude");
        let providers = &BUILT_IN.providers;
        let newer = || {
            let of_model = |it: &&Provider| it.models.iter().any(|it| model.contains(it));
            providers.values().find(of_model)
        };
        let found = match name {
            "openrouter" if is_claude() => providers.get("anthropic"),
            "openai" => newer().or_else(|| providers.get("openai")),
            name => providers.get(name),
        };
        found.unwrap_or_else(|| &providers["openai"])
    }

    pub(crate) fn is_marked(&self) -> bool {
        self.entries != "prefix"
    }

    /// The least tokens that are cached.
    pub(crate) fn minimum(&self, model: Option<&str>) -> u64 {
        let of_model = |it: &&(String, u64)| model.is_some_and(|model| model.contains(&it.0));
        self.min_by_model.iter().find(of_model).map_or(self.min, |it| it.1)
    }

    /// Whether the API takes old thinking out of what the model sees.
    pub(crate) fn strips_thinking(&self, model: Option<&str>) -> bool {
        model.is_some_and(|model| self.strips_thinking.iter().any(|it| model.contains(it)))
    }

    /// How long an entry lives that was asked for so, in seconds; nothing where that is not documented.
    pub(crate) fn lifetime(&self, asked: &str) -> Option<u64> {
        self.ttl.get(asked).or_else(|| self.ttl.get("default")).copied().flatten()
    }
}

/// What a provider asks for tokens that its cache reads, and for those that it writes for the shortest time, as shares
/// of the price of an input token. None where its table has no such price.
///
/// ```
/// assert_eq!(msg_cache::rates("anthropic"), Some((0.1, 1.25)));
/// assert_eq!(msg_cache::rates("unknown-model"), None);
/// ```
pub fn rates(provider: &str) -> Option<(f64, f64)> {
    let provider = BUILT_IN.providers.get(provider)?;
    Some((provider.read?, provider.write.values().copied().reduce(f64::min).unwrap_or(1.0)))
}

/// Whether a text begins what a compaction left of earlier messages.
pub(crate) fn is_compaction(text: &str) -> bool {
    let text = text.to_lowercase();
    BUILT_IN.compaction_markers.iter().any(|it| text.contains(&it.to_lowercase()))
}

// What the provider can still read under its own rules, and what it would refuse (CL-20 to CL-25).

/// The codes of what is to be said beside the changes. Both requests begin with `shared` cells.
pub(crate) fn notes(
    rules: &Provider,
    compared: &Comparison,
    shared: usize,
    a: Side<'_>,
    b: Side<'_>,
) -> Vec<&'static str> {
    let mut res = Vec::new();
    if compared.relation != Relation::Other && rules.is_marked() {
        res.extend(unread(rules, shared, a.1, b.1));
    }
    res.extend(refused(rules, b.1));
    let notes = [
        ("cache::thinking-stripped", a.1.strips),
        (
            "cache::images-changed",
            rules.settings.contains_key("images") && a.1.has_images != b.1.has_images,
        ),
        ("cache::too-short", compared.estimate < compared.minimum),
        ("cache::expired", is_expired(rules, a, b)),
    ];
    res.extend(notes.into_iter().filter(|it| it.1).map(|it| it.0));
    res
}

/// The cells at which entries are written: those that are marked, where automatic caching marks the last one that is not
/// thinking, and with some providers the last one of the user or a tool.
fn entries(rules: &Provider, prompt: &Prompt<'_>) -> Vec<usize> {
    let cells = prompt.cells.iter();
    let marked = cells.clone().enumerate().filter(|it| !it.1.marks.is_empty()).map(|it| it.0);
    let mut res: Vec<usize> = marked.collect();
    if prompt.automatic.is_some() {
        res.extend(cells.clone().rposition(|it| it.kind != Kind::Thinking));
    }
    if rules.entries == "marked+last" && !prompt.is_explicit {
        let is_written = |it: &Cell<'_>| {
            let is_input = it.kind == Kind::Result || it.role == "user" || it.role == "tool";
            it.level == Level::Messages && is_input
        };
        res.extend(cells.clone().rposition(is_written));
    }
    res
}

fn unread(rules: &Provider, shared: usize, a: &Prompt<'_>, b: &Prompt<'_>) -> Option<&'static str> {
    let (written, reading) = (entries(rules, a), entries(rules, b));
    let inside: Vec<usize> = written.iter().copied().filter(|it| *it < shared).collect();
    if inside.is_empty() && !(written.is_empty() && reading.is_empty()) {
        return Some("cache::nothing-written");
    }
    if reading.is_empty() {
        return Some("cache::no-breakpoint");
    }
    let lookback = rules.lookback?;
    let reaches = |it: &usize| reading.iter().any(|at| at >= it && at - it < lookback);
    (!inside.iter().any(reaches)).then_some("cache::lookback")
}

/// What the API answers with an error.
fn refused(rules: &Provider, prompt: &Prompt<'_>) -> Vec<&'static str> {
    let most = rules.max_markers.filter(|_| rules.entries == "marked");
    let asked = prompt.cells.iter().flat_map(|it| &it.marks).chain(&prompt.automatic);
    let lifetimes: Vec<u64> = asked.filter_map(|it| rules.lifetime(it)).collect();
    let has_too_many = most.is_some_and(|it| lifetimes.len() > it);
    let rises = most.is_some() && lifetimes.windows(2).any(|it| it[1] > it[0]);
    let many = has_too_many.then_some("cache::too-many-breakpoints");
    many.into_iter().chain(rises.then_some("cache::ttl-order")).collect()
}

/// Whether the time between both is longer than the longest lifetime that the first asked for.
fn is_expired(rules: &Provider, a: Side<'_>, b: Side<'_>) -> bool {
    let (Some(then), Some(now)) = (a.0.time, b.0.time) else { return false };
    lifetime(rules, a.1).is_some_and(|it| now - then > it as f64)
}

/// How long the entries of a request live, in seconds.
pub(crate) fn lifetime(rules: &Provider, prompt: &Prompt<'_>) -> Option<u64> {
    let marks = prompt.cells.iter().flat_map(|it| &it.marks);
    let asked = marks.chain(&prompt.automatic).chain(&prompt.retention);
    let longest = asked.filter_map(|it| rules.lifetime(it)).max();
    longest.or_else(|| rules.lifetime("default"))
}
