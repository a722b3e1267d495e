//! Blocks from one reader through some workers to one printer, in order.
//!
//! ```text
//! reader ─ block 3 ─▶ this thread ─ block 2 ─▶ workers ─ answers 1, 0 ─▶ this thread ─▶ printer: 0, 1, 2 …
//!    ▲                                                                       │
//!    └────────────────── one more may be read, once one is printed ──────────┘
//! ```
//!
//! So many blocks are on their way as there are workers, and two more. Does not know what a block says.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::blocks::{Block, Blocks};

/// What the thread that prints is told.
enum Event<A> {
    Read(Block),
    Answered(u64, A),
    /// The reader has come to the end, or cannot read on.
    End(io::Result<()>),
}

/// Answers all blocks on `workers` threads and prints the answers in order. The inner result is the reader's.
///
/// Fails as `print` does; nothing is read on then.
pub(super) fn in_order<R, A, E>(
    workers: usize,
    blocks: Blocks<R>,
    answer: impl Fn(Block) -> A + Sync,
    mut print: impl FnMut(A) -> Result<(), E>,
) -> Result<io::Result<()>, E>
where
    R: Read + Send + 'static,
    A: Send + 'static,
{
    let (tell, events) = channel();
    let (permit, permits) = channel();
    let (work, tasks) = channel();
    let tasks = Mutex::new(tasks);
    for _ in 0..workers + 2 {
        let _ = permit.send(());
    }
    read_in_background(blocks, permits, tell.clone());
    thread::scope(|scope| {
        for _ in 0..workers {
            let tell = tell.clone();
            scope.spawn(|| answer_all(&tasks, tell, &answer));
        }
        drop(tell);
        // Dropped with this closure: without work the workers end.
        let work: Sender<(u64, Block)> = work;
        let (mut n_read, mut n_printed, mut ended) = (0, 0, None);
        let mut answers = BTreeMap::new();
        while ended.is_none() || n_printed < n_read {
            match events.recv() {
                Ok(Event::Read(block)) => {
                    let _ = work.send((n_read, block));
                    n_read += 1;
                }
                Ok(Event::Answered(number, answer)) => drop(answers.insert(number, answer)),
                Ok(Event::End(how)) => ended = Some(how),
                Err(_) => break,
            }
            while let Some(answer) = answers.remove(&n_printed) {
                print(answer)?;
                n_printed += 1;
                let _ = permit.send(());
            }
        }
        Ok(ended.unwrap_or(Ok(())))
    })
}

/// Not one of the scoped threads: it may hang in a read when everybody else has stopped, and must not keep the
/// program from ending.
fn read_in_background<R, A>(mut blocks: Blocks<R>, permits: Receiver<()>, tell: Sender<Event<A>>)
where
    R: Read + Send + 'static,
    A: Send + 'static,
{
    thread::spawn(move || {
        for () in permits {
            let (event, is_last) = match blocks.next() {
                Ok(Some(block)) => (Event::Read(block), false),
                Ok(None) => (Event::End(Ok(())), true),
                Err(error) => (Event::End(Err(error)), true),
            };
            if tell.send(event).is_err() || is_last {
                return;
            }
        }
    });
}

fn answer_all<A>(
    tasks: &Mutex<Receiver<(u64, Block)>>,
    tell: Sender<Event<A>>,
    answer: impl Fn(Block) -> A,
) {
    // A poisoned lock is one whose holder panicked; nothing panics while it waits.
    let next = || tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok((number, block)) = next() {
        if tell.send(Event::Answered(number, answer(block))).is_err() {
            return;
        }
    }
}
