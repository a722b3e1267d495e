//! Counts what a piece of code allocates on its thread, with the feature `allocs`.

use std::fmt;

/// What [`count`] saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocs {
    /// Calls of the allocator; growing a buffer is one.
    pub count: u64,
    /// Bytes asked for, all calls together.
    pub bytes: u64,
    /// The most bytes that were alive at one time.
    pub peak: u64,
    /// How many bytes more were alive at the end than at the beginning, or fewer.
    pub grown: i64,
}

/// Whether allocations are counted in this build (feature `allocs`); else all counts are 0.
pub const ENABLED: bool = cfg!(feature = "allocs");

/// Runs `f` and counts its allocations, those of other threads excepted.
#[cfg(feature = "allocs")]
pub fn count<R>(f: impl FnOnce() -> R) -> (R, Allocs) {
    let mut res = None;
    let info = allocation_counter::measure(|| res = Some(f()));
    let res = res.expect("because measure runs its closure");
    let res_allocs = Allocs {
        count: info.count_total,
        bytes: info.bytes_total,
        peak: info.bytes_max,
        grown: info.bytes_current,
    };
    (res, res_allocs)
}

/// Runs `f`; nothing is counted in this build.
#[cfg(not(feature = "allocs"))]
pub fn count<R>(f: impl FnOnce() -> R) -> (R, Allocs) {
    (f(), Allocs { count: 0, bytes: 0, peak: 0, grown: 0 })
}

/// Prints one line about `f` beside criterion's output, per `n` items of what `f` works on.
pub fn report<R>(what: &str, n: usize, f: impl FnOnce() -> R) -> Allocs {
    let (res, allocs) = count(f);
    drop(res);
    if !ENABLED {
        return allocs;
    }
    println!("{what}: {allocs}, {:.2} allocations an item", allocs.count as f64 / n.max(1) as f64);
    allocs
}

impl fmt::Display for Allocs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} allocations, {} bytes, peak {} bytes", self.count, self.bytes, self.peak)
    }
}
