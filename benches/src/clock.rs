//! Times the part of a run that is to be timed, and nothing else.
//!
//! Under callgrind the same part is what is counted: it collects inside [`counted`] only.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Adds up the time of the parts of a run.
#[derive(Debug, Default)]
pub struct Clock {
    spent: Duration,
}

impl Clock {
    /// Does this and times it. What it gives is freed by the caller, untimed.
    pub fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let res = counted(work);
        self.spent += start.elapsed();
        res
    }

    /// Somebody else has timed the work.
    pub fn add(&mut self, time: Duration) {
        self.spent += time;
    }

    /// The time so far.
    pub fn spent(&self) -> Duration {
        self.spent
    }
}

/// The frame by which callgrind is told what to count.
#[inline(never)]
fn counted<T>(work: impl FnOnce() -> T) -> T {
    black_box(work())
}
