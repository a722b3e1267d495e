//! The tests of `msg-core`: cases in `test_data`, laws over them and over made-up input.

#![allow(clippy::unwrap_used)]

mod check;
mod convert;
mod forms;
mod lower;
mod unit;
