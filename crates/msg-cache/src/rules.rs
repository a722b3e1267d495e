//! What each provider documents about its prompt cache, as data: `data/rules.json`, with the sources.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

use crate::cell::{Cell, Kind, Level};
use crate::compare::{Comparison, Relation, Side};
use crate::prompt::Prompt;

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
