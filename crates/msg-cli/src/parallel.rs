//! A job for each item of a list, some at once; the answers come in order.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The default number of threads: one per processor.
pub(crate) fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Does `job` for each item, on so many threads.
pub(crate) fn each<I: Sync, T: Send>(
    items: &[I],
    threads: usize,
    job: impl Fn(&I) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let mut res: Vec<(usize, T)> = thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(it) = items.get(at) else { return done };
                done.push((at, job(it)));
            }
        };
        let threads: Vec<_> = (0..threads.min(items.len())).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|it| it.join().unwrap_or_default()).collect()
    });
    res.sort_by_key(|it| it.0);
    res.into_iter().map(|it| it.1).collect()
}
