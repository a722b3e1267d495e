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
//!
//! | you want | take |
//! |---|---|
//! | findings of any document, as a provider sees it | [`check`], or [`is_valid`] for a filter |
//! | the document mended, in its own layout | [`repair`] |
//! | another format, with what was lost | [`convert`] |
//! | a history that fits a budget | [`fit()`]; for many documents a [`Fitter`] |
//! | bytes and tokens by role, section and tool | [`stats()`], [`tokens`] |
//! | duplicates, the longest of growing logs | [`key()`], [`prefix_keys`] |
//! | a row a message, or a transcript | [`messages()`], [`transcript`] |
//! | calls in model text, captured streams | [`tools()`], [`stream()`] |
//! | a document that is read once and asked several things | [`Document`] |
//! | only the format | [`Format::recognise`] |

// The questions: one module for each answer.
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

// Formats: told apart, read, written, refused.
mod codec;
mod document;
mod foreign;
mod format;
mod formats;
mod outline;
mod recognise;
mod refusal;
mod rows;
mod skeleton;
mod text_calls;
mod writing;

// What the API of a profile refuses beside the messages, in shapes, settings and schemas.
mod api_shapes;
mod schemas;
mod settings;
mod shapes;

// What was written stays: edits in place, and the account of every value.
mod head_edits;
mod layout;
mod lead;
mod ledger;
mod places;
mod verbatim;

// Options and answers as JSON, and the members of a row.
mod fields;
mod json;
mod options;

pub use check::{Checked, Repaired, check, is_valid};
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
pub use messages::{CallRow, MessageRow, TranscriptForm, TranscriptOptions, messages, transcript};
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
