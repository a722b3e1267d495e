//! One document in, one answer out: says what format a conversation is in, checks it, repairs it,
//! converts it, counts it and makes it fit a budget.
//!
//! This is what the `msg` program answers with, as a library: the same values, and with
//! `to_json` the same lines. It opens no file, reads no clock, starts no thread and calls no model.
//!
//! ```
//! use msg_document::{CheckOptions, check};
//!
//! let json = br#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]"#;
//! let checked = check(json, &CheckOptions::default())?;
//! assert!(checked.ok && checked.format.name() == "openai");
//! # Ok::<(), msg_document::Refusal>(())
//! ```

mod document;
mod format;
mod writing;

mod api_shapes;
mod check;
mod convert;
mod fit;
mod key;
mod messages;
mod repair;
mod select;
mod stats;
mod stream;
mod tools;

mod options;
mod recognise;

mod foreign;
mod formats;

mod codec;
mod outline;
mod places;
mod skeleton;
mod verbatim;

mod fields;
mod head_edits;
mod json;
mod layout;
mod lead;
mod ledger;
mod refusal;
mod rows;
mod schemas;
mod settings;
mod shapes;
mod text_calls;

pub use crate::check::{Checked, Repaired};
pub use crate::messages::{TranscriptForm, TranscriptOptions, transcript};
pub use check::{check, is_valid};
pub use codec::WriteOptions;
pub use convert::{Carry, ConvertOptions, Converted, convert};
pub use document::Document;
pub use fields::{FieldPath, JoinedPaths, RowFields};
pub use fit::{
    CountOptions, Counter, Digest, FitAnswer, FitCut, FitLimit, FitOptions, FitTarget, Fitted,
    Fitter, Goal, Reached, ReportedUsage, StatsOptions, Summarizer, fit,
};
pub use foreign::binary_refusal;
pub use format::Format;
pub use json::{ObjectWriter, repair_json, to_json};
pub use key::{Key, KeyOptions, key, prefix_keys};
pub use layout::pretty;
pub use ledger::losses_as_errors;
pub use messages::{CallRow, MessageRow, messages};
pub use msg_compact::MediaRates;
pub use options::{Accept, CheckOptions, ReadOptions, RepairOptions, options_from_json};
pub use refusal::{CODES, Refusal};
pub use repair::repair;
pub use rows::{Row, answer_row, join};
pub use select::{FilterOptions, Strategy, TrimOptions};
pub use skeleton::{Cursor, MendedMessage, Skeleton};
pub use stats::{MadeOf, MediaTotals, PartTotals, SectionTotals, Stats, ToolTotals, stats, tokens};
pub use stream::{CaptureOptions, Provider, StreamForm, StreamRow, StreamRun, Streamed, stream};
pub use text_calls::CallForms;
pub use tools::{SegmentCall, Segmented, TextSegment, ToolsOptions, tools};

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
