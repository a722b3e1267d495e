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
mod role;

mod part;

mod arguments;
mod content;
mod extra;
mod members;

mod event;
mod finish;
mod usage;

mod code;
mod codes;
mod diagnostic;
mod error;
mod report;

mod check;
mod check_id;
mod ids;
mod input;
mod preview;
mod provenance;
mod size;
mod truncate;

pub mod native;
pub mod reading;
pub mod request;

mod layouts;

pub use arguments::{Arguments, ArgumentsError};
pub use check::check_all;
pub use check_id::{IdError, check_id};
pub use code::{Code, Severity};
pub use codes::{CODES, CodeInfo};
pub use content::Content;
pub use diagnostic::{Diagnostic, Position, with_article};
pub use error::Error;
pub use event::StreamEvent;
pub use extra::{Extra, Origin};
pub use finish::FinishReason;
pub use ids::{CountingIds, IdSource, SeededIds, UsedIds};
pub use input::{InputError, InputRules, validate_message};
pub use layouts::Layouts;
pub use members::Members;
pub use message::Message;
pub use msg_json::RawJson;
pub use part::{
    Audio, CallKind, File, Image, Other, PairSide, Pairing, Part, Place, Reasoning, Text, ToolCall,
    ToolResult,
};
pub use provenance::Provenance;
pub use report::Report;
pub use role::Role;
pub use truncate::truncate;
pub use usage::Usage;

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
