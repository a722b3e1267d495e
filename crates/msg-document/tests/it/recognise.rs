//! `test_data/recognise*.jsonl`: a document, and the name of its file; expected is its format.

use serde::Deserialize;

#[derive(Deserialize)]
struct Document {
    file: String,
    text: String,
}

#[test]
fn documents_are_recognised() {
    for rows in [testkit::rows!("recognise.jsonl"), testkit::rows!("recognise_anthropic.jsonl")] {
        rows.check_lines(|row| recognised(&row.text));
    }
}

/// The format, or how the refusal begins: what is read is not told, for formats come.
fn recognised(row: &str) -> String {
    let it: Document = serde_json::from_str(row).expect("because a row is a document");
    match msg_document::Format::recognise(it.text.as_bytes(), &it.file) {
        Ok(format) => format.name().to_owned(),
        Err(it) => it.to_string().split("; msg reads").next().unwrap_or_default().to_owned(),
    }
}
