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

use msg_core::request::{RequestHead, Tool, ToolChoice};

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

/// What a declaration has no place for.
pub(crate) fn unsaid(tool: &Tool) -> Vec<&'static str> {
    let Some(tool) = tool.function() else { return vec!["type"] };
    let strict = tool.strict.map(|_| "strict");
    strict.into_iter().chain(tool.defer_loading.map(|_| "defer_loading")).collect()
}
