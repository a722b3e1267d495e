//! Which messages stay and go together: a message with calls, and the messages with their results.

use std::collections::HashMap;

use msg_core::Message;

/// The units of some messages.
pub(super) struct Units {
    /// For each message the first one of its unit.
    first: Vec<usize>,
}

impl Units {
    /// A result belongs to the last call before it that has its id. Linear.
    pub(super) fn of(messages: &[Message]) -> Self {
        let mut first: Vec<usize> = (0..messages.len()).collect();
        let mut calls: HashMap<&str, usize> = HashMap::new();
        for (at, message) in messages.iter().enumerate() {
            for result in message.tool_results() {
                if let Some(&call) = calls.get(result.call_id.as_str()) {
                    join(&mut first, call, at);
                }
            }
            calls.extend(message.tool_calls().map(|it| (it.id.as_str(), at)));
        }
        for at in 0..first.len() {
            first[at] = first[first[at]];
        }
        Units { first }
    }

    /// Makes whole units of a choice of messages: those stay of which one message was chosen.
    pub(super) fn with_any(&self, chosen: &[bool]) -> Vec<bool> {
        let mut stays = vec![false; chosen.len()];
        for (at, _) in chosen.iter().enumerate().filter(|it| *it.1) {
            stays[self.first[at]] = true;
        }
        self.first.iter().map(|it| stays[*it]).collect()
    }

    /// The units that some messages break by being left out.
    pub(super) fn broken_by(&self, left_out: impl Iterator<Item = usize>) -> Broken<'_> {
        let mut res = Broken { units: self, is_broken: vec![false; self.first.len()] };
        left_out.for_each(|it| res.leave_out(it));
        res
    }

    /// Whether a message stands alone in its unit.
    pub(super) fn is_alone(&self, at: usize) -> bool {
        self.first.iter().filter(|it| **it == self.first[at]).nth(1).is_none()
    }
}

/// Units of which a message is left out.
pub(super) struct Broken<'a> {
    units: &'a Units,
    is_broken: Vec<bool>,
}

impl Broken<'_> {
    /// Leaves a message out.
    pub(super) fn leave_out(&mut self, at: usize) {
        self.is_broken[self.units.first[at]] = true;
    }

    /// Whether the unit of a message is broken.
    pub(super) fn has(&self, at: usize) -> bool {
        self.is_broken[self.units.first[at]]
    }
}

/// Makes one unit of two messages. What points to the first message of a unit keeps pointing backwards,
/// so that one pass resolves it.
fn join(first: &mut [usize], one: usize, other: usize) {
    let (one, other) = (root(first, one), root(first, other));
    let (low, high) = (one.min(other), one.max(other));
    first[high] = low;
}

/// The first message of a unit; the way there is shortened for the next time.
fn root(first: &mut [usize], mut at: usize) -> usize {
    while first[at] != at {
        first[at] = first[first[at]];
        at = first[at];
    }
    at
}
