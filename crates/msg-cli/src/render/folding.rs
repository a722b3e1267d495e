//! Which diagnostics of a list are shown: each, or the first of those that are alike.
//!
//! It knows no single rule: alike is what has the same code, severity and kind of help.

use std::collections::HashSet;

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
