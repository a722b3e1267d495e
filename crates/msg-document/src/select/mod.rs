//! Some of the messages of a document: those that a filter names, or the first or last that fit.
//!
//! ```text
//! message   0 user   1 assistant   2 tool        3 tool        4 user
//! unit      0        1 calls a, b  1 answers a   1 answers b   4
//! ```
//!
//! A call and its results are one unit (`units`): it stays or goes as a whole, so that what is left is never
//! refused for an unanswered call or a result without one. Nothing is summarised and no chain is
//! mended: for that there are `fit` and `repair`.

mod filter;
mod trim;

use msg_core::Role;
use serde::{Deserialize, Deserializer};

pub use filter::FilterOptions;
pub use trim::{Strategy, TrimOptions};

/// Roles by their words.
fn roles<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Role>, D::Error> {
    let words = Vec::<String>::deserialize(deserializer)?;
    Ok(words.iter().map(|it| Role::from(it.as_str())).collect())
}
