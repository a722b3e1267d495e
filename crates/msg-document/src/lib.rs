//! Checks, repairs, converts, counts and compacts a conversation in any format, given as bytes.
//!
//! These are the answers of the `msg` program, as a library: the same values, and with `to_json` the
//! same lines. It opens no file, reads no clock, starts no thread and calls no model.
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
//! | you want | use |
//! |---|---|
//! | the problems of a document, also by a provider's rules | [`check`]; [`is_valid`] for a filter |
//! | the repaired document, in its own layout | [`repair`] |
//! | another format, with the losses | [`convert`] |
//! | a history that fits a budget | [`fit()`]; for many documents a [`Fitter`] |
//! | bytes and tokens by role, section and tool | [`stats()`], [`tokens`] |
//! | duplicates, the longest of growing logs | [`key()`], [`prefix_keys`] |
//! | one row per message, or a transcript | [`messages()`], [`transcript`] |
//! | calls in model text, captured streams | [`tools()`], [`stream()`] |
//! | to read a document once and call several functions | [`Document`] |
//! | only the format | [`Format::recognise`] |
//!
//! All functions are linear in the document. A document that cannot be read is a [`Refusal`] with a code and a place.

// The functions of the crate, one module each.
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

// The input: a document, its skeleton, the conversations of a row.
mod document;
mod rows;
mod skeleton;

// The rules of the provider's API for shapes, settings and schemas.
mod api_shapes;
mod schemas;
mod settings;
mod shapes;

// Keeping the source: edits in place, messages that a chain cannot hold, and the places of findings.
mod head_edits;
mod lead;
mod places;

// Options and answers as JSON.
mod json;
mod options;

use msg_core::{CodeInfo, codes};

pub use check::{Checked, Repaired, check, is_valid};
pub use convert::{Carry, ConvertOptions, Converted, convert};
pub use document::Document;
pub use fit::{
    CountOptions, Counter, Digest, FitAnswer, FitCut, FitLimit, FitOptions, FitTarget, Fitted,
    Fitter, Goal, Reached, ReportedUsage, StatsOptions, Summarizer, fit, without_options,
};
pub use json::{ObjectWriter, repair_json, to_json};
pub use key::{Key, KeyOptions, key, prefix_keys};
pub use messages::{CallRow, MessageRow, TranscriptForm, TranscriptOptions, messages, transcript};
pub use msg_chainast::{ChainCheckOptions, ChainRepairOptions, Profile};
pub use msg_compact::MediaRates;
pub use msg_formats::layout::pretty;
pub use msg_formats::{
    Accept, CallForms, FieldPath, Format, JoinedPaths, ReadOptions, Refusal, RowFields,
    WriteOptions, binary_refusal, losses_as_errors, options_from_json,
};
pub use options::{CheckOptions, RepairOptions};
pub use repair::repair;
pub use rows::{Row, answer_row, join};
pub use select::{FilterOptions, Strategy, TrimOptions};
pub use skeleton::{Cursor, MendedMessage, Skeleton};
pub use stats::{MadeOf, MediaTotals, PartTotals, SectionTotals, Stats, ToolTotals, stats, tokens};
pub use stream::{CaptureOptions, Provider, StreamForm, StreamRow, StreamRun, Streamed, stream};
pub use tools::{SegmentCall, Segmented, TextSegment, ToolsOptions, tools};

/// The diagnostic codes of documents as a whole.
pub const CODES: &[CodeInfo] = codes! {
    error "document::panic" "SC-12" "a defect in `msg` that affected one document";
    info "cache::breakpoint-moved" "CL-63" "the cache breakpoint of a dropped part, moved to the part before";
    warning "message::unread-content" "RG-13" "content of a message or a result in a member that its format does not have";
    warning "message::unknown-part" "RG-11" "a part of an unknown kind, beside others that are read";
    error "message::not-understood" "RG-11" "a message with content of which nothing is understood";
    error "profile::shape" "MS-2" "a value or role in a form that `msg` understands and the API refuses";
    warning "convert::media-place" "PM-82" "media where the API of the target refuses them";
    error "profile::missing-member" "CA-72" "a member that the API requires is missing";
    error "profile::setting" "RQ-47" "a setting that the API refuses: out of range, with another setting, or for this model";
    error "profile::unknown-kind" "CA-72" "a part of a type that the API does not have";
    error "profile::other-format" "MS-2" "a request in the format of another API";
    error "document::no-conversation" "RW-2" "a row has no conversation where one is expected";
};

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
