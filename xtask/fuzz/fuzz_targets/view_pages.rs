//! Fuzzes the laws of pages: the input is a text that is said wherever a conversation has room for one.
#![no_main]

#[path = "../../../crates/msg-view/tests/it/laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|text: &str| laws::no_text_is_markup(text));
