//! Fuzzes the laws of the relay: the input is what an upstream answers, between any two APIs.
#![no_main]

#[path = "../../../crates/msg-relay/tests/it/laws.rs"]
mod laws;
#[path = "../../../crates/msg-relay/tests/it/upstreams.rs"]
mod upstreams;

libfuzzer_sys::fuzz_target!(|body: &[u8]| laws::any_answer_is_translated_alike_in_pieces(body));
