//! Fuzzes the laws of `testkit::split` and `testkit::diff`.
#![no_main]

#[path = "../../../crates/testkit/tests/it/laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    laws::cuts_lose_nothing(&bytes[..bytes.len().min(64)]);
    let text = String::from_utf8_lossy(bytes);
    laws::a_diff_holds_both_texts(&text);
});
