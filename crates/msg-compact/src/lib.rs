//! Token counts, budgets and compaction of LLM conversations: makes a history fit a context window,
//! or says why it cannot.
//!
//! A [`Compactor`] runs the stages of a [`Pipeline`] over a chain until it fits a [`Budget`]. It is
//! deterministic, never separates a tool call from its result, calls no model and does no I/O:
//! summaries are asked for, and answered by the caller, on whatever runtime it has. What comes out is
//! a [`Plan`] that can be stored, applied to a history that has grown, and undone.
//!
//! ```text
//! messages ─▶ state ─ policy by policy ─▶ requests ─▶ answers ─▶ outcome ─▶ Plan: edits with fingerprints
//!               token_index: what each costs
//! ```

mod engine;
mod outcome;
mod plan;
mod record;

mod budget;
mod pipeline;
mod preset;

pub mod policy;

mod state;

mod request;

mod digest;

pub mod count;

mod text;
mod token_index;
mod totals;

mod codes;
mod error;

pub use budget::{Budget, Decision, Reserve, Unit};
pub use codes::CODES;
pub use count::counter::{ErrorBar, TokenCounter};
pub use digest::digest;
pub use engine::{Compactor, Refused, Step, compact_with};
pub use error::{Error, SummaryError};
pub use outcome::{CannotFit, Compaction, Edit, FloorPart, Outcome, Unchanged};
pub use pipeline::{OnFailure, Pin, Pipeline, When};
pub use plan::Plan;
pub use policy::contract::{Policy, Progress};
pub use preset::{ForgeConfig, PentagiConfig, Preset, WoloConfig};
pub use record::{CompactionRecord, RecordInfo};
pub use request::SummaryRequest;
pub use state::{ChainState, Form, Merge, ToolOutput};
pub use token_index::{Cost, TokenIndex};
pub use totals::Totals;

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
