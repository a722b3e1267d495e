//! What of a call's text values has been sent before the call was read (XT-42), to be compared with what the reading
//! gives. What may be sent is the business of those who look at the open value: `preview`, and the tag dialects.

use std::collections::HashMap;

use crate::event::Queue;
use crate::input::{Input, is_blank};
use crate::path::ArgPath;

/// What has been sent of a call, value by value; the last may be open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent {
    leaves: Vec<SentLeaf>,
}

/// What has been sent of a value: ranges of the source, and then a text.
#[derive(Clone, Debug)]
struct SentLeaf {
    path: ArgPath,
    ranges: Vec<(usize, usize)>,
    rest: String,
}

impl Sent {
    /// A value begins.
    pub(crate) fn open(&mut self, path: ArgPath) {
        self.leaves.push(SentLeaf { path, ranges: Vec::new(), rest: String::new() });
    }

    /// The value that was opened last is no text.
    pub(crate) fn take_back(&mut self) -> ArgPath {
        self.leaves.pop().map(|leaf| leaf.path).unwrap_or_default()
    }

    /// Where the value that was opened last stands.
    pub(crate) fn path(&self) -> Option<&ArgPath> {
        self.leaves.last().map(|leaf| &leaf.path)
    }

    /// A range of the source has been sent.
    pub(crate) fn note(&mut self, from: usize, to: usize) {
        let Some(leaf) = self.leaves.last_mut().filter(|_| from < to) else { return };
        match leaf.ranges.last_mut() {
            Some(last) if last.1 == from => last.1 = to,
            _ => leaf.ranges.push((from, to)),
        }
    }

    /// Sends a range of the source.
    pub(crate) fn send(&mut self, queue: &mut Queue, call: u32, from: usize, to: usize) {
        if let Some(leaf) = self.leaves.last().filter(|_| from < to) {
            queue.arg(call, &leaf.path, from, to);
            self.note(from, to);
        }
    }

    /// The same, without blanks at its end: they go out once something follows them. Where what was sent ends.
    pub(crate) fn send_text(
        &mut self,
        w: &Input<'_>,
        queue: &mut Queue,
        call: u32,
        (from, to): (usize, usize),
    ) -> usize {
        // A character is never cut: blanks are ASCII.
        let text = w.str(from, to).trim_end_matches(|c: char| c.is_ascii() && is_blank(c as u8));
        self.send(queue, call, from, from + text.len());
        from + text.len()
    }

    /// Sends what is missing of the value that was opened last, which has ended.
    pub(crate) fn send_rest(&mut self, queue: &mut Queue, call: u32, text: &str) {
        let Some(leaf) = self.leaves.last_mut() else { return };
        let sent: usize = leaf.ranges.iter().map(|(from, to)| to - from).sum();
        if let Some(rest) = text.get(sent..).filter(|rest| !rest.is_empty()) {
            queue.arg_text(call, &leaf.path, rest);
            leaf.rest.push_str(rest);
        }
    }

    /// What is left of each text value behind what has been sent; `None` if that was something else.
    pub(crate) fn rests<'v>(
        &self,
        w: &Input<'_>,
        mut values: Vec<(ArgPath, &'v str)>,
    ) -> Option<Vec<(ArgPath, &'v str)>> {
        let mut at = 0;
        for leaf in self.leaves.iter().filter(|leaf| !leaf.is_empty()) {
            at += values[at..].iter().position(|(path, _)| *path == leaf.path)?;
            values[at].1 = leaf.rest(w, values[at].1)?;
            at += 1;
        }
        Some(values)
    }
}

impl SentLeaf {
    /// What is left of `value` behind what has been sent; `None` if that is not its beginning.
    fn rest<'v>(&self, w: &Input<'_>, value: &'v str) -> Option<&'v str> {
        let strip = |rest: Option<&'v str>, &(from, to): &(usize, usize)| {
            rest.and_then(|rest| rest.strip_prefix(w.str(from, to)))
        };
        self.ranges.iter().fold(Some(value), strip)?.strip_prefix(self.rest.as_str())
    }

    fn is_empty(&self) -> bool {
        self.ranges.is_empty() && self.rest.is_empty()
    }
}

/// How many values of each name stand at one level so far.
#[derive(Debug, Default)]
pub(crate) struct Counts(HashMap<String, usize>);

impl Counts {
    /// How many of `name` there are; now one more.
    pub(crate) fn add(&mut self, name: &str) -> usize {
        match self.0.get_mut(name) {
            Some(n) => {
                *n += 1;
                *n - 1
            }
            None => {
                self.0.insert(name.to_owned(), 1);
                0
            }
        }
    }
}
