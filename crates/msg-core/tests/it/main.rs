//! The tests of `msg-core`: cases in `test_data`, laws over them and over made-up input.

#![allow(clippy::unwrap_used)]

mod check;
mod convert;
mod forms;
#[allow(unreachable_pub, reason = "the fuzz targets take the file in as a module of theirs")]
mod laws;
mod limits;
mod lower;
mod random;
mod schema;
mod unit;
