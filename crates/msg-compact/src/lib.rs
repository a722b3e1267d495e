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

mod budget;

mod pipeline;

pub mod policy;

mod state;

mod request;
mod text;

pub mod count;

mod token_index;

mod error;

pub use crate::budget::{Budget, CacheCost, Decision, Reserve, Unit};
pub use crate::count::{ErrorBar, MediaRates, TokenCounter};
pub use crate::engine::{Compactor, Refused, Step, Withheld, compact_with};
pub use crate::error::CODES;
pub use crate::error::{Error, SummaryError};
pub use crate::outcome::{CannotFit, CompactOutcome, Compaction, Edit, FloorPart, Unchanged};
pub use crate::outcome::{CompactionRecord, RecordInfo};
pub use crate::pipeline::{ForgeConfig, PentagiConfig, Preset, WoloConfig};
pub use crate::pipeline::{OnFailure, Pin, Pipeline, When};
pub use crate::plan::Plan;
pub use crate::policy::{Policy, Progress};
pub use crate::request::SummaryRequest;
pub use crate::state::{ChainState, Form, Merge, ToolOutput};
pub use crate::text::digest;
pub use crate::token_index::{Cost, TokenIndex, Totals};

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
