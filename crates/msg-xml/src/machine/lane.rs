//! Which lane a stream may take from where the machine stands, and how the machine catches up with it.

use super::{Machine, Mode};
use crate::lane::{Kind, Lane};
use crate::options::Thinking;

impl Machine {
    /// The lane for the bytes from `end` on, up to which everything has been read.
    pub(crate) fn lane(&self, end: usize) -> Lane {
        match &self.mode {
            Mode::Text if self.plain_at(end) && self.quote => Lane::new(Kind::Quote),
            Mode::Text if self.plain_at(end) => Lane::text(Kind::Text, self.line_start),
            Mode::Block(reader) => reader.lane(end, &self.opts),
            Mode::Thinking(thought)
                if thought.plain_at(end) && self.opts.thinking == Thinking::Extract =>
            {
                Lane::thought(end)
            }
            Mode::Fence(fence) if self.sent == end => fence.lane(end),
            _ => Lane::new(Kind::Closed),
        }
    }

    /// Nothing is pending in the text before `end`.
    fn plain_at(&self, end: usize) -> bool {
        self.pos == end && self.sent == end && self.span.is_none() && !self.watch
    }

    /// Moves to `end`, up to which the stream has sent what the lane stands for.
    pub(crate) fn went_on(&mut self, lane: &Lane, end: usize) {
        match (lane.kind, &mut self.mode) {
            (Kind::Closed, _) => return,
            (Kind::Cdata | Kind::Plain, Mode::Block(reader)) => {
                return reader.went_on(lane.sent, end);
            }
            (Kind::Text, _) => self.line_start = lane.line_start,
            (Kind::Fence(_), Mode::Fence(fence)) => fence.went_on(lane.line_start, end),
            (Kind::Thought, Mode::Thinking(thought)) => thought.went_on(end),
            _ => {}
        }
        self.pos = end;
        self.sent = end;
    }
}
