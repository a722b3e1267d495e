//! The answer to a line whose value is only ever printed.

/// The answer to a line of `--jsonl`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineAnswer {
    /// The answer as JSON, without the end of its line.
    pub json: Vec<u8>,
    /// No error was found.
    pub is_clean: bool,
}
