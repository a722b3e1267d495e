//! Why this crate refused something. A list of messages that is not a chain has a type of its own,
//! [`ParseError`](crate::ParseError), since that gives the messages back.

use msg_core::Role;

use crate::ids::MAX_FIELD;

/// Why an edit, a pair, a pattern or a profile was refused; nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No call has the id.
    #[error("tool call with id `{id}` not found")]
    UnknownToolCall {
        /// The id.
        id: String,
    },
    /// No messages to make a body pair of.
    #[error("a body pair needs an assistant message")]
    EmptyPair,
    /// The first message of a body pair is not from an assistant.
    #[error("a body pair begins with an assistant message, found one from `{role}`")]
    NotAssistant {
        /// Whose it is.
        role: Role,
    },
    /// A later message of a body pair is not a tool message.
    #[error("message {index} of a body pair must be a tool message, found one from `{role}`")]
    NotTool {
        /// Its place in the list.
        index: usize,
        /// Whose it is.
        role: Role,
    },
    /// The text of an id pattern is empty.
    #[error("empty pattern")]
    EmptyPattern,
    /// A random field of an id pattern asks for more characters than 256.
    #[error("field longer than {MAX_FIELD} at byte {offset}")]
    LongField {
        /// Where the field begins, in bytes.
        offset: usize,
    },
    /// A text is not a character class.
    #[error("a character class is `any`, `none` or `[...]` of ASCII characters and ranges")]
    CharClass,
    /// A profile file is not TOML, or a field of it is unknown or holds something else. Lines and columns count from 1,
    /// columns in characters.
    #[error("line {line}, column {column}: {problem}")]
    ProfileFile {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
        /// What is wrong, and in which profile.
        problem: String,
    },
    /// A profile file has not exactly one profile.
    #[error("expected one profile, found {found}")]
    ProfileCount {
        /// How many there are.
        found: usize,
    },
}
