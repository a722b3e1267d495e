//! Anthropic Messages streams (OA-23): blocks in, one assistant message out.
//!
//! ```text
//! message_start                          id, model, usage
//! content_block_start  index 0           a block: text, tool_use, thinking, redacted_thinking, another
//! content_block_delta  index 0           one string grows: text, partial_json, thinking, signature
//! content_block_stop   index 0
//! message_delta                          stop_reason, usage
//! message_stop
//! ```

mod assembler;
mod blocks;
mod family;
mod notes;

pub use assembler::AnthropicAssembler;
pub use family::ANTHROPIC;
