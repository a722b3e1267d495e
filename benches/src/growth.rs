//! Checks that ten times the input costs about ten times as much.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How often each size is run; the fastest run counts, since noise only ever adds.
const RUNS: usize = 7;

/// Time at ten times `n` divided by the time at `n`; `make` builds the input and is not timed.
///
/// About 10 is linear; a quadratic pass gives about 100. Choose `n` so that a run takes a
/// millisecond or more.
pub fn ratio<I, R>(n: usize, make: impl Fn(usize) -> I, run: impl Fn(&I) -> R) -> f64 {
    let small = fastest(&make(n), &run);
    let large = fastest(&make(n * 10), &run);
    large.as_secs_f64() / small.as_secs_f64().max(1e-9)
}

/// Prints the [`ratio`] and stops the bench if it is far from linear.
///
/// # Panics
/// If the ratio is above 25: caches and allocators explain 15, nothing linear explains 25.
pub fn check<I, R>(what: &str, n: usize, make: impl Fn(usize) -> I, run: impl Fn(&I) -> R) {
    let ratio = ratio(n, make, run);
    println!("{what}: 10x the input takes {ratio:.1}x the time");
    assert!(ratio < 25.0, "{what} does not grow linearly: {ratio:.1}");
}

fn fastest<I, R>(input: &I, run: &impl Fn(&I) -> R) -> Duration {
    let time = || {
        let start = Instant::now();
        black_box(run(black_box(input)));
        start.elapsed()
    };
    (0..RUNS).map(|_| time()).min().unwrap_or_default()
}
