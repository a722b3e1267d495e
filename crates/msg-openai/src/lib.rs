//! OpenAI wire formats both ways: chat messages, Responses items, requests and responses.
//!
//! Bytes go straight into [`Message`](msg_core::Message)s and back into bytes; what the model does
//! not know survives, in order. Nothing here opens a socket, reads a clock or judges a conversation.

mod body;
mod wire;

pub mod chat;

mod options;

mod error;

pub use chat::{ChatMessages, ChatRequest, ChatResponse, Tool, ToolChoice};
pub use error::Error;
pub use options::{
    EmptyContent, EncodeOptions, ItemIds, Layout, ReadOptions, ReasoningField, ReasoningPolicy,
    TextParts,
};
