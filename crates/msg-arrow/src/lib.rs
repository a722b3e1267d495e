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

use arrow_schema::DataType;
use msg_core::{CodeInfo, codes};

pub use kernels::{
    RowTotals, SummaryOptions, check, convert, fit, fit_apply, fit_requests, is_valid, join,
    judged_by, key, merge, messages, prefix_keys, recognise, repair, stats, stream, summary,
    tokens, tools, totals_of, with_key,
};
pub use output::Kernel;

pub use nested::to_text;
pub use rows::cache;

mod kernels;
mod nested;
mod output;
mod reports;
mod rows;

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Why a kernel cannot be called so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The column is of a type that holds no documents; known before a row is read.
    #[error("found a column of {found}{}, expected {expected}", of(place))]
    Type {
        /// The type that was found.
        found: DataType,
        /// The member of a nested column, such as `item.content`; empty for the column.
        place: String,
        /// What a column of documents is.
        expected: &'static str,
    },
    /// The answers do not fit into one array of their type: split the column before this row, or give it as large
    /// strings (SC-15).
    #[error(
        "the answers up to row {row} have more than 2 GiB of text: split the column, or give it as LargeUtf8"
    )]
    TooLarge {
        /// The first row that has no place.
        row: usize,
    },
    /// Two columns that belong together do not have the same length.
    #[error("found columns of {left} and {right} rows, expected as many")]
    Lengths {
        /// Rows of the first.
        left: usize,
        /// Rows of the second.
        right: usize,
    },
}

fn of(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" at {place}") }
}

/// The codes of columns.
pub const CODES: &[CodeInfo] = codes! {
    warning "document::padded-arguments" "SC-7" "null members of arguments in a nested column, left out";
};
