//! When it is worth while to read a block that is being stored: its end may have come. It is the only part that goes
//! through the bytes as they arrive, and it decides nothing: a reading that was too early is made again.

use crate::input::{Incomplete, Input, Need, is_blank};
use crate::lex::{self, ARGS};

/// So many readings of all that is stored are free, and this many bytes of them in any case.
const READINGS: usize = 16;
const BYTES: usize = 64 << 10;
/// How far behind its trigger a reading waits for more than the next trigger.
const WAIT_MAX: usize = 8 << 10;

/// What may end a block.
#[derive(Debug)]
pub(super) struct Extent {
    /// Bytes before have been looked through.
    at: usize,
    /// Behind a close tag of ARGS: text there may end the block.
    after_args: Option<usize>,
    /// Something has come that may.
    pending: bool,
    retry: Option<Retry>,
    /// What readings have cost, in bytes.
    work: usize,
}

/// A reading that was too early.
#[derive(Debug)]
struct Retry {
    wait: Incomplete,
    seen: usize,
    until: usize,
}

/// What stands at a `<`.
enum Mark {
    /// `<tool` or `</tool`.
    Tool,
    /// A close tag of ARGS, or an empty element: one past its name.
    Args(usize),
    Other,
    Cut,
}

impl Extent {
    pub(super) fn new(body: usize) -> Self {
        Extent { at: body, after_args: None, pending: true, retry: None, work: 0 }
    }

    /// Whether it has seen nothing yet.
    pub(super) fn is_first(&self) -> bool {
        self.pending && self.work == 0
    }

    /// Looks through new bytes; those from `section` on are in a section that goes on.
    pub(super) fn scan(&mut self, w: &Input<'_>, section: Option<usize>) {
        let inside = |p: usize| section.is_some_and(|from| p >= from);
        while let Some(p) = w.find(b'<', self.at) {
            match mark(w, p) {
                Mark::Cut => {
                    self.at = p;
                    break;
                }
                Mark::Tool => self.pending |= !inside(p),
                Mark::Args(end) if !inside(p) => self.after_args = Some(end),
                Mark::Args(_) | Mark::Other => {}
            }
            self.at = p + 1;
        }
        if w.find(b'<', self.at).is_none() {
            self.at = w.end();
        }
        self.text_after_args(w);
    }

    fn text_after_args(&mut self, w: &Input<'_>) {
        let Some(end) = self.after_args else { return };
        let rest = w.from(end);
        let Some(i) = rest.iter().position(|&b| !is_blank(b) && !matches!(b, b'>' | b'/')) else {
            return;
        };
        self.pending |= rest[i] != b'<';
        self.after_args = None;
    }

    /// Whether the block is to be read now, of which `len` bytes are stored.
    pub(super) fn is_due(&mut self, w: &Input<'_>, len: usize) -> bool {
        if let Some(retry) = &mut self.retry {
            let hit = retry.wait.need.hit(w.from(retry.seen)) || w.end() >= retry.wait.by;
            retry.seen = w.end();
            self.pending |= hit;
            if w.end() > retry.until {
                self.retry = None;
            }
        }
        self.pending && self.work <= READINGS * len + BYTES
    }

    /// A reading of `len` bytes was too early.
    pub(super) fn too_early(&mut self, w: &Input<'_>, wait: Incomplete, work: usize) {
        self.pending = false;
        self.work += work;
        let more = wait.need != Need::Never || wait.by != usize::MAX;
        let seen = w.end();
        self.retry = more.then(|| Retry { wait, seen, until: seen.max(wait_end(wait)) + WAIT_MAX });
    }

    /// Whether only what `scan` finds can end the block.
    pub(super) fn is_quiet(&self) -> bool {
        !self.pending && self.retry.is_none()
    }

    /// Moves to `end` over bytes without `<`.
    pub(super) fn pass_on(&mut self, end: usize) {
        self.at = end;
    }
}

fn wait_end(wait: Incomplete) -> usize {
    if wait.by == usize::MAX { 0 } else { wait.by }
}

fn mark(w: &Input<'_>, p: usize) -> Mark {
    let close = usize::from(w.at(p + 1) == Some(b'/'));
    let rest = w.str(p + 1 + close, w.end());
    let len = lex::name_len(rest);
    if len == rest.len() {
        return Mark::Cut;
    }
    let name = &rest[..len];
    if lex::same(name, "tool") {
        return Mark::Tool;
    }
    match lex::is_word(name, &ARGS) {
        true if close == 1 || rest.as_bytes()[len] == b'/' => Mark::Args(p + 1 + close + len),
        _ => Mark::Other,
    }
}
