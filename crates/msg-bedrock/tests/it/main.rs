//! The tests of the crate: case files, laws over them, laws over random input, and damaged frames.
#![allow(clippy::unwrap_used)]

mod convert;
mod frames;
mod hostile;
mod laws;
mod random;
#[path = "../../../msg-codec/tests/it/random_json.rs"]
mod random_json;
mod requests;
mod stream;
#[path = "../../../msg-openai/tests/it/stream_cases.rs"]
mod stream_cases;
