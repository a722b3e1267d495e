//! Measures our code next to its peers: rows as data, one runner for all of them.
//!
//! ```text
//! rows/    what is done, and the goal    ─▶ benches/rows.rs   timed by criterion ─▶ measure   answers compared ─▶ report, svg
//!          (contest: one input for all)  ─▶ count             our own part under callgrind, with a budget a row
//! ```
//!
//! The peers are compiled with the feature `peers` only and bring `preserve_order` and `float_roundtrip` of serde_json
//! into the build, which the workspace does not ask for. Nothing here is a test and nothing asserts a time.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "benches read the clock, start programs and print tables"
)]

pub mod chains;
pub mod corpus;
pub mod mutations;

pub mod clock;
pub mod contest;
pub mod count;
pub mod data;
pub mod machine;
pub mod meaning;
pub mod measure;
pub mod report;
pub mod row;
pub mod rows;
pub mod script;
pub mod svg;
