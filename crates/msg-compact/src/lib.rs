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
mod cache_cost;

mod pipeline;
mod preset;

pub mod policy;

mod state;

mod request;
mod text;

pub mod count;

mod token_index;

mod codes;
mod error;

pub use crate::{
    budget::{Budget, Decision, Reserve, Unit},
    cache_cost::CacheCost,
    codes::CODES,
    count::{ErrorBar, MediaRates, TokenCounter},
    engine::{Compactor, Refused, Step, Withheld, compact_with},
    error::{Error, SummaryError},
    outcome::{CannotFit, Compaction, Edit, FloorPart, Outcome, Unchanged},
    pipeline::{OnFailure, Pin, Pipeline, When},
    plan::Plan,
    policy::{Policy, Progress},
    preset::{ForgeConfig, PentagiConfig, Preset, WoloConfig},
    record::{CompactionRecord, RecordInfo},
    request::SummaryRequest,
    state::{ChainState, Form, Merge, ToolOutput},
    text::digest,
    token_index::{Cost, TokenIndex, Totals},
};

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
