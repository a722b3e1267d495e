//! The tests of the crate: case files, laws over them, and laws over random input.
#![allow(clippy::unwrap_used)]
#![allow(clippy::duplicate_mod, reason = "two formats run the suites that the wire crates share")]

mod convert;
mod events;
mod hostile;
mod interactions;
mod laws;
mod random;
#[path = "../../../msg-codec/tests/it/random_json.rs"]
mod random_json;
mod requests;
mod stream;
#[path = "../../../msg-openai/tests/it/stream_cases.rs"]
mod stream_cases;
