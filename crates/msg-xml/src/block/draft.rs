//! The result of reading a block: its calls with the places of their names, servers and arguments (XT-13, XT-15), the
//! reports, and the outcome of each call at the end of the block (XT-16, XT-17). Dialects produce the same drafts. It
//! does not read blocks (`grammar`).

use std::collections::HashMap;
use std::sync::Arc;

use crate::code::Code;
use crate::event::{ArgPath, Queue};
use crate::input::{Input, is_blank};
use crate::json::{Json, Members};
use crate::lex;
use crate::parsed::Server;

/// A report about a place, in machine positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) code: Code,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The call within the block that it is about.
    pub(crate) call: usize,
}

/// How a block ended.
#[derive(Debug)]
pub(crate) enum CallEnd {
    /// One or more calls; only the last can be incomplete.
    Calls(Vec<Draft>),
    /// It stays text.
    Rejected(Code),
    /// A limit removed it.
    Dropped(Code),
}

impl CallEnd {
    /// These calls, unless `reject` has a code.
    pub(crate) fn new(calls: Vec<Draft>, reject: Option<Code>) -> Self {
        match reject {
            Some(code @ Code::DepthLimit) => CallEnd::Dropped(code),
            Some(code) => CallEnd::Rejected(code),
            None => CallEnd::Calls(calls),
        }
    }
}

/// The only report about a call that the message cut off (XT-16) is that.
fn truncate(notes: &mut Vec<Note>, call: usize, start: usize, end: usize) {
    notes.retain(|note| note.call != call);
    notes.push(Note { code: Code::TruncatedToolCall, start, end, call });
}

/// A block that has been read.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) outcome: CallEnd,
    pub(crate) notes: Vec<Note>,
    /// Bytes after it were read for it, or only the end of input decided it (XT-29).
    pub(crate) at_eof: bool,
    /// The dialect, for other than the native form.
    pub(crate) format: Option<Arc<str>>,
    /// How many calls have been announced.
    pub(crate) begun: u32,
}

impl Done {
    /// The result of an ordinary block. If it is not a call, the only report is the reason.
    pub(crate) fn new(start: usize, end: usize, outcome: CallEnd, notes: Vec<Note>) -> Self {
        let notes = match outcome {
            CallEnd::Rejected(code) | CallEnd::Dropped(code) => {
                vec![Note { code, start, end, call: 0 }]
            }
            CallEnd::Calls(_) => notes,
        };
        Done { start, end, outcome, notes, at_eof: false, format: None, begun: 1 }
    }
}

/// Parameters in order; a name that is repeated is a list of its values.
pub(crate) type Params = Vec<(String, Json)>;

/// Arguments as they were written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Arguments {
    /// Elements, or the members of JSON objects.
    Params(Params),
    /// Anything else: a text, or a JSON value that is not an object.
    Other(Json),
}

impl From<Json> for Arguments {
    fn from(value: Json) -> Self {
        match value {
            Json::Object(members) => Arguments::Params(members.into_list()),
            other => Arguments::Other(other),
        }
    }
}

/// A call that is not finished or not judged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    /// The range of its source.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) name: Option<String>,
    /// It began with a blank name (XT-15).
    pub(crate) unnamed: bool,
    pub(crate) server: Option<Server>,
    pub(crate) args: Option<Arguments>,
    pub(crate) args_closed: bool,
    /// Parameters without wrapper.
    pub(crate) unwrapped: Params,
    /// Raw inner source by parameter.
    pub(crate) raws: Vec<(Arc<str>, usize, usize)>,
    pub(crate) stray_after_name: bool,
    /// Whether the arguments were JSON and therefore have types (XT-31).
    pub(crate) typed: bool,
    pub(crate) complete: bool,
    /// XT-28: over the size on its own, and dropped; not complete either.
    pub(crate) too_large: bool,
    /// Its source, if that was copied before its block ended.
    pub(crate) source: String,
    /// The values sent so far.
    pub(crate) sent: Sent,
}

impl Draft {
    pub(crate) fn new(start: usize) -> Self {
        Draft { start, end: start, complete: true, ..Draft::default() }
    }

    pub(crate) fn has_params(&self) -> bool {
        self.args.is_some() || !self.unwrapped.is_empty()
    }

    /// Adds another ARGS value. Objects are merged; of several texts the first is kept.
    pub(crate) fn add_args(&mut self, more: Arguments) {
        match (&mut self.args, more) {
            (none @ None, more) => *none = Some(more),
            (Some(Arguments::Params(all)), Arguments::Params(more)) => all.extend(more),
            (Some(_), _) => {}
        }
    }

    /// The arguments with the parameters that were outside the wrapper added after them (XT-14).
    pub(crate) fn take_arguments(&mut self) -> Json {
        let unwrapped = std::mem::take(&mut self.unwrapped);
        self.add_args(Arguments::Params(unwrapped));
        match self.args.take() {
            Some(Arguments::Other(value)) => value,
            Some(Arguments::Params(all)) => Json::Object(Members::grouped(all)),
            None => Json::Object(Members::default()),
        }
    }
}

/// The calls of a block that were read so far.
#[derive(Debug)]
pub(crate) struct Calls {
    /// The calls before the current one.
    pub(crate) before: Vec<Draft>,
    pub(crate) cur: Draft,
    notes: Vec<Note>,
    reject: Option<Code>,
    /// A server after a call that is whole: of the next call if a name follows.
    server: Option<(Server, usize)>,
}

impl Calls {
    pub(crate) fn new(start: usize) -> Self {
        let cur = Draft::new(start);
        Calls { before: Vec::new(), cur, notes: Vec::new(), reject: None, server: None }
    }

    pub(crate) fn note(&mut self, code: Code, start: usize, end: usize) {
        self.note_of(self.before.len(), code, start, end);
    }

    /// A report about another call than the current one.
    pub(crate) fn note_of(&mut self, call: usize, code: Code, start: usize, end: usize) {
        self.notes.push(Note { code, start, end, call });
    }

    /// The same, unless there is one already.
    pub(crate) fn note_once(&mut self, code: Code, start: usize, end: usize) {
        if !self.notes.iter().any(|note| note.code == code) {
            self.note(code, start, end);
        }
    }

    /// The number of reports, for [`Calls::forget`].
    pub(crate) fn mark(&self) -> usize {
        self.notes.len()
    }

    pub(crate) fn forget(&mut self, mark: usize) {
        self.notes.truncate(mark);
    }

    pub(crate) fn refuse(&mut self, code: Code) {
        self.reject.get_or_insert(code);
    }

    /// Whether the block is not a call.
    pub(crate) fn is_refused(&self) -> bool {
        self.reject.is_some()
    }

    /// A NAME element's content, trimmed; a blank one begins a call too: what follows was not meant for the one before.
    pub(crate) fn set_name(&mut self, name: &str, at: usize) {
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
    pub(crate) fn set_server(&mut self, server: Server, at: usize) {
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
    pub(crate) fn join_server(&mut self, server: Server) {
        if server.is_empty() {
            return;
        }
        if self.cur.server.as_ref().is_some_and(|known| *known != server) {
            self.refuse(Code::DuplicateToolName);
        }
        self.cur.server = Some(server);
    }

    /// The finished block from `start` to `end`; `whole` says whether its last call may be complete.
    pub(crate) fn finish(
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
        calls.iter_mut().for_each(|call| call.complete &= !call.too_large);
        self.judge(&calls);
        let mut notes = std::mem::take(&mut self.notes);
        if !whole && !calls[last].too_large {
            truncate(&mut notes, last, start, end);
        }
        // A call that is too large cannot become text.
        let large = calls.iter().filter(|call| call.too_large).count();
        let is_lost = large == calls.len() || large > 0 && self.is_refused();
        let outcome = match too_large || is_lost {
            true => CallEnd::Dropped(Code::ToolTooLarge),
            false => CallEnd::new(calls, self.reject),
        };
        Done::new(start, end, outcome, notes)
    }

    /// Rejects the block if a complete call lacks something.
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

// Values that were sent before their call was read (XT-42), to compare with the final reading. `preview` and the tag
// dialects decide what to send.

/// The parts of a call that were sent, value by value. The last value may be open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent {
    leaves: Vec<SentLeaf>,
}

/// The part of a value that was sent: ranges of the source, followed by a text.
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

    /// The value that was opened last is not text.
    pub(crate) fn take_back(&mut self) -> ArgPath {
        self.leaves.pop().map(|leaf| leaf.path).unwrap_or_default()
    }

    /// The path of the last opened value.
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

    /// The same without trailing blanks, which are sent once more text follows. Returns the end of the sent
    /// text.
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

    /// Sends a piece that is not in the source in this form, such as an escape. No range can follow it.
    pub(crate) fn send_decoded(&mut self, queue: &mut Queue, call: u32, text: &str) {
        let Some(leaf) = self.leaves.last_mut() else { return };
        queue.arg_text(call, &leaf.path, text);
        leaf.rest.push_str(text);
    }

    /// Sends the rest of the last opened value, which has ended.
    pub(crate) fn send_rest(&mut self, queue: &mut Queue, call: u32, text: &str) {
        let Some(leaf) = self.leaves.last_mut() else { return };
        let sent: usize = leaf.ranges.iter().map(|(from, to)| to - from).sum();
        if let Some(rest) = text.get(sent..).filter(|rest| !rest.is_empty()) {
            queue.arg_text(call, &leaf.path, rest);
            leaf.rest.push_str(rest);
        }
    }

    /// The unsent rest of each text value; `None` if something else was sent.
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
    /// The unsent rest of `value`; `None` if the sent text is not its beginning.
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

/// How many values of each name are at one level so far.
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
