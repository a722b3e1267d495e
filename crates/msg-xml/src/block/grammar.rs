//! One reading of a block, from its opener to its end: what is known of its calls while the parts of the grammar add to
//! them. It keeps nothing for another reading.

use super::ahead::Ahead;
use super::draft::{Done, Draft, Note};
use crate::call::Server;
use crate::code::Code;
use crate::input::{Incomplete, Input};
use crate::json::Members;
use crate::options::Options;

/// Where a block begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) start: usize,
    /// One past its opener.
    pub(crate) body: usize,
}

/// Reads the block whose opener is `head`; what it gives is the same for every longer window. An error says which byte
/// is worth another try. The second result is what that has cost, in readings of the window.
pub(crate) fn read(
    w: Input<'_>,
    head: Head,
    opts: &Options,
    cut: bool,
) -> (Result<Done, Incomplete>, usize) {
    let mut block = Grammar::new(w, head, opts, cut);
    let res = block.read();
    (res, 1 + block.ahead.scans)
}

/// Why a part of the grammar cannot go on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Halt {
    /// The bytes do not decide.
    Incomplete(Incomplete),
    /// The message ends here.
    Eof,
    /// Nested too deeply from here on (XT-28).
    Deep(usize),
    /// What stands before is no JSON (XT-27).
    NoJson(usize),
}

impl From<Incomplete> for Halt {
    fn from(wait: Incomplete) -> Self {
        Halt::Incomplete(wait)
    }
}

/// What has been read of a block.
pub(super) struct Grammar<'a> {
    pub(super) ahead: Ahead<'a>,
    pub(super) head: Head,
    pub(super) at: usize,
    /// The calls before the one that is being read.
    pub(super) done: Vec<Draft>,
    pub(super) cur: Draft,
    /// The parameters of the ARGS element that is open.
    pub(super) args: Option<Members>,
    pub(super) notes: Vec<Note>,
    pub(super) reject: Option<Code>,
    pub(super) pending_server: Option<(Server, usize)>,
    /// End of the last element, where a block without close tag ends.
    pub(super) last_end: usize,
    pub(super) bare_end: Option<usize>,
    /// Only the end of input decided something (XT-29).
    pub(super) at_eof: bool,
    pub(super) is_json: bool,
}

impl<'a> Grammar<'a> {
    fn new(w: Input<'a>, head: Head, opts: &'a Options, cut: bool) -> Self {
        Grammar {
            ahead: Ahead::new(w, opts, cut, head.start),
            head,
            at: head.body,
            done: Vec::new(),
            cur: Draft::new(head.start),
            args: None,
            notes: Vec::new(),
            reject: None,
            pending_server: None,
            last_end: head.body,
            bare_end: None,
            at_eof: false,
            is_json: false,
        }
    }

    fn read(&mut self) -> Result<Done, Incomplete> {
        self.attributes();
        match self.body() {
            Ok(done) => Ok(done),
            Err(Halt::Incomplete(wait)) => Err(wait),
            Err(Halt::Eof) => Ok(self.end_of_input()),
            Err(Halt::Deep(at)) => self.skip_depth(at),
            Err(Halt::NoJson(at)) => self.skip_rejected(at),
        }
    }

    pub(super) fn note(&mut self, code: Code, start: usize, end: usize) {
        let call = self.done.len();
        self.notes.push(Note { code, start, end, call });
    }

    /// XT-28: whether the block is too large if it goes on up to `pos`.
    pub(super) fn is_large(&self, pos: usize) -> bool {
        pos - self.head.start > self.ahead.opts.limits.max_tool_bytes
    }

    pub(super) fn refuse(&mut self, code: Code) {
        self.reject.get_or_insert(code);
    }

    /// Skips misc, reporting declarations.
    pub(super) fn misc(&mut self) -> Result<usize, Incomplete> {
        let p = self.ahead.misc(self.at)?;
        if p > self.at {
            for (from, to) in self.ahead.declarations(self.at, p) {
                self.note(Code::DtdIgnored, from, to);
            }
        }
        self.at = p;
        Ok(p)
    }
}
