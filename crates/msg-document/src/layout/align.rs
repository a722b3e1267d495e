//! Which entry of the source an entry of what was written comes from.
//!
//! ```text
//! source    a  b  c  d           equal at both ends: a, d
//!           │   ╲     ╲          equal further on:   none
//! written   a  x  b' d           in between, in order, what is alike: b' comes from b; x is new
//! ```
//!
//! A wrong answer costs white space only: the walk writes the value of what was written, whatever it is
//! told to come from. Linear.

use std::collections::BTreeMap;

use super::level::Entry;
use super::same::fingerprint;

/// The source of each entry, as an index.
type Sources = Vec<Option<usize>>;

/// The sources of members: those of the same name, the last where there are several.
pub(super) fn members(old: &[Entry<'_>], new: &[Entry<'_>]) -> Sources {
    let name = |it: &Entry<'_>| it.key.as_ref().map(|it| it.text.clone().into_owned());
    let places: BTreeMap<_, _> = old.iter().enumerate().map(|(at, it)| (name(it), at)).collect();
    new.iter().map(|it| places.get(&name(it)).copied()).collect()
}

/// The sources of elements.
pub(super) fn elements(old: &[Entry<'_>], new: &[Entry<'_>]) -> Sources {
    let marks = |it: &[Entry<'_>]| it.iter().map(|it| fingerprint(it.value)).collect::<Vec<_>>();
    let (old_marks, new_marks) = (marks(old), marks(new));
    let mut sources = vec![None; new.len()];
    let (start, end) = equal_ends(&old_marks, &new_marks);
    for (at, source) in sources.iter_mut().enumerate().take(start) {
        *source = Some(at);
    }
    for back in 1..=end {
        sources[new.len() - back] = Some(old.len() - back);
    }
    let middle = (start..old.len() - end, start..new.len() - end);
    in_order(&old_marks, &new_marks, &middle, &mut sources);
    fill_gaps(old, new, &mut sources);
    moved(&old_marks, &new_marks, &mut sources);
    sources
}

/// How many elements are equal at the start, and how many of the others at the end.
fn equal_ends(old: &[u64], new: &[u64]) -> (usize, usize) {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[start..], &new[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    (start, end)
}

type Span = std::ops::Range<usize>;

/// Equal elements in the middle, each behind the one before.
fn in_order(old: &[u64], new: &[u64], (from, to): &(Span, Span), sources: &mut Sources) {
    let places = places(old, from.clone());
    let mut next = from.start;
    for at in to.clone() {
        let Some(found) = places.get(&new[at]) else { continue };
        let behind = found.partition_point(|it| *it < next);
        if let Some(place) = found.get(behind) {
            sources[at] = Some(*place);
            next = place + 1;
        }
    }
}

fn places(marks: &[u64], span: Span) -> BTreeMap<u64, Vec<usize>> {
    let mut res: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for at in span {
        res.entry(marks[at]).or_default().push(at);
    }
    res
}

/// Elements that were edited: those between two that are known, in order.
fn fill_gaps(old: &[Entry<'_>], new: &[Entry<'_>], sources: &mut Sources) {
    let (mut at, mut next) = (0, 0);
    while at < new.len() {
        if let Some(known) = sources[at] {
            (at, next) = (at + 1, known + 1);
            continue;
        }
        let len = sources[at..].iter().take_while(|it| it.is_none()).count();
        let end = sources.get(at + len).copied().flatten().unwrap_or(old.len());
        let gap = next..end.max(next);
        pair(&old[gap.clone()], &new[at..at + len], gap.start, &mut sources[at..at + len]);
        at += len;
    }
}

/// Pairs what stands in one gap: one by one where it is as many, else what is alike.
fn pair(old: &[Entry<'_>], new: &[Entry<'_>], first: usize, sources: &mut [Option<usize>]) {
    let mut rest = old.iter().enumerate();
    for (source, entry) in sources.iter_mut().zip(new) {
        let alike = |it: &(usize, &Entry<'_>)| old.len() == new.len() || is_alike(it.1, entry);
        let mut ahead = rest.clone();
        if let Some((at, _)) = ahead.find(alike) {
            *source = Some(first + at);
            rest = ahead;
        }
    }
}

/// Whether an element may be the other, edited: what comes first in it, the role of a message as a rule,
/// is the same.
fn is_alike(old: &Entry<'_>, new: &Entry<'_>) -> bool {
    let head = |it: &Entry<'_>| {
        fingerprint(it.value.split_inclusive([',', '}', ']']).next().unwrap_or_default())
    };
    head(old) == head(new)
}

/// Elements that stand elsewhere now.
fn moved(old: &[u64], new: &[u64], sources: &mut Sources) {
    if sources.iter().all(Option::is_some) {
        return;
    }
    let places = places(old, 0..old.len());
    for (source, mark) in sources.iter_mut().zip(new).filter(|it| it.0.is_none()) {
        *source = places.get(mark).and_then(|it| it.first()).copied();
    }
}
