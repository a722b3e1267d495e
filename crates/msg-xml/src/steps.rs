//! What reading costs, counted for tests: each look at a `<`, a part of misc, a bracket in it. No clock is read.

use std::cell::Cell;

thread_local! {
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// One more.
pub(crate) fn count() {
    STEPS.with(|n| n.set(n.get() + 1));
}

/// What `read` gives, and what it cost.
pub(crate) fn during<T>(read: impl FnOnce() -> T) -> (T, usize) {
    STEPS.with(|n| n.set(0));
    (read(), STEPS.with(Cell::get))
}

/// Ten times as much of what `make` makes costs about ten times as much to `read`.
pub(crate) fn grow_with_input(make: impl Fn(usize) -> String, read: impl Fn(&str)) {
    let cost = |n| during(|| read(&make(n))).1;
    // From so many on no value is read far in vain any more.
    let (few, many) = (cost(100), cost(1000));
    assert!(many <= 14 * few + 500, "{:?}: {few} and {many}", make(1));
}
