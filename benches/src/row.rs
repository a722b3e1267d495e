//! What a row of `docs/internals/benchmarks.md` is: a name, goals, and a way to make the contest.

use crate::contest::Contest;
use crate::data::Data;

/// What is asked of our figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// At least so many MB/s.
    Speed(f64),
    /// At most so many nanoseconds an item.
    Each(f64),
    /// At most so many milliseconds.
    Time(f64),
    /// At least so many times as fast as the fastest peer that is right.
    Peers(f64),
    /// At least so many times as fast as this entry.
    Of(&'static str, f64),
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// `area/what`, in small letters: what the command line and the budgets call it.
    pub name: &'static str,
    /// What is done, for the table.
    pub what: &'static str,
    /// What is asked; a line of the table for each.
    pub goals: &'static [Goal],
    /// Makes the input and the entries.
    pub make: fn(&Data) -> Contest,
    /// What explains a goal that is missed, or would change it.
    pub note: &'static str,
}

impl Row {
    /// A row without a note.
    pub const fn new(
        name: &'static str,
        what: &'static str,
        goals: &'static [Goal],
        make: fn(&Data) -> Contest,
    ) -> Self {
        Row { name, what, goals, make, note: "" }
    }

    /// The row says this of its figures.
    #[must_use]
    pub const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }
}
