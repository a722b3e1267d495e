//! The head of a request (AN-21): what it asks besides its conversation, in words that providers share.
//!
//! ```text
//! {"tools":[{"functionDeclarations":[{"name":"f"}]}],"generationConfig":{"maxOutputTokens":9},
//!  "toolConfig":{"functionCallingConfig":{"mode":"ANY"}}}
//! head   tools [f], max_tokens 9, choice required
//! ```

pub(crate) mod hosted;
mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;

use msg_core::request::{RequestHead, ToolChoice};

/// The choice and its mode, where this family has a word for it.
pub(crate) fn said_choice(head: &RequestHead) -> Option<(&ToolChoice, &'static str)> {
    let choice = head.tool_choice.as_ref().filter(|it| it.functions().is_some())?;
    let mode = match choice {
        ToolChoice::Allowed { required: false, .. } => return None,
        ToolChoice::None => "none",
        ToolChoice::Auto => "auto",
        _ => "any",
    };
    Some((choice, mode))
}
