//! Fuzzes conversions: what of a document is not in another format is what the report names.
#![no_main]

#[path = "../../../crates/msg-document/tests/it/laws/meaning.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    laws::only_what_is_named_is_lost(bytes, None);
});
