//! Fuzzes the laws of comparing requests.
#![no_main]

#[path = "../../../crates/msg-cache/tests/it/laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    laws::same_as_itself(bytes);
    laws::growth_is_never_a_change(bytes);
    laws::a_change_is_found_at_its_place(bytes);
    laws::what_repeats_is_as_if_it_was_read(bytes);
    // Two requests in lines of a log.
    let at = bytes.iter().position(|it| *it == b'\n').unwrap_or(bytes.len());
    laws::a_log_agrees_with_its_pairs(&bytes[..at], bytes.get(at + 1..).unwrap_or_default());
});
