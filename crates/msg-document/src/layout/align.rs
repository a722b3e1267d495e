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
use super::same::{fingerprint, same};

/// Where an entry comes from.
#[derive(Clone, Copy)]
pub(super) struct Source {
    /// The index in the source.
    pub(super) at: usize,
    pub(super) known: Known,
}

/// What is known of an entry beside its source.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// Both say the same.
    Same,
    /// It was made of the text of its source, whose layout it has.
    LaidOut,
    /// Nothing.
    Nothing,
}

impl Source {
    fn new(at: usize) -> Self {
        Source { at, known: Known::Nothing }
    }
}

/// The source of each entry.
pub(super) type Sources = Vec<Option<Source>>;

/// The sources of members: those of the same name, the last where there are several.
pub(super) fn members(old: &[Entry<'_>], new: &[Entry<'_>]) -> Sources {
    let name = |it: &Entry<'_>| it.key.as_ref().map(|it| it.text.clone().into_owned());
    let places: BTreeMap<_, _> = old.iter().enumerate().map(|(at, it)| (name(it), at)).collect();
    new.iter().map(|it| places.get(&name(it)).copied().map(Source::new)).collect()
}

/// The sources of elements.
pub(super) fn elements(old: &[Entry<'_>], new: &[Entry<'_>]) -> Sources {
    let mut sources = vec![None; new.len()];
    let (start, end) = equal_ends(old, new);
    let same = |at| Some(Source { at, known: Known::Same });
    for (at, source) in sources.iter_mut().enumerate().take(start) {
        *source = same(at);
    }
    for back in 1..=end {
        sources[new.len() - back] = same(old.len() - back);
    }
    // What is equal at the ends needs no fingerprint, which is most of what there is.
    let middle = (start..old.len() - end, start..new.len() - end);
    let new_marks: Vec<_> = middle.1.clone().map(|at| fingerprint(new[at].value)).collect();
    let places = places(old, middle.0);
    in_order(&places, &new_marks, &mut sources[middle.1.clone()]);
    fill_gaps(old, new, &mut sources);
    moved(old, &new_marks, &mut sources[middle.1]);
    sources
}

/// How many elements are equal at the start, and how many of the others at the end.
fn equal_ends(old: &[Entry<'_>], new: &[Entry<'_>]) -> (usize, usize) {
    let equal = |(a, b): &(&Entry<'_>, &Entry<'_>)| same(a.value, b.value);
    let start = old.iter().zip(new).take_while(equal).count();
    let (old, new) = (&old[start..], &new[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(equal).count();
    (start, end)
}

type Span = std::ops::Range<usize>;

/// Elements of the source, by their fingerprints.
type Places = BTreeMap<u64, Vec<usize>>;

fn places(old: &[Entry<'_>], span: Span) -> Places {
    let mut res = Places::new();
    for at in span {
        res.entry(fingerprint(old[at].value)).or_default().push(at);
    }
    res
}

/// Equal elements in the middle, each after the one before.
fn in_order(places: &Places, marks: &[u64], sources: &mut [Option<Source>]) {
    let mut next = 0;
    for (source, mark) in sources.iter_mut().zip(marks) {
        let Some(found) = places.get(mark) else { continue };
        let behind = found.partition_point(|it| *it < next);
        if let Some(place) = found.get(behind) {
            *source = Some(Source::new(*place));
            next = place + 1;
        }
    }
}

/// Elements that were edited: those between two that are known, in order.
pub(super) fn fill_gaps(old: &[Entry<'_>], new: &[Entry<'_>], sources: &mut Sources) {
    let (mut at, mut next) = (0, 0);
    while at < new.len() {
        if let Some(known) = sources[at] {
            (at, next) = (at + 1, known.at + 1);
            continue;
        }
        let len = sources[at..].iter().take_while(|it| it.is_none()).count();
        let end = sources.get(at + len).copied().flatten().map_or(old.len(), |it| it.at);
        let gap = next..end.max(next);
        pair(&old[gap.clone()], &new[at..at + len], gap.start, &mut sources[at..at + len]);
        at += len;
    }
}

/// Pairs what is in one gap: one by one where it is as many, else what is alike.
fn pair(old: &[Entry<'_>], new: &[Entry<'_>], first: usize, sources: &mut [Option<Source>]) {
    let mut rest = old.iter().enumerate();
    for (source, entry) in sources.iter_mut().zip(new) {
        let alike = |it: &(usize, &Entry<'_>)| old.len() == new.len() || is_alike(it.1, entry);
        let mut ahead = rest.clone();
        if let Some((at, _)) = ahead.find(alike) {
            *source = Some(Source::new(first + at));
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

/// Elements that are elsewhere now.
fn moved(old: &[Entry<'_>], marks: &[u64], sources: &mut [Option<Source>]) {
    if sources.iter().all(Option::is_some) {
        return;
    }
    let places = places(old, 0..old.len());
    for (source, mark) in sources.iter_mut().zip(marks).filter(|it| it.0.is_none()) {
        *source = places.get(mark).and_then(|it| it.first()).copied().map(Source::new);
    }
}
