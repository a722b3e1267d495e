//! The types of the answers (SC-10). They are part of the interface: a member is added at the end, never renamed
//! or moved.
//!
//! ```text
//! DIAGNOSTIC  Struct{code, severity, message, at_message?, at_part?, section?, tool_call_id?, start?, end?, fix?}
//! CHECK       Struct{ok?, format?, messages?, diagnostics: List<DIAGNOSTIC>?, error: DIAGNOSTIC?}
//! REPAIR      Struct{document?, changed?, edits: List<DIAGNOSTIC>?, error: DIAGNOSTIC?}
//! CACHE       Struct{family?, provider?, relation?, level?, index?, shared_messages?, changes: List<CHANGE>?, notes?, …, error?}
//! CHANGE      Struct{code, level, how, index?, setting?, breaks?, names?}
//! ```
//!
//! Texts that are as large as documents are `LargeUtf8` where the column is one of large texts.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields};

use crate::error::Error;
use crate::nested;

/// A kernel, for hosts that plan: the type of its answers is known before a row is read.
///
/// ```
/// use arrow_schema::DataType;
/// use msg_arrow::Kernel;
///
/// assert_eq!(Kernel::IsValid.output(&DataType::Utf8)?, DataType::Boolean);
/// assert!(Kernel::Check.output(&DataType::Int64).is_err());
/// # Ok::<(), msg_arrow::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// [`is_valid`](crate::is_valid)
    IsValid,
    /// [`check`](crate::check)
    Check,
    /// [`repair`](crate::repair)
    Repair,
    /// [`convert`](crate::convert)
    Convert,
    /// [`stats`](crate::stats)
    Stats,
    /// [`tokens`](crate::tokens)
    Tokens,
    /// [`fit`](crate::fit)
    Fit,
    /// [`fit_requests`](crate::fit_requests)
    FitRequests,
    /// [`fit_apply`](crate::fit_apply)
    FitApply,
    /// [`messages`](crate::messages)
    Messages,
    /// [`key`](crate::key)
    Key,
    /// [`prefix_keys`](crate::prefix_keys)
    PrefixKeys,
    /// [`recognise`](crate::recognise)
    Recognise,
    /// [`tools`](crate::tools)
    Tools,
    /// [`stream`](crate::stream)
    Stream,
    /// [`join`](crate::join)
    Join,
    /// [`to_text`](crate::to_text)
    ToText,
    /// [`summary`](crate::summary)
    Summary,
    /// [`cache`](crate::cache)
    Cache,
}

impl Kernel {
    /// The type of the answers to a column of `input`.
    ///
    /// Fails for a column that holds no documents.
    pub fn output(self, input: &DataType) -> Result<DataType, Error> {
        let large = match self {
            Kernel::Tools | Kernel::Stream => nested::expect_text(input)?,
            _ => nested::expect_documents(input)?,
        };
        Ok(match self {
            Kernel::IsValid => DataType::Boolean,
            Kernel::Check => DataType::Struct(check()),
            Kernel::Repair | Kernel::Convert => DataType::Struct(repair(large)),
            Kernel::Stats => DataType::Struct(stats()),
            Kernel::Tokens => DataType::Int64,
            Kernel::Fit | Kernel::FitApply => DataType::Struct(fit(large)),
            Kernel::FitRequests => list(text(large)),
            Kernel::Messages => list(DataType::Struct(message(large))),
            Kernel::Key => KEY,
            Kernel::PrefixKeys => list(KEY),
            Kernel::Recognise => DataType::Utf8,
            Kernel::Tools => list(DataType::Struct(segment(large))),
            Kernel::Stream => DataType::Struct(stream(large)),
            Kernel::Join | Kernel::ToText => text(large),
            Kernel::Summary => DataType::Struct(summary()),
            Kernel::Cache => DataType::Struct(cache()),
        })
    }
}

/// Whether texts as large as documents need offsets of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Width {
    Small,
    Large,
}

/// The type of a key.
pub(crate) const KEY: DataType = DataType::FixedSizeBinary(16);

/// A text as large as a document.
pub(crate) fn text(width: Width) -> DataType {
    match width {
        Width::Small => DataType::Utf8,
        Width::Large => DataType::LargeUtf8,
    }
}

/// A list; its items are never null.
pub(crate) fn list(item: DataType) -> DataType {
    DataType::List(item_of(item))
}

/// The item of a list.
pub(crate) fn item_of(item: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", item, true))
}

fn always(name: &str, of: DataType) -> Field {
    Field::new(name, of, false)
}

fn maybe(name: &str, of: DataType) -> Field {
    Field::new(name, of, true)
}

fn diagnostics() -> DataType {
    list(DataType::Struct(diagnostic()))
}

fn error() -> Field {
    maybe("error", DataType::Struct(diagnostic()))
}

pub(crate) fn diagnostic() -> Fields {
    Fields::from(vec![
        always("code", DataType::Utf8),
        always("severity", DataType::Utf8),
        always("message", DataType::Utf8),
        maybe("at_message", DataType::Int32),
        maybe("at_part", DataType::Int32),
        maybe("section", DataType::Int32),
        maybe("tool_call_id", DataType::Utf8),
        maybe("start", DataType::Int64),
        maybe("end", DataType::Int64),
        maybe("fix", DataType::Utf8),
    ])
}

pub(crate) fn check() -> Fields {
    Fields::from(vec![
        maybe("ok", DataType::Boolean),
        maybe("format", DataType::Utf8),
        maybe("messages", DataType::Int32),
        maybe("diagnostics", diagnostics()),
        error(),
    ])
}

pub(crate) fn repair(width: Width) -> Fields {
    Fields::from(vec![
        maybe("document", text(width)),
        maybe("changed", DataType::Boolean),
        maybe("edits", diagnostics()),
        error(),
    ])
}

pub(crate) fn fit(width: Width) -> Fields {
    Fields::from(vec![
        maybe("status", DataType::Utf8),
        maybe("document", text(width)),
        maybe("tokens_before", DataType::Int64),
        maybe("tokens_after", DataType::Int64),
        maybe("messages_before", DataType::Int32),
        maybe("messages_after", DataType::Int32),
        maybe("edits", diagnostics()),
        maybe("floor", DataType::Int64),
        error(),
    ])
}

pub(crate) fn role() -> Fields {
    Fields::from(vec![
        always("role", DataType::Utf8),
        always("messages", DataType::Int32),
        always("bytes", DataType::Int64),
        always("tokens", DataType::Int64),
    ])
}

pub(crate) fn tool() -> Fields {
    Fields::from(vec![
        always("name", DataType::Utf8),
        always("calls", DataType::Int32),
        always("results", DataType::Int32),
        always("bytes", DataType::Int64),
        always("tokens", DataType::Int64),
    ])
}

pub(crate) fn stats() -> Fields {
    Fields::from(vec![
        maybe("counter", DataType::Utf8),
        maybe("messages", DataType::Int32),
        maybe("bytes", DataType::Int64),
        maybe("tokens", DataType::Int64),
        maybe("roles", list(DataType::Struct(role()))),
        maybe("tools", list(DataType::Struct(tool()))),
        error(),
    ])
}

pub(crate) fn call(width: Width) -> Fields {
    Fields::from(vec![
        always("id", DataType::Utf8),
        always("name", DataType::Utf8),
        always("arguments", text(width)),
    ])
}

pub(crate) fn message(width: Width) -> Fields {
    Fields::from(vec![
        always("index", DataType::Int32),
        always("role", DataType::Utf8),
        maybe("name", DataType::Utf8),
        always("text", text(width)),
        always("calls", list(DataType::Struct(call(width)))),
        always("result_ids", list(DataType::Utf8)),
        always("native", text(width)),
    ])
}

pub(crate) fn segment(width: Width) -> Fields {
    Fields::from(vec![
        always("kind", DataType::Utf8),
        maybe("text", text(width)),
        maybe("server_name", DataType::Utf8),
        maybe("tool_name", DataType::Utf8),
        maybe("arguments", text(width)),
        maybe("complete", DataType::Boolean),
    ])
}

pub(crate) fn stream(width: Width) -> Fields {
    Fields::from(vec![
        maybe("message", text(width)),
        maybe("finish_reason", DataType::Utf8),
        maybe("usage", DataType::Utf8),
        maybe("model", DataType::Utf8),
        maybe("id", DataType::Utf8),
        maybe("complete", DataType::Boolean),
        maybe("errors", diagnostics()),
        maybe("warnings", diagnostics()),
        error(),
    ])
}

/// What a request is to the one before it.
pub(crate) fn cache() -> Fields {
    Fields::from(vec![
        maybe("family", DataType::Utf8),
        maybe("provider", DataType::Utf8),
        maybe("relation", DataType::Utf8),
        maybe("level", DataType::Utf8),
        maybe("index", DataType::Int64),
        maybe("shared_messages", DataType::Int64),
        maybe("changes", list(DataType::Struct(cache_change()))),
        maybe("notes", list(DataType::Utf8)),
        maybe("estimate", DataType::Int64),
        maybe("shared_estimate", DataType::Int64),
        maybe("minimum", DataType::Int64),
        error(),
    ])
}

/// A member that changed.
pub(crate) fn cache_change() -> Fields {
    Fields::from(vec![
        always("code", DataType::Utf8),
        always("level", DataType::Utf8),
        always("how", DataType::Utf8),
        maybe("index", DataType::Int64),
        maybe("setting", DataType::Utf8),
        maybe("breaks", DataType::Utf8),
        maybe("names", list(DataType::Utf8)),
    ])
}

/// What some rows come to. Numbers are added, also those of `errors`, by their code.
pub(crate) fn summary() -> Fields {
    let entries = Arc::new(Field::new("entries", DataType::Struct(entries()), false));
    Fields::from(vec![
        always("rows", DataType::Int64),
        always("read", DataType::Int64),
        always("ok", DataType::Int64),
        always("errors", DataType::Map(entries, true)),
        always("messages", DataType::Int64),
        always("tokens", DataType::Int64),
        always("bytes", DataType::Int64),
        always("nulls", DataType::Int64),
        always("cost", DataType::Int64),
        always("unpriced", DataType::Int64),
    ])
}

/// A code, and how often it was found.
pub(crate) fn entries() -> Fields {
    Fields::from(vec![always("key", DataType::Utf8), always("value", DataType::Int64)])
}
