//! The tests of the crate: case files, laws over them, and laws over random input.
#![allow(clippy::unwrap_used)]

mod conversions;
mod convert;
mod events;
mod hostile;
mod laws;
mod random;
#[path = "../../../msg-codec/tests/it/random_json.rs"]
mod random_json;
mod stream;
mod stream_cases;
mod unit;
