//! The tests of the crate: pairs and logs as rows, and laws over them.
#![allow(clippy::unwrap_used)]

mod laws;
mod rows;
