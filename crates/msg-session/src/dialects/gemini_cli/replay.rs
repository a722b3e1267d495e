//! The lines of a Gemini CLI session replayed: which messages there are at the end (SE-60).

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Edits, has_project, id_of, is_header};
use crate::Error;
use crate::branches::{Branch, BranchKind};
use crate::dialects::file::File;
use crate::dialects::records_to_leaf;
use crate::finding::{Finding, Place};
use crate::frame::{Array, Lines};
use crate::json::{Object, Value};
use crate::options::RepairOptions;

/// A message that is there at the end.
pub(super) struct Message<'a> {
    pub(super) record: usize,
    pub(super) place: Place,
    pub(super) value: Value<'a>,
    pub(super) object: Object<'a>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Gemini,
    /// What the program says, which is not sent.
    Note,
}

impl Message<'_> {
    /// Whether the model gets to see it (SE-61).
    pub(super) fn is_sent(&self) -> bool {
        self.kind != Kind::Note
    }
}

/// The outcome.
#[derive(Default)]
pub(super) struct Replay<'a> {
    pub(super) messages: Vec<Message<'a>>,
    pub(super) has_header: bool,
    /// A header that does not say of which project the session is.
    pub(super) bad_header: Option<Place>,
    pub(super) findings: Vec<Finding>,
    /// Edits that remove lines, and how many.
    pub(super) edits: Edits,
    pub(super) removed: usize,
    /// What left the session.
    pub(super) branches: Vec<Branch>,
    /// Where the message of each id stands.
    ids: HashMap<Cow<'a, str>, usize>,
}

impl<'a> Replay<'a> {
    /// The messages, up to the leaf.
    pub(super) fn of(file: File<'a>, options: &RepairOptions) -> Result<Self, Error> {
        let mut res = Self::default();
        let end = records_to_leaf(options, file.len())?;
        match file {
            File::Lines(it) => res.lines(it, end),
            File::Array(it) => res.document(it, end),
        }
        Ok(res)
    }

    fn document(&mut self, array: &'a Array<'a>, end: usize) {
        let header = array.document().filter(is_header);
        self.has_header = header.is_some();
        self.bad_header = header.filter(|it| !has_project(it)).map(|_| Place::line(1));
        for at in 0..end {
            let message = array.value(at).and_then(|it| message(at, array.place(at), it));
            match message {
                // In a document a repeated id is nothing special.
                Some(it) => self.messages.push(it),
                None => self.findings.push(super::super::unknown_record(array.place(at))),
            }
        }
    }

    fn lines(&mut self, lines: &'a Lines<'a>, end: usize) {
        for at in 0..end {
            let Some(value) = lines.value(at) else { continue };
            let Some(object) = value.object() else { continue };
            if let Some(set) = object.get("$set") {
                self.set(lines, at, set);
            } else if let Some(id) = object.get("$rewindTo") {
                self.rewind(lines, at, id);
            } else if let Some(message) = message(at, lines.place(at), value) {
                self.put(message);
            } else if is_header(&object) {
                self.has_header = true;
                let is_bad = !has_project(&object);
                self.bad_header = is_bad.then(|| lines.place(at)).or(self.bad_header);
            } else {
                self.findings.push(super::super::unknown_record(lines.place(at)));
            }
        }
    }

    /// A message: in the place of the one that has its id, or at the end.
    fn put(&mut self, message: Message<'a>) {
        let Some(id) = id_of(&message.object) else { return self.messages.push(message) };
        match self.ids.get(&id) {
            Some(at) => self.messages[*at] = message,
            None => {
                self.ids.insert(id, self.messages.len());
                self.messages.push(message);
            }
        }
    }

    /// New values of the session; messages replace all that there are.
    fn set(&mut self, lines: &'a Lines<'a>, at: usize, set: Value<'a>) {
        let Some(list) = set.get("messages").and_then(|it| it.array()) else { return };
        let gone = std::mem::take(&mut self.messages).len();
        self.branches.extend(Branch::before(at, BranchKind::Compacted, gone));
        self.ids.clear();
        let place = lines.place(at);
        list.into_iter().filter_map(|it| message(at, place, it)).for_each(|it| self.put(it));
    }

    /// Goes back to before a message. If that is not there, the agent drops everything (SE-63).
    fn rewind(&mut self, lines: &'a Lines<'a>, at: usize, id: Value<'a>) {
        let to = id.text().and_then(|it| self.ids.get(&it).copied());
        if let Some(to) = to {
            let gone = self.messages.len() - to;
            self.branches.extend(Branch::before(at, BranchKind::Abandoned, gone));
            for gone in self.messages.drain(to..) {
                if let Some(id) = id_of(&gone.object) {
                    self.ids.remove(&id);
                }
            }
            return;
        }
        let message = "a rewind to a missing message; the agent drops everything before it";
        let finding = Finding::error("session::lost-by-rewind", lines.place(at), message);
        self.findings.push(finding.mended("remove the line", false));
        self.edits.push(lines.remove(at));
        self.removed += 1;
    }
}

fn message(record: usize, place: Place, value: Value<'_>) -> Option<Message<'_>> {
    let object = value.object()?;
    Some(Message { record, place, value, kind: kind(&object)?, object })
}

pub(super) fn kind(object: &Object<'_>) -> Option<Kind> {
    Some(match &*object.text("type")? {
        "user" => Kind::User,
        "gemini" => Kind::Gemini,
        "info" | "warning" | "error" => Kind::Note,
        _ => return None,
    })
}
