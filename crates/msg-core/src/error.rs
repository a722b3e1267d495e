//! Why a document was refused (MS-9), and the bounded list of diagnostics of one that was read. A failure concerns the
//! whole document; no half-read value comes with it.

use msg_json::{JsonError, Problem};
use serde::{Serialize, Serializer};

use crate::{Code, Diagnostic, Severity};

/// A document that is not a conversation, with the place where that shows.
///
/// ```
/// use msg_core::Error;
/// use msg_json::{JsonError, Reader};
///
/// let error = Reader::new(b"\xff").map(|_| ()).map_err(Error::from).unwrap_err();
/// assert_eq!(error.to_string(), "invalid UTF-8 at byte 0");
/// assert_eq!(error.diagnostic().code, "message::bad-json");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The document is not JSON: `message::bad-json`.
    #[error("{}{problem} at byte {offset}", at(message))]
    Json {
        /// Byte offset into the document.
        offset: usize,
        /// What is wrong there.
        problem: Problem,
        /// Index of the message that was being read.
        message: Option<usize>,
    },
    /// A list or an object is missing where a conversation has one: `message::bad-shape`.
    #[error("{}expected {expected} at byte {offset}", at(message))]
    Shape {
        /// Index of the message, if one was being read.
        message: Option<usize>,
        /// What the format has here.
        expected: &'static str,
        /// Byte offset into the document.
        offset: usize,
    },
    /// A message without a role, or with one that is not a string: `message::missing-role`.
    #[error("message {message}: expected `role` to be a string at byte {offset}")]
    Role {
        /// Index of the message.
        message: usize,
        /// Byte offset of the message.
        offset: usize,
    },
    /// An `AgentMessage` of no known form: `agent::bad-shape` or `agent::unknown-role` (MS-12).
    #[error("{}{found}, expected {expected} at byte {offset}", at(message))]
    Agent {
        /// Index of the message, if one was being read.
        message: Option<usize>,
        /// Whether the role is at fault.
        role: bool,
        /// What was found.
        found: String,
        /// What the format has here.
        expected: &'static str,
        /// Byte offset into the document.
        offset: usize,
    },
    /// A turn or a part of one that is not an object, or parts that are not a list: `turn::bad-shape`
    /// (MS-19).
    #[error("{}expected {expected} at byte {offset}", at_turn(turn))]
    Turn {
        /// Index of the turn, if one was being read.
        turn: Option<usize>,
        /// What the format has here.
        expected: &'static str,
        /// Byte offset into the document.
        offset: usize,
    },
}

impl Error {
    /// From an error of the JSON reader in this message: a value of another kind is
    /// [`Error::Shape`], all else [`Error::Json`].
    pub fn from_json(error: JsonError, message: Option<usize>) -> Self {
        let JsonError { offset, problem } = error;
        match problem {
            Problem::Kind { expected, .. } => Error::Shape { message, expected, offset },
            problem => Error::Json { offset, problem, message },
        }
    }

    /// Something that the format has in this message, and that is not there.
    pub fn missing(message: usize, offset: usize, expected: &'static str) -> Self {
        Error::Shape { message: Some(message), expected, offset }
    }

    /// The stable code of the failure (MS-9).
    pub fn code(&self) -> Code {
        Code::new(match self {
            Error::Json { .. } => "message::bad-json",
            Error::Shape { .. } => "message::bad-shape",
            Error::Role { .. } => "message::missing-role",
            Error::Agent { role: true, .. } => "agent::unknown-role",
            Error::Agent { role: false, .. } => "agent::bad-shape",
            Error::Turn { .. } => "turn::bad-shape",
        })
    }

    /// Byte offset into the document.
    pub fn offset(&self) -> usize {
        match self {
            Error::Json { offset, .. }
            | Error::Shape { offset, .. }
            | Error::Role { offset, .. }
            | Error::Agent { offset, .. }
            | Error::Turn { offset, .. } => *offset,
        }
    }

    /// Index of the message (or turn) that was being read.
    pub fn message(&self) -> Option<usize> {
        match self {
            Error::Role { message, .. } => Some(*message),
            Error::Json { message, .. }
            | Error::Shape { message, .. }
            | Error::Agent { message, .. }
            | Error::Turn { turn: message, .. } => *message,
        }
    }

    /// The same as a diagnostic, with message, byte and what would mend it.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut res = Diagnostic::error(self.code(), self.to_string());
        res.at.message = self.message();
        res.at.start = Some(self.offset());
        if let Error::Json { problem, .. } = self {
            res.fix = problem.remedy().map(Into::into);
        }
        res
    }

    /// Says which message was being read when the text stopped being JSON.
    #[must_use]
    pub fn in_message(mut self, index: usize) -> Self {
        if let Error::Json { message, .. } | Error::Shape { message, .. } = &mut self {
            message.get_or_insert(index);
        }
        self
    }
}

impl From<JsonError> for Error {
    fn from(it: JsonError) -> Self {
        Error::Json { offset: it.offset, problem: it.problem, message: None }
    }
}

fn at(message: &Option<usize>) -> String {
    message.map_or_else(String::new, |it| format!("message {it}: "))
}

fn at_turn(turn: &Option<usize>) -> String {
    turn.map_or_else(String::new, |it| format!("turn {it}: "))
}

// A bounded list of diagnostics.

/// Collects diagnostics in the order of the input, up to a cap; the rest is counted.
///
/// ```
/// use msg_core::{Code, Diagnostic, Report};
///
/// let mut report = Report::with_cap(1);
/// report.push(Diagnostic::info(Code::new("message::role-spelling"), "read `human` as user"));
/// report.push(Diagnostic::error(Code::new("message::empty-content"), "no content"));
/// assert_eq!((report.len(), report.dropped()), (1, 1));
/// assert!(report.has_errors());
/// ```
#[derive(Debug, Clone)]
pub struct Report {
    kept: Vec<Diagnostic>,
    cap: usize,
    dropped: usize,
    has_errors: bool,
}

/// How many diagnostics a report keeps unless told otherwise.
const DEFAULT_CAP: usize = 10_000;

impl Report {
    /// An empty report that keeps 10 000 diagnostics.
    pub fn new() -> Self {
        Self::with_cap(DEFAULT_CAP)
    }

    /// An empty report that keeps this many.
    pub fn with_cap(cap: usize) -> Self {
        Self { kept: Vec::new(), cap, dropped: 0, has_errors: false }
    }

    /// Adds a diagnostic, or counts it if the cap is reached.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.has_errors |= diagnostic.severity == Severity::Error;
        if self.kept.len() < self.cap {
            self.kept.push(diagnostic);
        } else {
            self.dropped += 1;
        }
    }

    /// Adds what another report holds, in its order; what that one dropped counts here.
    ///
    /// ```
    /// use msg_core::{Code, Diagnostic, Report};
    ///
    /// let mut report = Report::new();
    /// let mut other = Report::with_cap(0);
    /// other.push(Diagnostic::error(Code::new("message::empty-content"), "no content"));
    /// report.append(other);
    /// assert_eq!((report.len(), report.dropped(), report.has_errors()), (0, 1, true));
    /// ```
    pub fn append(&mut self, other: Report) {
        self.dropped += other.dropped;
        self.has_errors |= other.has_errors;
        self.extend(other.kept);
    }

    /// Those that were kept, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.kept.iter()
    }

    /// Gives away those that were kept.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.kept
    }

    /// How many were kept.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.dropped == 0
    }

    /// How many came after the cap was reached.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Whether one of them, kept or not, is an error.
    pub fn has_errors(&self) -> bool {
        self.has_errors
    }
}

/// The list of those that were kept.
impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.kept)
    }
}

impl Default for Report {
    fn default() -> Self {
        Self::new()
    }
}

impl Extend<Diagnostic> for Report {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, diagnostics: I) {
        diagnostics.into_iter().for_each(|it| self.push(it));
    }
}

impl FromIterator<Diagnostic> for Report {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(diagnostics: I) -> Self {
        let mut report = Self::new();
        report.extend(diagnostics);
        report
    }
}

impl IntoIterator for Report {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.kept.into_iter()
    }
}

impl<'a> IntoIterator for &'a Report {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
