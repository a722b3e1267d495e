//! JSON whose bytes are being stored: it is read once a tag that may follow it has come. Where such a tag stands in one of
//! its texts, the reading was too early and is made again.

use crate::input::{Incomplete, Input, MORE};
use crate::options::Options;
use crate::shape::{TagShape, close_any, open_any};

/// So many readings of all that is stored are made, and this many bytes of them in any case.
const READINGS: usize = 8;
const BYTES: usize = 64 << 10;

/// How many bytes behind the size limit are stored: an end that is so near is found.
const BEHIND: usize = 8 << 10;

/// JSON that has begun.
#[derive(Debug)]
pub(super) struct Awaited {
    pub(super) start: usize,
    /// The bytes before have been looked through.
    at: usize,
    /// What readings have cost, in bytes.
    work: usize,
}

impl Awaited {
    pub(super) fn new(start: usize) -> Self {
        Awaited { start, at: start, work: 0 }
    }

    /// Whether it has grown so far beyond the size limit (XT-28) that its end is not waited for.
    pub(super) fn is_lost(&self, w: &Input<'_>, opts: &Options) -> bool {
        w.end() - self.start > opts.limits.max_tool_bytes.saturating_add(BEHIND)
    }

    /// What has come, once it is to be read; `shapes` are the tags that may follow.
    pub(super) fn text<'w>(
        &mut self,
        w: &Input<'w>,
        shapes: &[TagShape],
    ) -> Result<&'w str, Incomplete> {
        let is_first = self.at == self.start;
        if !(is_first | self.is_due(w, shapes)? || w.eof) {
            return Err(MORE);
        }
        self.work += w.end() - self.start;
        Ok(w.str(self.start, w.end()))
    }

    /// Whether new bytes hold one of the tags.
    fn is_due(&mut self, w: &Input<'_>, shapes: &[TagShape]) -> Result<bool, Incomplete> {
        let mut found = false;
        while let Some(p) = w.find(b'<', self.at) {
            self.at = p;
            found |= close_any(shapes, w, p)?.is_some() || open_any(shapes, w, p)?.is_some();
            self.at = p + 1;
        }
        self.at = w.end();
        Ok(found && self.work <= READINGS * (w.end() - self.start) + BYTES)
    }
}
