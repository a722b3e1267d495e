//! A chain of LLM messages as a tree of sections and body pairs: check it, mend it, edit it, give it the
//! shape that a provider accepts.
//!
//! It knows no wire format of a provider, executes nothing, and never changes what an edit does not
//! name. Messages are moved in and out and never copied; every operation is linear in what it reads.
//!
//! ```
//! use msg_chainast::{ChainAst, Message, Part, ChainRepairOptions, SeededIds, ToolCall};
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
//! let options = ChainRepairOptions::new();
//! let (chain, _) = ChainAst::repair(refused.into_messages(), &options, &mut SeededIds::new(1));
//! assert_eq!(chain.sections().len(), 2);
//! assert!(chain.sections()[0].body()[0].is_valid());
//! ```

mod tree;

mod check;

mod repair;

mod analyze;

mod conform;

mod pairing;

mod cut;

mod edit;

mod ids;

mod options;

mod profile;

pub mod reasoning;

mod arguments;

mod idx;

mod error;

pub mod constants;

pub mod testing;

pub use msg_core::{IdSource, Message, Part, SeededIds, ToolCall};

pub use crate::arguments::sanitize_json_control_chars;
pub use crate::check::{ParseError, check};
pub use crate::cut::CutPoint;
pub use crate::edit::{ChainChange, PairId, SectionId};
pub use crate::error::{CODES, Error};
pub use crate::ids::{IdChange, IdMap, IdPattern};
pub use crate::options::{
    BadArguments, ChainCheckOptions, ChainRepairOptions, First, Orphans, RequestThinking,
    UnknownRole,
};
pub use crate::profile::{
    Acceptance, ArgumentsRule, CharClass, LaterResults, Profile, ProviderRule, ReasoningBound,
    ReasoningKept, ReasoningRequired, ServerTools, SystemPlace, UserMessage,
};
pub use crate::repair::{MendedList, MendedPlaces, MessageOrigin, repair, repair_with_places};
pub use crate::tree::{
    BodyPair, BodyPairKind, CallRef, ChainAst, ChainSection, Header, Messages, ToolCallsInfo,
    TreeView,
};

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
