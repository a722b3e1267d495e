//! Two requests, one after the other: does the second go on where the first ended, and what is still read (CL-10 to CL-26).

use serde::Serialize;

use crate::cell::{Cell, Level};
use crate::change::{
    Course, How, common_ends, first_difference, messages_change, system_change, tools_change,
};
use crate::entry::{Entry, read};
use crate::error::Error;
use crate::family::Family;
use crate::options::CacheOptions;
use crate::prompt::Prompt;
use crate::rules::{Breaks, Context, Provider, notes};
use crate::spell::Spelling;
use crate::view::{Parting, Setting, View, last_question, parting};

/// What a request is to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Relation {
    /// The same cells.
    Same,
    /// The first is a beginning of the second.
    Growth,
    /// The second is a beginning of the first.
    Rewind,
    /// Both share messages, then the second takes another way.
    Branch,
    /// Another conversation.
    Other,
    /// Something that was sent before has changed.
    Break,
    /// The history is held by the provider: nothing can be compared.
    ByReference,
}

/// A place in the order of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CachePlace {
    /// `all` for a setting that breaks everything, else `tools`, `system` or `messages`.
    pub level: &'static str,
    /// The place in the body's own array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
}

/// A member that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// `setting`, `tools`, `system` or `messages`.
    pub level: &'static str,
    /// How.
    pub how: How,
    /// The place in the body's own array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// The setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setting: Option<&'static str>,
    /// The first level that the setting breaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breaks: Option<&'static str>,
    /// The tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// The code of the finding.
    pub code: &'static str,
    /// Both spellings around the first byte that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spellings: Option<(String, String)>,
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The family of both bodies.
    pub family: Family,
    /// The provider whose rules were applied.
    pub provider: String,
    /// The model of the second request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the second is to the first.
    pub relation: Relation,
    /// The earliest place that differs.
    pub first_changed: Option<CachePlace>,
    /// Whole messages before it.
    pub shared_messages: Option<usize>,
    /// Settings first, then a change a level.
    pub changes: Vec<Change>,
    /// Codes of what else is to be said.
    pub notes: Vec<&'static str>,
    /// About how many tokens the first request has.
    pub estimate: u64,
    /// About how many of them the second begins with.
    pub shared_estimate: u64,
    /// The least tokens that the provider caches.
    pub minimum: u64,
}

/// Compares two request bodies, or two entries of a log (`{"request":{…},"response":{…},"time":…}`).
///
/// # Errors
/// A text that is not a request of a family that is read, a response alone, or bodies of two families.
///
/// ```
/// use msg_cache::{CacheOptions, Relation, compare};
///
/// let a = br#"{"model":"gpt-5","messages":[{"role":"user","content":"What time is it?"}]}"#;
/// let b = br#"{"model":"gpt-5-mini","messages":[{"role":"user","content":"What time is it?"}]}"#;
/// let res = compare(a, b, &CacheOptions::default())?;
/// assert_eq!(res.relation, Relation::Break);
/// assert_eq!(res.changes[0].code, "cache::model-changed");
/// # Ok::<(), msg_cache::Error>(())
/// ```
pub fn compare(a: &[u8], b: &[u8], options: &CacheOptions) -> Result<Comparison, Error> {
    let (a, b) = (read(a)?, read(b)?);
    let (a, b) = (Entry::of(&a, options.family)?, Entry::of(&b, options.family)?);
    if a.family != b.family {
        let text = format!("the first request is of {}, the second of {}", a.family, b.family);
        return Err(Error::Foreign(text));
    }
    let (before, now) = (Prompt::of(a.body, a.family), Prompt::of(b.body, b.family));
    Ok(compare_prompts((&a, &before), (&b, &now), options))
}

/// Compares requests of one family.
pub(crate) fn compare_prompts(
    (a, before): (&Entry<'_>, &Prompt<'_, '_>),
    (b, now): (&Entry<'_>, &Prompt<'_, '_>),
    options: &CacheOptions,
) -> Comparison {
    let family = a.family;
    let model = b.model.or(a.model);
    let own = || family.provider(model, b.url.or(a.url)).to_owned();
    let provider = options.provider.clone().unwrap_or_else(own);
    let rules = Provider::of(&provider, model);
    let estimate = before.estimate();
    let mut res = Comparison {
        family,
        provider,
        model: model.map(str::to_owned),
        relation: Relation::ByReference,
        first_changed: None,
        shared_messages: None,
        changes: Vec::new(),
        notes: vec!["cache::by-reference"],
        estimate,
        shared_estimate: estimate,
        minimum: rules.minimum(a.model),
    };
    if now.by_reference {
        return res;
    }
    let with_search = has(&before.settings, "web_search") == has(&now.settings, "web_search");
    // Thinking in front of the newest question goes from both, if the API takes it out.
    let strips = rules.strips_thinking(model);
    let question = if strips { last_question(now) } else { 0 };
    let views = [before, now].map(|it| View::of(it, question, with_search));
    let [one, other] = &views;
    let (parting, shared, cells) = parting(one, other, family.joins_messages());
    judge(&mut res, (a, before, one), (b, now, other), rules, parting);
    let shared_cells = shared_cells(&res, one, other, cells);
    res.shared_estimate = one.all().take(shared_cells).map(|it| it.size as u64).sum::<u64>() / 4;
    res.shared_messages = Some(match &res.first_changed {
        Some(it) if it.level != "messages" || is_at_first(it, one) => 0,
        _ => shared,
    });
    let context = Context { rules, relation: res.relation, shared: shared_cells, estimate };
    res.notes = notes(&context, (a, before, one), (b, now, other));
    res
}

fn is_at_first(place: &CachePlace, view: &View<'_, '_>) -> bool {
    view.messages.first().is_none_or(|it| place.index == Some(it.index))
}

type Side<'s> = (&'s Entry<'s>, &'s Prompt<'s, 's>, &'s View<'s, 's>);

/// Fills in relation, changes and the first of them.
fn judge(
    res: &mut Comparison,
    a: Side<'_>,
    b: Side<'_>,
    rules: &'static Provider,
    parting: Parting,
) {
    let mut places = Vec::new();
    for (name, breaks) in setting_changes((a.0, a.1), (b.0, b.1), rules) {
        let code = match name {
            "model" => "cache::model-changed",
            _ => "cache::setting-changed",
        };
        let first = b.2.messages.first().map_or(0, |it| it.index);
        places.push(match breaks {
            Breaks::All => (0, CachePlace { level: "all", index: None }),
            Breaks::System => (2, CachePlace { level: "system", index: Some(0) }),
            Breaks::Messages => (3, CachePlace { level: "messages", index: Some(first) }),
        });
        let change = Change::new("setting", How::Changed, code);
        res.changes.push(Change { setting: Some(name), breaks: Some(breaks.name()), ..change });
    }
    if let Some((how, index, names)) = tools_change(&a.2.tools, &b.2.tools) {
        places.push((1, CachePlace { level: "tools", index: Some(index) }));
        let change = Change::at(Level::Tools, how, index, (&a.2.tools, &b.2.tools));
        res.changes.push(Change { names: Some(names), ..change });
    }
    if let Some((how, index)) = system_change(&a.2.system, &b.2.system) {
        places.push((2, CachePlace { level: "system", index: Some(index) }));
        res.changes.push(Change::at(Level::System, how, index, (&a.2.system, &b.2.system)));
    }
    let is_broken = !res.changes.is_empty();
    res.relation = match parting {
        Parting::Same => Relation::Same,
        Parting::Growth => Relation::Growth,
        Parting::Rewind(at) => {
            places.push((3, at_message(a.2, at)));
            Relation::Rewind
        }
        Parting::At(d, e) => {
            places.push((3, at_message(a.2, d)));
            match messages_change(a.2, b.2, d, e) {
                Course::Changed(how) => {
                    let (from, to) = (&a.2.messages[d], &b.2.messages[e]);
                    let cells = (a.2.cells_of(from), b.2.cells_of(to));
                    res.changes.push(Change::at(Level::Messages, how, from.index, cells));
                    Relation::Break
                }
                Course::Branch => Relation::Branch,
                Course::Other => Relation::Other,
            }
        }
    };
    if res.relation == Relation::Other {
        res.changes.clear();
    } else if is_broken {
        res.relation = Relation::Break;
    }
    res.first_changed =
        places.into_iter().min_by_key(|(level, it)| (*level, it.index)).map(|it| it.1);
}

fn at_message(view: &View<'_, '_>, at: usize) -> CachePlace {
    let index = view.messages.get(at).map_or(at, |it| it.index);
    CachePlace { level: "messages", index: Some(index) }
}

type Cells<'c, 'p> = &'c [&'p Cell<'p, 'p>];

impl Change {
    fn new(level: &'static str, how: How, code: &'static str) -> Self {
        let (index, setting, breaks, names, spellings) = (None, None, None, None, None);
        Change { level, how, index, setting, breaks, names, code, spellings }
    }

    /// A change of these cells, with both spellings around what differs first.
    fn at(level: Level, how: How, index: usize, (a, b): (Cells<'_, '_>, Cells<'_, '_>)) -> Self {
        let first = first_difference(a, b).unwrap_or(0);
        let text = |it: Cells<'_, '_>| it.get(first).map(|it| it.spelled(Spelling::Rendered));
        let (one, other) = (text(a).unwrap_or_default(), text(b).unwrap_or_default());
        let (start, _) = common_ends(&one, &other);
        let spellings = Some((around(&one, start), around(&other, start)));
        let change = Change::new(level.name(), how, how.code(level));
        Change { index: Some(index), spellings, ..change }
    }
}

/// About forty characters on both sides of a place.
fn around(text: &str, at: usize) -> String {
    let from = text[..at].char_indices().rev().nth(24).map_or(0, |it| it.0);
    let to = text[at..].char_indices().nth(40).map_or(text.len(), |it| at + it.0);
    let (head, tail) = (if from > 0 { "…" } else { "" }, if to < text.len() { "…" } else { "" });
    format!("{head}{}{tail}", &text[from..to])
}

/// The settings of the provider's table that differ, in its order.
fn setting_changes(
    a: (&Entry<'_>, &Prompt<'_, '_>),
    b: (&Entry<'_>, &Prompt<'_, '_>),
    rules: &'static Provider,
) -> Vec<(&'static str, Breaks)> {
    let differs = |name: &str| match name {
        "model" => matches!((a.0.model, b.0.model), (Some(one), Some(other)) if one != other),
        name => value(&a.1.settings, name) != value(&b.1.settings, name),
    };
    let mut names: Vec<&str> = a.0.family.settings().iter().map(|it| it.name.as_str()).collect();
    names.dedup();
    names.retain(|it| differs(it));
    names.into_iter().filter_map(|it| Some((it, *rules.settings.get(it)?))).collect()
}

fn value<'s>(settings: &'s [Setting], name: &str) -> Option<&'s str> {
    settings.iter().find(|it| it.name == name).map(|it| it.value.as_str())
}

fn has(settings: &[Setting], name: &str) -> bool {
    value(settings, name).is_some()
}

/// How many cells both begin with, as far as settings leave them.
fn shared_cells(res: &Comparison, a: &View<'_, '_>, b: &View<'_, '_>, of_talk: usize) -> usize {
    let tools = first_difference(&a.tools, &b.tools);
    let system = first_difference(&a.system, &b.system);
    let cells = match (tools, system) {
        (Some(at), _) => at,
        (None, Some(at)) => a.tools.len() + at,
        (None, None) => a.tools.len() + a.system.len() + of_talk,
    };
    let breaks = res.changes.iter().filter_map(|it| it.breaks);
    breaks.fold(cells, |cells, level| match level {
        "all" => 0,
        "system" => cells.min(a.tools.len()),
        _ => cells.min(a.tools.len() + a.system.len()),
    })
}
