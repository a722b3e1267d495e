//! The head of a request (AN-21): what it asks besides its conversation, in words that providers share.
//!
//! ```text
//! chat       {"tools":[{"type":"function","function":{"name":"f"}}],"max_completion_tokens":9,"stop":"x"}
//! head       tools [f], max_tokens 9, stop ["x"]
//! responses  {"tools":[{"type":"function","name":"f"}],"max_output_tokens":9}     and `stop` reported
//! ```

mod read;
mod tools;
mod write;

pub(crate) use self::read::read;
pub(crate) use self::tools::{write_choice, write_functions};
pub(crate) use self::write::write;

/// The two ways in which OpenAI spells a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    Chat,
    Responses,
}

impl Spelling {
    /// What documents of it are called in a report.
    fn target(self) -> &'static str {
        match self {
            Spelling::Chat => "chat requests",
            Spelling::Responses => "responses requests",
        }
    }
}
