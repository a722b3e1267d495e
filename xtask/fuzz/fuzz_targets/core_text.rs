//! Fuzzes cuts and previews, and turns that are built of events, one a line.
#![no_main]

#[path = "../../../crates/msg-json/tests/it/laws.rs"]
mod json;
#[path = "../../../crates/msg-forms/tests/it/laws.rs"]
#[allow(dead_code, reason = "the other target has the other laws")]
mod laws;
#[path = "../../../crates/msg-core/tests/it/laws.rs"]
mod texts;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&max_chars, rest)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    json::strings_are_read_back(&text);
    json::mended_is_an_object(&text);
    texts::cuts_are_clean(&text, usize::from(max_chars));
    let events: Vec<_> = text.lines().filter_map(|it| serde_json::from_str(it).ok()).collect();
    laws::a_partial_turn_is_whole(&events);
});
