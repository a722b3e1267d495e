//! Fuzzes double entry: every text of a document, and of one that differs in its structure, is in what is written of it or
//! accounted for by the report.
#![no_main]

#[path = "../../../crates/msg-document/tests/it/laws/ledger.rs"]
mod ledger;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let seed =
        bytes.iter().fold(bytes.len() as u64, |seed, it| seed.wrapping_mul(31) + u64::from(*it));
    for text in std::iter::once(text.to_string()).chain(ledger::mutant(&text, seed)) {
        for to in ["openai", "responses", "anthropic", "gemini", "native"] {
            let format = to.parse().expect("because it is a format");
            let found = ledger::conversions_account_for_all(text.as_bytes(), None, format);
            found.unwrap_or_else(|it| panic!("{it}"));
        }
        let found = ledger::repairs_account_for_all(text.as_bytes(), None, Some("openai"));
        found.unwrap_or_else(|it| panic!("{it}"));
    }
});
