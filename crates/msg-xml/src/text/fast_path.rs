//! Which fast path a stream may take from where the machine stands, and how the machine catches up with it.

use super::{Machine, Mode};
use crate::options::Thinking;
use crate::passthrough::{FastPath, Kind};

impl Machine {
    /// The fast path for the bytes from `end` on, up to which everything has been read.
    pub(crate) fn fast_path(&self, end: usize) -> FastPath {
        match &self.mode {
            Mode::Text if self.plain_at(end) && self.lines.quote => FastPath::new(Kind::Quote),
            Mode::Text if self.plain_at(end) => FastPath::text(Kind::Text, self.lines.start),
            Mode::Block(reader) => reader.fast_path(end, &self.opts),
            Mode::Thinking(thought)
                if thought.plain_at(end) && self.opts.thinking == Thinking::Extract =>
            {
                FastPath::thought(end)
            }
            Mode::Fence(fence) if self.sent == end => fence.fast_path(end),
            _ => FastPath::new(Kind::Closed),
        }
    }

    /// Nothing is pending in the text before `end`.
    fn plain_at(&self, end: usize) -> bool {
        self.pos == end && self.sent == end && self.lines.span.is_none()
    }

    /// Moves to `end`, up to which the stream has sent what the fast path stands for.
    pub(crate) fn pass_on(&mut self, fast_path: &FastPath, end: usize) {
        match (fast_path.kind, &mut self.mode) {
            (Kind::Closed, _) => return,
            (Kind::Cdata | Kind::Plain | Kind::Raw, Mode::Block(reader)) => {
                return reader.pass_on(fast_path.sent, end);
            }
            (Kind::Text, _) => self.lines.start = fast_path.line_start,
            (Kind::Fence(_), Mode::Fence(fence)) => fence.pass_on(fast_path.line_start, end),
            (Kind::Thought, Mode::Thinking(thought)) => thought.pass_on(end),
            _ => {}
        }
        self.pos = end;
        self.sent = end;
    }
}
