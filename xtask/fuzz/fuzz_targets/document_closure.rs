//! Fuzzes closure: a conversion makes no conversation worse, and with a profile it says each error that is left.
#![no_main]

#[path = "../../../crates/msg-document/tests/it/laws/closure.rs"]
mod closure;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let from = "openai".parse().expect("because it is a format");
    for to in ["responses", "anthropic", "gemini"] {
        let to = to.parse().expect("because it is a format");
        let found = closure::conversions_make_nothing_worse(bytes, from, to);
        found.unwrap_or_else(|it| panic!("{it}"));
        let found = closure::conversions_for_a_provider_are_mended(bytes, from, to);
        found.unwrap_or_else(|it| panic!("{it}"));
    }
});
