//! What each provider documents about its prompt cache, as data: `data/rules.json`, with the sources.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

use crate::cell::Kind;
use crate::compare::Relation;
use crate::entry::Entry;
use crate::prompt::Prompt;
use crate::view::View;

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

/// Where entries are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Entries {
    /// At marked cells, and only there.
    Marked,
    /// At marked cells and at the last user or tool cell.
    #[serde(rename = "marked+last")]
    MarkedAndLast,
    /// Everywhere.
    Prefix,
}

/// The first level that a setting breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Breaks {
    All,
    System,
    Messages,
}

impl Breaks {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Breaks::All => "all",
            Breaks::System => "system",
            Breaks::Messages => "messages",
        }
    }
}

/// The rules of a provider.
#[derive(Debug, Deserialize)]
pub(crate) struct Provider {
    pub(crate) entries: Entries,
    #[serde(default = "one")]
    pub(crate) step: u64,
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
    /// The first level that each setting breaks.
    pub(crate) settings: BTreeMap<String, Breaks>,
}

fn one() -> u64 {
    1
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
        self.entries != Entries::Prefix
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

/// What the notes depend on beside the two requests.
pub(crate) struct Context<'r> {
    pub(crate) rules: &'r Provider,
    pub(crate) relation: Relation,
    /// Cells that both begin with.
    pub(crate) shared: usize,
    /// About how many tokens the first request has.
    pub(crate) estimate: u64,
}

type Side<'s> = (&'s Entry<'s>, &'s Prompt<'s, 's>, &'s View<'s, 's>);

/// The codes of what is to be said beside the changes.
pub(crate) fn notes(context: &Context<'_>, a: Side<'_>, b: Side<'_>) -> Vec<&'static str> {
    let mut res = Vec::new();
    let rules = context.rules;
    if context.relation != Relation::Other && rules.is_marked() {
        res.extend(unread(context, a, b));
    }
    res.extend(refused(rules, b));
    if a.2.strips {
        res.push("cache::thinking-stripped");
    }
    if rules.settings.contains_key("images") && a.1.has_images != b.1.has_images {
        res.push("cache::images-changed");
    }
    if context.estimate < rules.minimum(a.0.model) {
        res.push("cache::too-short");
    }
    if is_expired(rules, a, b) {
        res.push("cache::expired");
    }
    res
}

/// The cells at which entries are written.
fn entries(rules: &Provider, side: Side<'_>) -> Vec<usize> {
    let mut res = marks(side);
    if rules.entries == Entries::MarkedAndLast && !side.1.is_explicit {
        let is_written = |it: &&crate::cell::Cell<'_, '_>| {
            it.kind == Kind::Result || it.role == "user" || it.role == "tool"
        };
        let n = side.2.tools.len() + side.2.system.len();
        let last = side.2.talk.iter().rposition(is_written);
        res.extend(last.map(|it| n + it));
    }
    res
}

/// The cells that are marked; automatic caching marks the last one that is not thinking.
fn marks(side: Side<'_>) -> Vec<usize> {
    let all: Vec<_> = side.2.all().collect();
    let marked = all.iter().enumerate().filter(|it| !it.1.marks.is_empty()).map(|it| it.0);
    let mut res: Vec<usize> = marked.collect();
    if side.1.automatic.is_some() {
        res.extend(all.iter().rposition(|it| it.kind != Kind::Thinking));
        res.sort_unstable();
    }
    res
}

fn unread(context: &Context<'_>, a: Side<'_>, b: Side<'_>) -> Option<&'static str> {
    let rules = context.rules;
    let (written, reading) = (entries(rules, a), entries(rules, b));
    let inside: Vec<usize> = written.iter().copied().filter(|it| *it < context.shared).collect();
    if written.is_empty() && reading.is_empty() {
        return Some("cache::no-breakpoint");
    }
    if inside.is_empty() {
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
fn refused(rules: &Provider, b: Side<'_>) -> Vec<&'static str> {
    let Some(most) = rules.max_markers.filter(|_| rules.entries == Entries::Marked) else {
        return Vec::new();
    };
    let asked = b.1.cells.iter().flat_map(|it| &it.marks).chain(&b.1.automatic);
    let lifetimes: Vec<u64> = asked.filter_map(|it| rules.lifetime(it)).collect();
    let mut res = Vec::new();
    if lifetimes.len() > most {
        res.push("cache::too-many-breakpoints");
    }
    if lifetimes.windows(2).any(|it| it[1] > it[0]) {
        res.push("cache::ttl-order");
    }
    res
}

/// Whether the time between both is longer than the longest lifetime that the first asked for.
fn is_expired(rules: &Provider, a: Side<'_>, b: Side<'_>) -> bool {
    let (Some(then), Some(now)) = (a.0.time, b.0.time) else { return false };
    lifetime(rules, a.1).is_some_and(|it| now - then > it as f64)
}

/// How long the entries of a request live, in seconds.
pub(crate) fn lifetime(rules: &Provider, prompt: &Prompt<'_, '_>) -> Option<u64> {
    let marks = prompt.cells.iter().flat_map(|it| &it.marks);
    let asked = marks.chain(&prompt.automatic).chain(&prompt.retention);
    let longest = asked.filter_map(|it| rules.lifetime(it)).max();
    longest.or_else(|| rules.lifetime("default"))
}
