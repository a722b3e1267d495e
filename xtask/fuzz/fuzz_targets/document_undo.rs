//! Fuzzes plans that are undone: two bytes of budget, and a document.
#![no_main]

#[path = "../../../crates/msg-document/tests/it/laws/undo.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((budget, text)) = bytes.split_first_chunk::<2>() else { return };
    laws::undoing_gives_back_the_document(text, "", i64::from(u16::from_le_bytes(*budget)) + 1);
});
