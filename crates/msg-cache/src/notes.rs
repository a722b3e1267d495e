//! What the provider can still read under its own rules, and what it would refuse (CL-20 to CL-25).

use crate::compare::Relation;
use crate::entry::Entry;
use crate::prompt::{Kind, Prompt};
use crate::rules::{Entries, Provider};
use crate::view::View;

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
    if rules.settings.iter().any(|it| it.0 == "images") && a.1.has_images != b.1.has_images {
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
        let is_written = |it: &&crate::prompt::Cell<'_, '_>| {
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
