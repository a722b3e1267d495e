//! Fuzzes the laws of chat and Responses documents.
#![no_main]

#[path = "../../../crates/msg-openai/tests/it/laws/wire.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    laws::chat_identity(bytes);
    laws::chat_canonical_fixpoint(bytes);
    laws::responses_identity(bytes);
    laws::responses_canonical_fixpoint(bytes);
    laws::converted_in_silence_comes_back(bytes);
});
