//! What reading costs, counted for tests: each look at a `<`, a part of misc, a bracket in it. No clock is read.

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
