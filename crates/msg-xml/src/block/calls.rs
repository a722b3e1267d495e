//! The calls of a block while it is read: whose name, server and arguments stand where (XT-13, XT-15), what was
//! reported, and what the calls come to once the block is over (XT-16, XT-17, XT-28).

use super::draft::{Done, Draft, Note, Outcome};
use crate::call::Server;
use crate::code::Code;
use crate::lex;

/// What is known of the calls of a block.
pub(super) struct Calls {
    /// The calls before the one that is being read.
    pub(super) before: Vec<Draft>,
    pub(super) cur: Draft,
    notes: Vec<Note>,
    reject: Option<Code>,
    /// A server behind a call that is whole: of the next call if a name follows.
    server: Option<(Server, usize)>,
}

impl Calls {
    pub(super) fn new(start: usize) -> Self {
        let cur = Draft::new(start);
        Calls { before: Vec::new(), cur, notes: Vec::new(), reject: None, server: None }
    }

    pub(super) fn note(&mut self, code: Code, start: usize, end: usize) {
        self.note_of(self.before.len(), code, start, end);
    }

    /// A report about another call than the one that is being read.
    pub(super) fn note_of(&mut self, call: usize, code: Code, start: usize, end: usize) {
        self.notes.push(Note { code, start, end, call });
    }

    /// The same, unless there is one already.
    pub(super) fn note_once(&mut self, code: Code, start: usize, end: usize) {
        if !self.notes.iter().any(|note| note.code == code) {
            self.note(code, start, end);
        }
    }

    /// So many reports, to which [`Calls::forget`] goes back.
    pub(super) fn mark(&self) -> usize {
        self.notes.len()
    }

    pub(super) fn forget(&mut self, mark: usize) {
        self.notes.truncate(mark);
    }

    pub(super) fn refuse(&mut self, code: Code) {
        self.reject.get_or_insert(code);
    }

    /// A NAME element's content, trimmed; a blank one begins a call too: what follows was not meant for the one before.
    pub(super) fn set_name(&mut self, name: &str, at: usize) {
        if (self.cur.name.is_some() || self.cur.unnamed) && self.cur.has_params() {
            self.note(Code::MissingToolBoundary, at, at);
            self.next_call(at);
            self.cur.unnamed = name.is_empty();
        } else if self.cur.name.as_ref().is_some_and(|known| !name.is_empty() && known != name) {
            return self.refuse(Code::DuplicateToolName);
        }
        if name.is_empty() {
            return;
        }
        if !lex::valid_tool_name(name) {
            self.refuse(Code::InvalidToolName);
        }
        self.cur.name = Some(name.to_owned());
    }

    /// The call is over, another begins in the same block.
    fn next_call(&mut self, at: usize) {
        let server = self.server.take();
        let start = server.as_ref().map_or(at, |(_, start)| *start);
        let mut old = std::mem::replace(&mut self.cur, Draft::new(start));
        old.end = start;
        self.before.push(old);
        self.cur.server = server.map(|(name, _)| name).filter(|name| !name.is_empty());
    }

    /// A SERVER element's content.
    pub(super) fn set_server(&mut self, server: Server, at: usize) {
        if !(self.cur.name.is_some() && self.cur.args_closed) {
            return self.join_server(server);
        }
        match &mut self.server {
            None => self.server = Some((server, at)),
            Some((known, _)) if known.is_empty() => *known = server,
            Some((known, _)) if server.is_empty() || *known == server => {}
            Some(_) => self.refuse(Code::DuplicateToolName),
        }
    }

    /// A server for the current call.
    pub(super) fn join_server(&mut self, server: Server) {
        if server.is_empty() {
            return;
        }
        if self.cur.server.as_ref().is_some_and(|known| *known != server) {
            self.refuse(Code::DuplicateToolName);
        }
        self.cur.server = Some(server);
    }

    /// The block, which goes from `start` to `end`; `whole` says whether its last call may be complete.
    pub(super) fn finish(
        &mut self,
        start: usize,
        end: usize,
        whole: bool,
        too_large: bool,
    ) -> Done {
        if let Some((server, _)) = self.server.take() {
            self.join_server(server);
        }
        let last = self.before.len();
        let mut calls = std::mem::take(&mut self.before);
        calls.push(std::mem::replace(&mut self.cur, Draft::new(end)));
        (calls[last].end, calls[last].complete) = (end, whole);
        self.judge(&calls);
        let mut notes = std::mem::take(&mut self.notes);
        if !whole {
            notes.retain(|n| n.call != last);
            notes.push(Note { code: Code::TruncatedToolCall, start, end, call: last });
        }
        let outcome = match self.reject {
            _ if too_large => Outcome::Dropped(Code::ToolTooLarge),
            Some(code @ Code::DepthLimit) => Outcome::Dropped(code),
            Some(code) => Outcome::Rejected(code),
            None => Outcome::Calls(calls),
        };
        Done::new(start, end, outcome, notes)
    }

    /// What complete calls lack rejects the block.
    fn judge(&mut self, calls: &[Draft]) {
        for call in calls.iter().filter(|c| c.complete) {
            if call.name.is_none() {
                self.refuse(Code::MissingToolName);
            } else if call.stray_after_name && !call.has_params() {
                self.refuse(Code::InvalidToolBody);
            }
        }
    }
}
