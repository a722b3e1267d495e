//! Why a session cannot be read or written at all.

use crate::Dialect;

/// Why a session cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No dialect has this name.
    #[error("no session dialect is called {0:?}")]
    NoDialect(String),
    /// The input of a line is not base64.
    #[error("input_b64 is not base64")]
    BadBase64,
    /// Nothing in the input says which agent wrote it.
    #[error("not a session of a known dialect; name the dialect if you know it")]
    UnknownDialect,
    /// The input is known, and not read by itself.
    #[error("this is {what}")]
    NotRead {
        /// What it is, and what can be given in its place.
        what: &'static str,
    },
    /// No record of the named dialect is in the input.
    #[error("not a session of {dialect}{}", seen_as(.looks_like))]
    WrongDialect {
        /// The dialect that was named.
        dialect: Dialect,
        /// The dialect that the input looks like.
        looks_like: Option<Dialect>,
    },
    /// An element of a list of messages is none.
    #[error("element {element} of the list is not a message of {dialect}")]
    NotAMessage {
        /// The dialect that was named or recognised.
        dialect: Dialect,
        /// Its number, from 0.
        element: usize,
    },
    /// Nothing of the session is sent.
    #[error("nothing of this session of {dialect} is sent: no message of it could be read")]
    EmptyView {
        /// The dialect of the session.
        dialect: Dialect,
    },
    /// The dialect has no writer.
    #[error("sessions of {dialect} are read and not written")]
    NoWriter {
        /// The dialect that was named.
        dialect: Dialect,
    },
    /// The dialect has no record that compacts a session.
    #[error(
        "sessions of {dialect} have no record that compacts them; write the result to another file"
    )]
    NotCompacted {
        /// The dialect of the session.
        dialect: Dialect,
    },
    /// The compacted session would not say the messages that it should.
    #[error("the session has no form for what is left of it; write the result to another file")]
    CompactedOtherwise,
    /// A document that is one JSON value cannot be read.
    #[error("the document is not readable as {dialect} at byte {offset}: {reason}")]
    Unreadable {
        /// The dialect that was named or recognised.
        dialect: Dialect,
        /// Where, in bytes.
        offset: usize,
        /// What is wrong there.
        reason: String,
    },
    /// The bytes of the session cannot be read, or not written.
    #[error("byte {offset} of the session cannot be read: {reason}")]
    Source {
        /// Where, in bytes.
        offset: u64,
        /// Why.
        reason: String,
    },
    /// The mended session cannot be written.
    #[error("the mended session cannot be written: {0}")]
    Written(String),
    /// The session is not one of JSON lines, which alone are read piece by piece.
    #[error("a session of {dialect} is not a file of JSON lines; read it as a whole")]
    NotLines {
        /// The dialect of the session.
        dialect: Dialect,
    },
    /// A data set holds several conversations, and none was named.
    #[error(
        "it holds {count} conversations: read it line by line, or name the number of one as leaf"
    )]
    Several {
        /// How many.
        count: usize,
    },
    /// No record has the id of the leaf that was asked for.
    #[error("no record has the id {0:?}, along which the session should be read")]
    NoLeaf(String),
}

impl Error {
    /// The stable name of the error, as diagnostics have one.
    pub fn code(&self) -> &'static str {
        match self {
            Error::NoLeaf(_) => "session::no-leaf",
            Error::Several { .. } => "session::several",
            Error::NotCompacted { .. } | Error::CompactedOtherwise => "session::not-compacted",
            Error::NoWriter { .. } => "session::no-writer",
            Error::EmptyView { .. } => "session::empty-view",
            Error::BadBase64 => "session::bad-base64",
            Error::Unreadable { .. } | Error::Source { .. } => "session::not-readable",
            Error::Written(_) => "session::not-written",
            Error::NotLines { .. } => "session::not-lines",
            _ => "session::unknown-dialect",
        }
    }
}

impl Error {
    pub(crate) fn source(offset: u64, error: &std::io::Error) -> Self {
        Error::Source { offset, reason: error.to_string() }
    }

    pub(crate) fn shorter(offset: u64) -> Self {
        Error::Source { offset, reason: "it ends earlier than before".to_owned() }
    }

    pub(crate) fn written(error: &std::io::Error) -> Self {
        Error::Written(error.to_string())
    }
}

fn seen_as(dialect: &Option<Dialect>) -> String {
    dialect.map(|it| format!("; it looks like {it}")).unwrap_or_default()
}
