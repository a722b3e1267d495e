//! What a command says to one line, and how the answers of a run are counted.
//!
//! Knows the form of an answer and not where it goes.

use msg_core::Diagnostic;
use msg_document::{repair_json, to_json};
use serde::Serialize;

use crate::exit::Status;

/// What a command says to one document.
#[derive(Debug)]
pub(crate) struct Answer {
    /// One line of JSON, without its end.
    pub(crate) json: Vec<u8>,
    /// What was changed or lost: the line of `--report`.
    pub(crate) edits: Vec<Diagnostic>,
    /// The errors that stay, of the same line.
    pub(crate) remaining: Vec<Diagnostic>,
    /// Whether errors were found.
    pub(crate) status: Status,
}

impl Answer {
    /// An answer that changes nothing.
    pub(crate) fn new(json: Vec<u8>, status: Status) -> Self {
        Answer { json, edits: Vec::new(), remaining: Vec::new(), status }
    }

    /// An answer that is written as JSON.
    pub(crate) fn of(value: &impl Serialize, status: Status) -> Self {
        Answer::new(to_json(value), status)
    }
}

/// An answer as JSON, and whether no error was found.
impl From<(Vec<u8>, bool)> for Answer {
    fn from((json, is_clean): (Vec<u8>, bool)) -> Self {
        Answer::new(json, Status::of(is_clean))
    }
}

/// The report line of `edits` and of the errors that stay, with its end.
pub(crate) fn report_line(edits: &[Diagnostic], remaining: &[Diagnostic]) -> Vec<u8> {
    let mut line = repair_json(edits, remaining);
    line.push(b'\n');
    line
}

/// Appends JSON as one line, with its end: a raw line break in JSON is between its tokens, as in arguments that a
/// model has spread over lines.
pub(super) fn push_line(out: &mut Vec<u8>, json: &[u8]) {
    let start = out.len();
    out.extend_from_slice(json);
    if memchr::memchr2(b'\n', b'\r', json).is_some() {
        for byte in &mut out[start..] {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    out.push(b'\n');
}

/// How many lines there were, and how many of them went wrong.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    /// All lines.
    pub(crate) lines: u64,
    /// Lines whose answer has errors.
    pub(crate) problems: u64,
    /// Lines that were not answered but by `error`.
    pub(crate) failed: u64,
}

impl Counts {
    /// What the run as a whole found.
    pub(crate) fn status(self) -> Status {
        match (self.failed, self.problems) {
            (0, 0) => Status::Clean,
            (0, _) => Status::Problems,
            _ => Status::Failed,
        }
    }

    pub(super) fn add(&mut self, other: Counts) {
        self.lines += other.lines;
        self.problems += other.problems;
        self.failed += other.failed;
    }
}
