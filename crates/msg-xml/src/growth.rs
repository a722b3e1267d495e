//! Counts the steps of a reader, for the tests that its cost grows linearly with the input (XT-43).
//!
//! Each look at a `<`, a part of misc, a bracket in it is one. No clock is read.

#[path = "../tests/unit/growth.rs"]
mod tests;

use std::cell::Cell;

thread_local! {
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// One more.
pub(crate) fn count() {
    STEPS.with(|n| n.set(n.get() + 1));
}

/// What `read` costs.
pub(crate) fn during(read: impl FnOnce()) -> usize {
    STEPS.with(|n| n.set(0));
    read();
    STEPS.with(Cell::get)
}
