//! The Anthropic Messages wire format both ways: messages, requests, responses, and event streams
//! (AN-1 to AN-21). Bytes go straight into [`Message`]s and back into bytes; what the
//! model does not know survives, in order.
//!
//! Nothing here opens a socket, reads a clock or judges a conversation.
//!
//! ```text
//! {"messages":[{"role":"user","content":"hi"}]}   read ▶ messages ▶ write   the same, edits aside
//! event: content_block_delta …                    feed ▶ StreamEvent ▶ EventWriter   any stream as this one
//! ```
//!
//! ```
//! use msg_anthropic::{ReadOptions, WriteOptions, messages};
//!
//! let body = br#"{"model":"claude-x","max_tokens":99,"messages":[{"role":"user","content":"Hi"}]}"#;
//! let (document, report) = messages::read(body, &ReadOptions::new())?;
//! assert!(report.is_empty()); // nothing was mended or dropped
//!
//! let mut out = Vec::new();
//! document.write(&WriteOptions::new(), &mut out);
//! assert_eq!(out, body);
//! assert_eq!(document.into_messages()[0].text(), "Hi");
//! # Ok::<(), msg_anthropic::Error>(())
//! ```
//!
//! | step | take |
//! |---|---|
//! | request to bytes | [`MessagesRequest`], [`messages::write`] |
//! | bytes to request, response or list | [`messages::read`] |
//! | stream to message | [`StreamReader`] with [`ANTHROPIC`] |
//! | message or events to stream (a proxy) | [`write_events`], [`EventWriter`] |

use msg_core::{CodeInfo, codes};

pub use events::{EventWriter, write_events};
pub use messages::{
    CacheControl, LaterSystem, MessagesForm, MessagesRequest, MessagesResponse, SealedReasoning,
    WriteOptions,
};
pub use msg_codec::{
    Assembled, AssembledChoice, Assembler, Error, EventOptions, Layout, ProviderError, ReadOptions,
    SseDecoder, SseEvent, StreamFamily, StreamLimits, StreamOptions, StreamReader, StreamState,
};
pub use msg_core::request::{Function, RequestHead, ToolChoice};
pub use msg_core::{Message, Part, RawJson, Report, ToolCall};
pub use stream::{ANTHROPIC, AnthropicAssembler, MessageBlocks};

mod events;
mod head;
pub mod messages;
mod read;
mod stream;
mod write;

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The codes of what only this format does.
pub const CODES: &[CodeInfo] = codes! {
    error "convert::missing-max-tokens" "AN-21" "an Anthropic request needs `max_tokens`, and neither the source nor the options have it";
    warning "stream::unknown-delta" "OA-23" "a delta of a type that its block does not have";
    warning "stream::signature-missing" "OA-23" "a thinking block without its signature";
};
