//! Which diagnostics of a list are shown: each, or the first of those that are alike.
//!
//! Alike is what has the same code, severity and kind of help. A fault that two rules find is one finding: the one of
//! the provider, or the one that comes first.

use std::collections::{HashSet, VecDeque};

use msg_core::{Code, Diagnostic, Severity};

/// Whether each diagnostic is shown, or one of those that are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Folding {
    /// Each is shown, with what it points at.
    Each,
    /// The first of those that are alike is shown, with the places of the others.
    Alike,
}

/// The diagnostics of a list that are shown by themselves: each, or the first of those that are alike.
pub(crate) fn shown(list: &[Diagnostic], folding: Folding) -> impl Iterator<Item = &Diagnostic> {
    let mut known = HashSet::new();
    list.iter().filter(move |it| folding == Folding::Each || known.insert(likeness(it)))
}

/// What is the same in diagnostics that are alike.
pub(super) fn likeness(it: &Diagnostic) -> (&Code, Severity, bool) {
    (&it.code, it.severity, it.fix.is_some())
}

/// Findings about one fault of a message: the first code says it, where both are about the same message.
const SAME_FAULT: &[(&str, &[&str])] = &[
    ("profile::empty-message", &["chain::empty-message", "message::empty-content"]),
    ("message::empty-content", &["chain::empty-message"]),
    ("profile::arguments", &["chain::invalid-arguments", "message::invalid-arguments"]),
];

/// As many messages after a call whose result is missing may a result stand that has another id by mistake.
const NEAR: usize = 8;

/// The findings without those that say a fault again that another one says, and how many those are.
pub(crate) fn causes(list: &[Diagnostic]) -> (Vec<Diagnostic>, usize) {
    let place = |it: &Diagnostic| Some((it.at.message?, it.is_error()));
    let places: HashSet<_> =
        list.iter().filter_map(|it| Some((it.code.as_str(), place(it)?))).collect();
    // A warning never stands for an error.
    let says = |it: &Diagnostic, of: &(&str, &[&str])| {
        let is_there = |at, is_error| places.contains(&(of.0, (at, is_error)));
        of.1.contains(&it.code.as_str())
            && place(it).is_some_and(|(at, is_error)| {
                is_there(at, true) || !is_error && is_there(at, false)
            })
    };
    // A result with a wrong id is an orphan, and its call has none: each call explains one result.
    let mut open = VecDeque::new();
    let mut is_said = |it: &Diagnostic| {
        let at = it.at.message.unwrap_or_default();
        match it.code.as_str() {
            "chain::missing-tool-result" => {
                open.push_back(at);
                false
            }
            "chain::orphan-tool-result" => {
                while open.front().is_some_and(|call| call + NEAR < at) {
                    open.pop_front();
                }
                open.pop_front().is_some()
            }
            _ => SAME_FAULT.iter().any(|of| says(it, of)),
        }
    };
    let kept: Vec<_> = list.iter().filter(|it| !is_said(it)).cloned().collect();
    let n_said = list.len() - kept.len();
    (kept, n_said)
}
