//! Turns to messages (OA-6 … OA-12): what a model is sent of a stored conversation.
//!
//! A pure function of turns and options: the same turns give the same messages, earlier messages
//! never change when turns are appended (prompt caches), and no turn is changed.
//!
//! ```text
//! turn of the assistant: text, tool (finished)   ─▶   assistant: text, call
//!                                                     tool: result
//! ```

mod cache;
mod emit;
mod ids;
mod media;
mod options;
mod prompt;
mod tool;

use crate::Turn;
use msg_core::{Diagnostic, Message};

pub use cache::LowerCache;
pub use options::{
    ArgumentSpelling, EmptyOutput, FailedTools, InvalidArguments, LowerOptions, LowerRules,
    ReasoningPolicy, SystemRole,
};

/// Messages for a model, and what was left out or changed on the way.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lowered {
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// What was left out or changed: `turn::` diagnostics, `at.message` is the index of the turn.
    pub report: Vec<Diagnostic>,
}

/// Makes messages of turns (OA-6). Linear.
///
/// ```
/// use msg_core::Message;
/// use msg_forms::{Turn, TurnPart, turns::{LowerOptions, lower}};
/// let mut turn = Turn::new("m1", "user");
/// turn.parts.push(TurnPart::text("t1", "Hello"));
/// let options = LowerOptions::strict().with_system_prompt("You are Wolo.").with_agent_name("Ada");
/// let lowered = lower(&[turn], &options);
/// assert_eq!(lowered.messages, [Message::system("You are Ada."), Message::user("Hello")]);
/// assert!(lowered.report.is_empty());
/// ```
#[doc(alias = "to_llm_messages")]
pub fn lower(turns: &[Turn], options: &LowerOptions) -> Lowered {
    let mut cache = LowerCache::new(options.clone());
    cache.lower(turns, 0);
    cache.into_lowered()
}
