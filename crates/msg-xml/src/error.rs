//! Why something cannot be written. Reading never fails.

/// What cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that no tool has (XT-13), or that no result header holds (XT-45).
    #[error(
        "tool name {name:?} cannot be written: expected 1 to 128 letters, digits, '_', '.', '-', ':' or '/'"
    )]
    InvalidToolName {
        /// The name.
        name: String,
    },
    /// A server name that an element does not hold (XT-44).
    #[error(
        "server name {name:?} cannot be written: expected no markup, no line break and no blank at its ends"
    )]
    InvalidServerName {
        /// The name.
        name: String,
    },
    /// Arguments nested too deeply to be read back (XT-28).
    #[error("arguments are nested deeper than {max} levels")]
    DepthLimit {
        /// The levels that are read.
        max: usize,
    },
    /// A thought that neither brackets nor tags hold (XT-47).
    #[error("thinking cannot be written: its text would end it, or is blank")]
    InvalidThinking,
    /// A dialect's description that cannot be read.
    #[error("dialect {name:?} cannot be used: {reason}")]
    InvalidDialect {
        /// Its name.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// TOML that describes no dialect.
    #[error("no dialect at line {line}, column {column}: {reason}")]
    InvalidGrammar {
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// What is wrong.
        reason: String,
    },
}

impl Error {
    /// The code in `msg tools`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::InvalidToolName { .. } => "invalid_tool_name",
            Error::InvalidServerName { .. } => "invalid_server_name",
            Error::DepthLimit { .. } => "depth_limit",
            Error::InvalidThinking => "invalid_thinking",
            Error::InvalidDialect { .. } | Error::InvalidGrammar { .. } => "invalid_dialect",
        }
    }
}
