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
