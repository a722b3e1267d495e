//! Conversions are right by meaning, and no seal crosses: over the conversion cases of the wire formats, each document
//! is written in every other format and read again; captured streams likewise.

use serde::Deserialize;

use crate::laws::meaning::only_what_is_named_is_lost;
use crate::laws::signatures::{seals_stay_in_their_format, seals_stay_in_their_stream};

#[derive(Deserialize)]
struct Case {
    from: String,
    input_text: String,
}

/// Documents of the wire formats, in the cases of their crates.
fn rows() -> Vec<testkit::Rows> {
    let folder = env!("CARGO_MANIFEST_DIR");
    // The last ones were found by fuzzing.
    let files = [
        "msg-anthropic/test_data/messages/convert.jsonl",
        "msg-gemini/test_data/contents/convert.jsonl",
        "msg-document/test_data/meaning.jsonl",
    ];
    files.iter().map(|it| testkit::Rows::open(format!("{folder}/../{it}"))).collect()
}

#[test]
fn only_what_is_named_is_lost_between_formats() {
    for rows in rows() {
        rows.check(|row| {
            let case: Case = serde_json::from_str(&row.text).expect("because a row is a case");
            let from = case.from.parse().expect("because it is a format");
            only_what_is_named_is_lost(case.input_text.as_bytes(), Some(from));
            if case.from != "native" {
                seals_stay_in_their_format(case.input_text.as_bytes(), from);
            }
        });
    }
}

#[derive(Deserialize)]
struct Captured {
    provider: String,
    #[serde(default)]
    sse: String,
}

#[test]
fn seals_stay_in_the_streams_of_their_provider() {
    let folder = env!("CARGO_MANIFEST_DIR");
    for krate in ["msg-anthropic", "msg-gemini", "msg-openai"] {
        let rows = testkit::Rows::open(format!("{folder}/../{krate}/test_data/stream/cases.jsonl"));
        rows.check(|row| {
            let case: Captured = serde_json::from_str(&row.text).expect("because a row is a case");
            if let Ok(provider) = case.provider.parse() {
                seals_stay_in_their_stream(case.sse.as_bytes(), provider);
            }
        });
    }
}
