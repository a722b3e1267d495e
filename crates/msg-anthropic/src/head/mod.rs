//! The head of a request (AN-21): what it asks besides its conversation, in words that providers share.
//!
//! ```text
//! {"tools":[{"name":"f","input_schema":{}}],"tool_choice":{"type":"any","disable_parallel_tool_use":true},
//!  "max_tokens":9,"thinking":{"type":"enabled","budget_tokens":1024}}
//! head   tools [f], choice required, parallel no, max_tokens 9, reasoning budget 1024
//! ```

mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;
