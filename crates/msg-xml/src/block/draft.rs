//! What reading a block gives: calls as they are gathered, reports, and how it ended (XT-15).

use std::collections::HashSet;
use std::sync::Arc;

use super::sent::Sent;
use crate::call::Server;
use crate::code::Code;
use crate::json::{Json, Members};

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
pub(crate) enum Outcome {
    /// One or more calls; only the last can be incomplete.
    Calls(Vec<Draft>),
    /// It stays text.
    Rejected(Code),
    /// A limit removed it.
    Dropped(Code),
}

/// A block that has been read.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) outcome: Outcome,
    pub(crate) notes: Vec<Note>,
    /// Bytes behind it were read for it, or only the end of input decided it (XT-29).
    pub(crate) at_eof: bool,
    /// The dialect, for other than the native form.
    pub(crate) format: Option<Arc<str>>,
    /// How many calls have been announced.
    pub(crate) begun: u32,
    /// What has been sent of the first.
    pub(crate) sent: Sent,
}

impl Done {
    /// A native block that nothing special is known of.
    pub(crate) fn new(start: usize, end: usize, outcome: Outcome, notes: Vec<Note>) -> Self {
        let sent = Sent::default();
        Done { start, end, outcome, notes, at_eof: false, format: None, begun: 1, sent }
    }
}

/// Arguments as they were written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Arguments {
    /// Elements: a list is a name that was repeated.
    Object(Members),
    /// A JSON object: a list is a value.
    Json(Members),
    /// Several of these.
    Merged(Box<Merged>),
    /// Anything else: a text, or a JSON value that is no object.
    Other(Json),
}

/// A call that is not finished or not judged.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// Where its source begins and ends.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) name: Option<String>,
    /// It began with a blank name (XT-15).
    pub(crate) unnamed: bool,
    pub(crate) server: Option<Server>,
    pub(crate) args: Option<Arguments>,
    pub(crate) args_closed: bool,
    /// Parameters without wrapper.
    pub(crate) loose: Members,
    /// Raw inner source by parameter.
    pub(crate) raws: Vec<(Arc<str>, usize, usize)>,
    pub(crate) stray_after_name: bool,
    /// Arguments came as JSON: they have their types already (XT-31).
    pub(crate) typed: bool,
    pub(crate) complete: bool,
    /// XT-28: over the size on its own, and dropped; not complete either.
    pub(crate) too_large: bool,
    /// Its source, if that was copied before its block ended.
    pub(crate) source: String,
}

impl Draft {
    pub(crate) fn new(start: usize) -> Self {
        Draft {
            start,
            end: start,
            name: None,
            unnamed: false,
            server: None,
            args: None,
            args_closed: false,
            loose: Members::default(),
            raws: Vec::new(),
            stray_after_name: false,
            typed: false,
            complete: true,
            too_large: false,
            source: String::new(),
        }
    }

    pub(crate) fn has_params(&self) -> bool {
        self.args.is_some() || !self.loose.is_empty()
    }

    /// Adds another ARGS value: objects merge, of texts the first stays.
    pub(crate) fn add_args(&mut self, more: Arguments) {
        let Some(first) = self.args.take() else {
            self.args = Some(more);
            return;
        };
        self.args = Some(match (first.merged(), more.merged()) {
            (Err(first), _) => Arguments::Other(first),
            (Ok(first), Err(_)) => Arguments::Merged(Box::new(first)),
            (Ok(first), Ok(more)) => Arguments::Merged(Box::new(first.and(more))),
        });
    }

    /// The arguments with the parameters that stood outside the wrapper added after them (XT-14).
    pub(crate) fn take_arguments(&mut self) -> Json {
        let mut loose = std::mem::take(&mut self.loose);
        if self.args.is_some() && !loose.is_empty() {
            self.add_args(Arguments::Object(std::mem::take(&mut loose)));
        }
        match self.args.take() {
            None => Json::Object(loose),
            Some(Arguments::Object(all) | Arguments::Json(all)) => Json::Object(all),
            Some(Arguments::Merged(all)) => Json::Object(all.members),
            Some(Arguments::Other(value)) => value,
        }
    }
}

/// Members of several objects, and the names whose lists were made by repeating them: a list that is a JSON
/// value stays one value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Merged {
    members: Members,
    repeated: HashSet<String>,
}

impl Arguments {
    /// The object as part of a merger; the value if it is no object.
    fn merged(self) -> Result<Merged, Json> {
        match self {
            Arguments::Object(members) => {
                let lists = members.iter().filter(|(_, value)| matches!(value, Json::Array(_)));
                let repeated = lists.map(|(key, _)| key.clone()).collect();
                Ok(Merged { members, repeated })
            }
            Arguments::Json(members) => Ok(Merged { members, repeated: HashSet::new() }),
            Arguments::Merged(merged) => Ok(*merged),
            Arguments::Other(value) => Err(value),
        }
    }
}

impl Merged {
    /// Adds all of `more`, value by value.
    fn and(mut self, more: Merged) -> Self {
        for (key, value) in more.members.into_list() {
            match value {
                Json::Array(items) if more.repeated.contains(&key) => {
                    items.into_iter().for_each(|item| self.add(key.clone(), item));
                }
                value => self.add(key, value),
            }
        }
        self
    }

    fn add(&mut self, key: String, value: Json) {
        let Some(slot) = self.members.get_mut(&key) else { return self.members.set(key, value) };
        match slot {
            Json::Array(items) if self.repeated.contains(&key) => items.push(value),
            _ => {
                let first = std::mem::replace(slot, Json::Null);
                *slot = Json::Array(vec![first, value]);
                self.repeated.insert(key);
            }
        }
    }
}
