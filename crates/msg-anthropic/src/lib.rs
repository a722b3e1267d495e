//! The Anthropic Messages wire format: its event streams into messages (OA-23).
//!
//! Nothing here opens a socket, reads a clock or judges a conversation.

mod stream;

mod codes;

pub use codes::CODES;
pub use stream::{ANTHROPIC, AnthropicAssembler};
