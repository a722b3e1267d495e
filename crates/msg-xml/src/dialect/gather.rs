//! What the readers of dialects share: what they may look at, and what they gather about a block.

use std::sync::Arc;

use crate::block::{Done, Draft, Note, Outcome, REACH_MAX, truncate};
use crate::code::Code;
use crate::event::Queue;
use crate::input::Input;
use crate::options::Options;

/// What a reader of a dialect may look at and write to.
pub(crate) struct Cx<'a, 'w> {
    pub(crate) w: &'a Input<'w>,
    pub(crate) queue: &'a mut Queue,
    pub(crate) opts: &'a Options,
    /// The finish reason says that the message was cut; meaningful at the end of input only.
    pub(crate) cut: bool,
}

/// What a dialect's reader gathers about a block.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) start: usize,
    /// Where the call begins that is being read, for its size.
    pub(super) call_start: usize,
    pub(super) first_call: u32,
    pub(super) format: Arc<str>,
    pub(super) calls: Vec<Draft>,
    pub(super) notes: Vec<Note>,
    pub(super) reject: Option<Code>,
    pub(super) begun: u32,
    pub(super) vain: Vain,
}

/// What was read in vain (XT-29).
#[derive(Debug, Default)]
pub(super) struct Vain {
    /// Only the end of input decided where something ends.
    pub(super) at_eof: bool,
    /// So many values were, as far as this.
    pub(super) scans: usize,
    reach: usize,
}

impl Gathered {
    pub(super) fn new(start: usize, first_call: u32, format: &str) -> Self {
        let format = format.into();
        Gathered { start, call_start: start, first_call, format, begun: 1, ..Self::default() }
    }

    /// The number of the call that is being read.
    pub(super) fn call(&self) -> u32 {
        self.first_call + self.calls.len() as u32
    }

    /// A value was read up to `to` in vain.
    pub(super) fn scanned(&mut self, to: usize) {
        self.vain.scans += 1;
        self.vain.reach = self.vain.reach.max(to);
    }

    /// Announces the call that comes next, and its name.
    pub(super) fn announce(&mut self, queue: &mut Queue, name: Option<&str>) {
        let n = self.calls.len() as u32;
        if n >= self.begun {
            queue.begin(self.first_call + n);
            self.begun = n + 1;
        }
        if let Some(name) = name {
            queue.name(self.first_call + n, name);
        }
    }

    pub(super) fn note(&mut self, code: Code, start: usize, end: usize) {
        let call = self.calls.len();
        self.notes.push(Note { code, start, end, call });
    }

    /// XT-28: whether the call that is being read is too large once it goes up to `pos`.
    pub(super) fn over(&self, opts: &Options, pos: usize) -> bool {
        pos - self.call_start > opts.limits.max_tool_bytes
    }

    /// The call that was being read ends at `end`.
    pub(super) fn push(&mut self, mut call: Draft, opts: &Options, end: usize) {
        call.end = end;
        call.too_large = self.over(opts, end);
        call.complete &= !call.too_large;
        self.calls.push(call);
        self.call_start = end;
    }

    /// Moves the end of the last call over what closes the block.
    pub(super) fn extend_last(&mut self, end: usize) {
        self.calls.iter_mut().next_back().into_iter().for_each(|last| last.end = end);
    }

    /// A call begins at `start`. The one before takes its source with it: if this one is too large, nothing is kept.
    pub(super) fn begin_call(&mut self, w: &Input<'_>, start: usize) {
        if let Some(last) = self.calls.last_mut() {
            w.str(last.start, last.end).clone_into(&mut last.source);
        }
        self.call_start = start;
    }

    /// The first byte that may still be needed, if reading stands at `cursor`: a block that is rejected becomes text.
    pub(super) fn keep(&self, cursor: usize, opts: &Options) -> usize {
        if self.over(opts, cursor) { cursor } else { self.start }
    }

    /// A report about the call before.
    pub(super) fn note_last(&mut self, code: Code, start: usize, end: usize) {
        let call = self.calls.len().saturating_sub(1);
        self.notes.push(Note { code, start, end, call });
    }

    pub(super) fn done(&mut self, cx: &Cx<'_, '_>, end: usize) -> Done {
        let calls = std::mem::take(&mut self.calls);
        let mut notes = std::mem::take(&mut self.notes);
        if calls.last().is_some_and(|last| !last.complete && !last.too_large) {
            truncate(&mut notes, calls.len() - 1, self.start, end);
        }
        let large = calls.iter().filter(|call| call.too_large).count();
        // What is too large was not stored: it cannot become text.
        let lost = self.reject.is_some() && (large > 0 || self.over(cx.opts, end));
        let outcome = match lost || large > 0 && large == calls.len() {
            true => Outcome::Dropped(Code::ToolTooLarge),
            false => Outcome::new(calls, self.reject),
        };
        let mut done = Done::new(self.start, end, outcome, notes);
        done.at_eof = self.vain.at_eof || self.vain.reach > end + REACH_MAX;
        done.begun = self.begun;
        done.format = Some(Arc::clone(&self.format));
        done
    }
}
