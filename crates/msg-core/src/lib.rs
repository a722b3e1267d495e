//! The vocabulary of LLM conversations: messages and their parts, tool calls and results, stream
//! events, diagnostics, sizes and ids.
//!
//! Everything that passes between the crates of this workspace is one of the types here. They are
//! plain values: this crate knows no wire format of a provider, no clock, no file and no network.
//!
//! ```
//! use msg_core::{Message, Part, ToolCall};
//!
//! let ask = Message::user("What is 6 × 7?");
//! let call = Message::assistant("")
//!     .with_part(Part::ToolCall(ToolCall::new("call_1", "multiply", r#"{"a":6,"b":7}"#)));
//! let answer = Message::tool_result("call_1", "42");
//!
//! assert_eq!(ask.text(), "What is 6 × 7?");
//! assert_eq!(call.tool_calls().next().map(|it| it.name.as_str()), Some("multiply"));
//! assert_eq!(answer.tool_results().next().and_then(|it| it.content.as_text()), Some("42"));
//! ```

mod message;

mod part;

mod extra;

mod event;
mod usage;

mod diagnostic;

mod ids;
mod order;
mod preview;

pub mod native;

pub mod reading;

pub mod request;

pub use msg_json::RawJson;

pub use crate::diagnostic::{Code, Diagnostic, Position, Severity, with_article};
pub use crate::event::StreamEvent;
pub use crate::extra::{Extra, Layouts, Members, Origin};
pub use crate::ids::{CountingIds, IdSource, SeededIds, UsedIds};
pub use crate::message::{
    IdError, InputError, InputRules, Message, Provenance, Role, check_all, check_id,
    validate_message,
};
pub use crate::order::{Rank, sort_by_rank};
pub use crate::part::{
    Arguments, ArgumentsError, Audio, CallKind, Content, File, Image, Other, PairSide, Pairing,
    Part, Place, Reasoning, Text, ToolCall, ToolResult,
};
pub use crate::preview::truncate;
pub use crate::usage::{FinishReason, Usage};
pub use diagnostic::{CODES, CodeInfo};
pub use extra::Maker;
pub use ids::rfc3339;
pub use reading::{Error, Report};

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
