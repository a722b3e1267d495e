//! What reading a block gives: calls as they are gathered, reports, and how it ended (XT-15). How a block is read is
//! not its business; dialects give the same.

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
    /// What a block comes to, of which nothing special is known. One that is no call has no report but the reason.
    pub(crate) fn new(start: usize, end: usize, outcome: Outcome, notes: Vec<Note>) -> Self {
        let notes = match outcome {
            Outcome::Rejected(code) | Outcome::Dropped(code) => {
                vec![Note { code, start, end, call: 0 }]
            }
            Outcome::Calls(_) => notes,
        };
        let sent = Sent::default();
        Done { start, end, outcome, notes, at_eof: false, format: None, begun: 1, sent }
    }
}

/// Parameters in order; a name that is repeated is a list of its values.
pub(crate) type Params = Vec<(String, Json)>;

/// Arguments as they were written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Arguments {
    /// Elements, or the members of JSON objects.
    Params(Params),
    /// Anything else: a text, or a JSON value that is no object.
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
    pub(crate) loose: Params,
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
            loose: Vec::new(),
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
        match (&mut self.args, more) {
            (none @ None, more) => *none = Some(more),
            (Some(Arguments::Params(all)), Arguments::Params(more)) => all.extend(more),
            (Some(_), _) => {}
        }
    }

    /// The arguments with the parameters that stood outside the wrapper added after them (XT-14).
    pub(crate) fn take_arguments(&mut self) -> Json {
        let loose = std::mem::take(&mut self.loose);
        self.add_args(Arguments::Params(loose));
        match self.args.take() {
            Some(Arguments::Other(value)) => value,
            Some(Arguments::Params(all)) => Json::Object(Members::grouped(all)),
            None => Json::Object(Members::default()),
        }
    }
}
