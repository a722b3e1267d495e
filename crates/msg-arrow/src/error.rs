//! Why a call has no answer, and the diagnostic codes of this crate. What is wrong with a row is in its row.

use arrow_schema::DataType;
use msg_core::{CodeInfo, codes};

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
