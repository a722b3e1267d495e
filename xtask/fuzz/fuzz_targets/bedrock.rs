//! Fuzzes the laws of Converse documents.
#![no_main]

#[path = "../../../crates/msg-bedrock/tests/it/laws/converse.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    laws::identity(bytes);
    laws::canonical_is_a_fixpoint(bytes);
    laws::seals_survive(bytes);
    laws::options_write_documents(bytes);
    if let Ok((messages, _)) = msg_core::native::read(bytes) {
        laws::sent_in_silence_comes_back(&messages);
    }
});
