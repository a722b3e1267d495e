//! The bounded queue between one reader, some workers and one printer.
//!
//! ```text
//! reader ─put▶ [block 3][block 2] ─take▶ workers ─answer▶ {1: …, 0: …} ─next▶ printer, in order
//! ```
//!
//! A block is let in only while the bytes that are on their way stay within the number of workers times the
//! largest block so far. Does not know what a block says.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::blocks::Block;

/// Below this many bytes a worker the bound would leave workers idle.
const ROOM: usize = 1 << 20;

/// See the module.
pub(super) struct Queue<A> {
    state: Mutex<State<A>>,
    changed: Condvar,
    workers: usize,
}

struct State<A> {
    waiting: VecDeque<(u64, Block)>,
    answers: BTreeMap<u64, (usize, A)>,
    /// Blocks put so far, and answers taken so far.
    put: u64,
    taken: u64,
    bytes: usize,
    largest: usize,
    ended: Option<io::Result<()>>,
    closed: bool,
}

impl<A> Queue<A> {
    pub(super) fn new(workers: usize) -> Self {
        let state = State {
            waiting: VecDeque::new(),
            answers: BTreeMap::new(),
            put: 0,
            taken: 0,
            bytes: 0,
            largest: ROOM,
            ended: None,
            closed: false,
        };
        Queue { state: Mutex::new(state), changed: Condvar::new(), workers }
    }

    /// The reader adds a block, when there is room. False if nobody wants one any more.
    pub(super) fn put(&self, block: Block) -> bool {
        let size = block.bytes.len();
        let mut state = self.lock();
        state.largest = state.largest.max(size);
        while !state.closed
            && state.bytes > 0
            && state.bytes + size > self.workers.saturating_mul(state.largest)
        {
            state = self.wait(state);
        }
        if state.closed {
            return false;
        }
        state.bytes += size;
        let number = state.put;
        state.put += 1;
        state.waiting.push_back((number, block));
        self.changed.notify_all();
        true
    }

    /// The reader has come to the end, or cannot read on.
    pub(super) fn end(&self, how: io::Result<()>) {
        self.lock().ended = Some(how);
        self.changed.notify_all();
    }

    /// A worker takes a block. Nothing when there will be no more.
    pub(super) fn take(&self) -> Option<(u64, Block)> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(next) = state.waiting.pop_front() {
                return Some(next);
            }
            if state.ended.is_some() {
                return None;
            }
            state = self.wait(state);
        }
    }

    /// A worker gives the answer to the block `number` of `size` bytes.
    pub(super) fn answer(&self, number: u64, size: usize, answer: A) {
        self.lock().answers.insert(number, (size, answer));
        self.changed.notify_all();
    }

    /// The printer takes the next answer in order, with the room that it still occupies (give it
    /// back with [`Queue::release`]). Nothing at the end; the reader's error if it had one.
    pub(super) fn next(&self) -> io::Result<Option<(usize, A)>> {
        let mut state = self.lock();
        loop {
            let number = state.taken;
            if let Some(answer) = state.answers.remove(&number) {
                state.taken += 1;
                return Ok(Some(answer));
            }
            if state.taken == state.put && state.ended.is_some() {
                return state.ended.replace(Ok(())).unwrap_or(Ok(())).map(|()| None);
            }
            state = self.wait(state);
        }
    }

    /// The printer is done with an answer.
    pub(super) fn release(&self, size: usize) {
        self.lock().bytes -= size;
        self.changed.notify_all();
    }

    /// The printer has stopped: everybody else may.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    // A poisoned lock is one whose holder panicked; nothing here panics while it holds it.
    fn lock(&self) -> MutexGuard<'_, State<A>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<A>>) -> MutexGuard<'a, State<A>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}
