//! What has been sent of a call before its block was read, to be compared with what the reading gives.

use crate::input::Input;
use crate::path::ArgPath;

/// What has been sent of a block's first call.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    pub(crate) name: bool,
    pub(crate) leaves: Vec<SentLeaf>,
}

/// What has been sent of a value: ranges of the source, and then a text.
#[derive(Debug)]
pub(crate) struct SentLeaf {
    pub(crate) path: ArgPath,
    pub(super) ranges: Vec<(usize, usize)>,
    pub(super) rest: String,
}

impl SentLeaf {
    /// What is left of `value` behind what has been sent; `None` if that is not its beginning.
    pub(crate) fn rest<'v>(&self, w: &Input<'_>, value: &'v str) -> Option<&'v str> {
        let strip = |rest: Option<&'v str>, &(from, to): &(usize, usize)| {
            rest.and_then(|rest| rest.strip_prefix(w.str(from, to)))
        };
        self.ranges.iter().fold(Some(value), strip)?.strip_prefix(self.rest.as_str())
    }

    /// Whether nothing of it has been sent.
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty() && self.rest.is_empty()
    }

    /// Touching ranges are joined.
    pub(super) fn push(&mut self, (from, to): (usize, usize)) {
        match self.ranges.last_mut() {
            Some(last) if last.1 == from => last.1 = to,
            _ => self.ranges.push((from, to)),
        }
    }
}
