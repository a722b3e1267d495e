//! The Anthropic Messages wire format both ways: messages, requests, responses, and event streams
//! (AN-1 to AN-21). Bytes go straight into [`Message`](msg_core::Message)s and back into bytes; what the
//! model does not know survives, in order.
//!
//! Nothing here opens a socket, reads a clock or judges a conversation.
//!
//! ```text
//! {"messages":[{"role":"user","content":"hi"}]}   read ▶ messages ▶ write   the same, edits aside
//! event: content_block_delta …                    feed ▶ StreamEvent ▶ EventWriter   any stream as this one
//! ```

pub mod messages;

mod request;
mod response;

mod head;
mod read;
mod write;

mod events;
mod stream;

mod options;
mod shape;
mod thought;

mod codes;

pub use codes::CODES;
pub use events::{EventWriter, write_events};
pub use msg_codec::{Error, EventOptions, Layout, ReadOptions};
pub use options::{CacheControl, LaterSystem, SealedReasoning, WriteOptions};
pub use request::{MessagesForm, MessagesRequest};
pub use response::MessagesResponse;
pub use stream::{ANTHROPIC, AnthropicAssembler, MessageBlocks};

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
