//! The tests of `msg-forms`: cases in `test_data`, laws over them and over made-up input. The native form of
//! `msg-core` is one of the forms here: what goes through another is compared with it.

#![allow(clippy::unwrap_used)]

mod forms;
#[allow(unreachable_pub, reason = "the fuzz targets take the file in as a module of theirs")]
mod laws;
mod limits;
mod random;
mod schema;
mod unit;
