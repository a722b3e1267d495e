//! Why a document was refused (MS-9): the one error type of this crate. A failure concerns the whole
//! document; nothing half-read comes with it.

use crate::{Code, Diagnostic};
use msg_json::{JsonError, Problem};

/// A document that is no conversation, with the place where that shows.
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
    /// A message without a role, or with one that is no string: `message::missing-role`.
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
    /// A turn or a part of one that is no object, or parts that are no list: `turn::bad-shape`
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

    /// The same as a diagnostic, with message and byte.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut res = Diagnostic::error(self.code(), self.to_string());
        res.at.message = self.message();
        res.at.start = Some(self.offset());
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
