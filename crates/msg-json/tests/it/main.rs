//! The tests of `msg-json`: strings of every length and sources that are not well formed. Readers and writers
//! of whole documents are tested in the crates that have documents.

#![allow(clippy::unwrap_used)]

use msg_json::{RawJson, Reader, unescape, validate};

/// The reader finds the end of a string wherever it falls in a word, and reads what is in between.
#[test]
fn strings_of_all_lengths_are_read() {
    for len in 0..80 {
        for special in ["", "\n", "\"", "\\", "é", "\u{1}", "🦀"] {
            for at in [0, len / 2, len] {
                let text = format!("{}{special}{}", "x".repeat(at), "y".repeat(len - at));
                let json = RawJson::string(&text);
                let mut reader = Reader::new(json.text().as_bytes()).unwrap();
                assert_eq!(reader.string().unwrap().text, text);
                let cut = &json.text()[..json.text().len() - 1];
                assert!(validate(cut).is_err());
            }
        }
    }
}

/// A source that is not well formed gives some text.
#[test]
fn unescaping_never_panics() {
    for source in ["\\", "\\é", "\\u", "\\u12", "\\ud800\\", "\\ud800\\u", "a\\q", "\\ud800\\uéééé"]
    {
        unescape(source);
    }
}
