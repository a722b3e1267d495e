//! The tests of `msg-json`: strings of every length and sources that are not well formed. Readers and writers
//! of whole documents are tested in the crates that have documents.

#![allow(clippy::unwrap_used)]

#[allow(unreachable_pub, reason = "the fuzz target takes the file in as a module of its own")]
mod laws;

use msg_json::{RawJson, Reader, unescape, validate};
use proptest::collection::vec;
use testkit::random::{for_all, text};

/// Strings of made-up pieces are read back.
#[test]
fn strings_are_read_back() {
    for_all(256, vec(text(), 0..9), |it| laws::strings_are_read_back(&it.concat()));
}

/// Every character that may need an escape, and some that need none, in every place of a text that is written
/// in chunks.
#[test]
fn an_escape_may_stand_anywhere() {
    for character in ('\0'..='\u{a0}').chain(['é', '🦀']) {
        for at in 0..70 {
            let text = ["x".repeat(at), character.to_string(), "y".repeat(69 - at)].concat();
            laws::strings_are_read_back(&text);
            laws::strings_are_read_back(&text.replace('y', "\n\""));
        }
    }
}

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
