//! Fuzzes conversions: what of a document is not in another format is what the report names, and what a provider sealed
//! is in no other provider's format or stream.
#![no_main]

#[path = "../../../crates/msg-document/tests/it/laws/meaning.rs"]
mod meaning;
#[path = "../../../crates/msg-document/tests/it/laws/signatures.rs"]
mod signatures;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    meaning::only_what_is_named_is_lost(bytes, None);
    for from in ["openai", "responses", "anthropic", "gemini"] {
        let format = from.parse().expect("because it is a format");
        signatures::seals_stay_in_their_format(bytes, format);
        let provider = from.parse().expect("because it is a provider");
        signatures::seals_stay_in_their_stream(bytes, provider);
    }
});
