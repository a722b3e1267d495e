//! Columns of documents in, columns of answers out: what `msg-document` says to one document, said to each row of an
//! Arrow array.
//!
//! The answer to a row depends on the row and the options alone. Null gives null; a row that cannot be read gives an
//! `error` in its row, and never fails the others. The crate has no logic of conversations, no threads, no files and
//! no engine: plans, shuffles and storage are the caller's. Types and rules are in `docs/scale.md` (SC-…).
//!
//! ```
//! use arrow_array::{Array, StringArray, cast::AsArray};
//! use msg_document::CheckOptions;
//!
//! let rows = StringArray::from(vec![Some(r#"[{"role":"user","content":"hi"}]"#), None, Some("[")]);
//! let checked = msg_arrow::check(&rows, &CheckOptions::default())?;
//! let ok = checked.column_by_name("ok").expect("because it is of that type").as_boolean();
//! assert!(ok.value(0) && checked.is_null(1) && ok.is_null(2));
//! # Ok::<(), msg_arrow::Error>(())
//! ```

mod kernels;
mod summary;

mod nested;

mod output;
mod reports;
mod rows;
mod types;

mod error;

pub use crate::error::CODES;
pub use crate::kernels::{fit, fit_apply, fit_requests};
pub use crate::nested::to_text;
pub use crate::rows::cache;
pub use error::Error;
pub use kernels::{
    check, convert, is_valid, join, key, messages, prefix_keys, recognise, repair, stats, stream,
    tokens, tools,
};
pub use summary::{RowTotals, SummaryOptions, judged_by, merge, summary, totals_of, with_key};
pub use types::Kernel;

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
