//! Fuzzes the layout of an edited document: the source, a zero byte, and what was written.
#![no_main]

#[path = "../../../crates/msg-document/tests/it/laws/layout.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let (source, written) = text.split_once('\0').unwrap_or((&text, "[]"));
    laws::layout_keeps_the_value(source, written);
    laws::layout_of_the_unedited(source);
});
