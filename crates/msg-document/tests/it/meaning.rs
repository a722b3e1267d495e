//! Conversions are right by meaning: over the conversion cases of the wire formats, each document is written in
//! every other format and read again.

use serde::Deserialize;

use crate::laws::meaning::only_what_is_named_is_lost;

#[derive(Deserialize)]
struct Case {
    from: String,
    input_text: String,
}

/// Documents of the wire formats, in the cases of their crates.
fn rows() -> Vec<testkit::Rows> {
    let folder = env!("CARGO_MANIFEST_DIR");
    ["msg-anthropic/test_data/messages", "msg-gemini/test_data/contents"]
        .iter()
        .map(|it| testkit::Rows::open(format!("{folder}/../{it}/convert.jsonl")))
        .collect()
}

#[test]
fn only_what_is_named_is_lost_between_formats() {
    for rows in rows() {
        rows.check(|row| {
            let case: Case = serde_json::from_str(&row.text).expect("because a row is a case");
            let from = case.from.parse().expect("because it is a format");
            only_what_is_named_is_lost(case.input_text.as_bytes(), Some(from));
        });
    }
}
