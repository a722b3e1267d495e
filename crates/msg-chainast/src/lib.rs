//! A chain of LLM messages as a tree of sections and body pairs: check it, mend it, edit it, give it the
//! shape that a provider accepts.
//!
//! It knows no wire format of a provider, executes nothing, and never changes what an edit does not
//! name. Messages are moved in and out and never copied; every operation is linear in what it reads.
//!
//! ```
//! use msg_chainast::{ChainAst, Message, Part, RepairOptions, SeededIds, ToolCall};
//!
//! let call = ToolCall::new("call_1", "get_weather", r#"{"city": "Oslo"}"#);
//! let history = vec![
//!     Message::user("Weather?"),
//!     Message::assistant("").with_part(Part::ToolCall(call)),
//!     Message::user("Are you there?"),
//!     Message::tool_result("call_1", "sunny"),
//! ];
//!
//! let refused = ChainAst::parse(history).unwrap_err();
//! assert_eq!(refused.diagnostics()[0].code, "chain::late-tool-result");
//!
//! let options = RepairOptions::new();
//! let (chain, _) = ChainAst::repair(refused.into_messages(), &options, &mut SeededIds::new(1));
//! assert_eq!(chain.sections().len(), 2);
//! assert!(chain.sections()[0].body()[0].is_valid());
//! ```

mod tree;

mod check;
mod pairing;
mod parse;
mod repair;

mod analyze;
mod by_id;
mod conform;
mod idx;
mod options;

mod cut;
mod edit;
mod error;
mod ids;
mod profile;
pub mod reasoning;
pub mod testing;

mod arguments;
mod codes;
pub mod constants;

pub use msg_core::{IdSource, Message, Part, SeededIds, ToolCall};

pub use arguments::sanitize_json_control_chars;
pub use check::check;
pub use codes::CODES;
pub use cut::CutPoint;
pub use edit::{Change, PairId, SectionId};
pub use error::Error;
pub use ids::{IdChange, IdMap, IdPattern};
pub use options::{
    BadArguments, CheckOptions, First, Orphans, RepairOptions, Thinking, UnknownRole,
};
pub use parse::ParseError;
pub use profile::{
    Acceptance, ArgumentsRule, CharClass, LaterResults, Profile, ProviderRule, ReasoningBound,
    ReasoningKept, ReasoningRequired, ServerTools, SystemPlace, UserMessage,
};
pub use repair::{MessageOrigin, repair};
pub use tree::{
    BodyPair, BodyPairKind, CallRef, ChainAst, Header, Messages, Section, ToolCallsInfo, TreeView,
};

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
