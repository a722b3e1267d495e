//! The Gemini wire formats both ways: `generateContent` of AI Studio and Vertex (GE-1 to GE-21), and the
//! Interactions API (GI-1 to GI-28), each with its requests, responses and streams. Bytes go straight into [`Message`]s and back
//! into bytes; what the model does not know survives, in order.
//!
//! Nothing here opens a socket, reads a clock or judges a conversation.
//!
//! ```text
//! {"contents":[{"role":"user","parts":[{"text":"hi"}]}]}   read ▶ messages ▶ write   the same, edits aside
//! data: {"candidates":[{"content":{"parts":[…]}}]}         feed ▶ StreamEvent ▶ GeminiChunkWriter   any stream as this one
//! ```
//!
//! ```
//! use msg_gemini::{ReadOptions, WriteOptions, contents};
//!
//! let body = br#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}"#;
//! let (document, report) = contents::read(body, &ReadOptions::new())?;
//! assert!(report.is_empty()); // nothing was mended or dropped
//!
//! let mut out = Vec::new();
//! document.write(&WriteOptions::new(), &mut out);
//! assert_eq!(out, body);
//! assert_eq!(document.into_messages()[0].text(), "Hi");
//! # Ok::<(), msg_gemini::Error>(())
//! ```
//!
//! | step | take |
//! |---|---|
//! | request to bytes | [`GenerateRequest`], [`contents::write`] |
//! | bytes to request, response or list | [`contents::read`] |
//! | stream to message | [`StreamReader`] with [`GEMINI`] |
//! | message or events to stream (a proxy) | [`write_chunks`], [`GeminiChunkWriter`] |
//! | the same of the Interactions API | [`interactions`] |

use msg_core::{CodeInfo, codes};

pub use contents::{
    Flavor, Generate, GenerateRequest, GenerateResponse, Ids, LaterSystem, Thoughts, WriteOptions,
};
pub use events::{GeminiChunkWriter, write_chunks};
pub use msg_codec::{
    Assembled, AssembledChoice, Assembler, Error, EventOptions, Layout, ProviderError, ReadOptions,
    SseDecoder, SseEvent, StreamFamily, StreamLimits, StreamOptions, StreamReader, StreamState,
    link_ids,
};
pub use msg_core::request::{Function, RequestHead, ToolChoice};
pub use msg_core::{Message, Part, RawJson, Report, ToolCall};
pub use stream::{GEMINI, GeminiAssembler};

pub mod contents;
mod events;
mod head;
pub mod interactions;
mod read;
mod shape;
mod stream;
mod write;

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The codes of what only this format does.
pub const CODES: &[CodeInfo] = codes! {
    warning "stream::bad-path" "GE-17" "a fragment of an argument has an impossible path";
};
