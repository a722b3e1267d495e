//! `test_data/recognise.jsonl`: a document, and the name of its file; expected is its format.

use serde::Deserialize;

#[derive(Deserialize)]
struct Document {
    file: String,
    text: String,
}

#[test]
fn documents_are_recognised() {
    testkit::rows!("recognise.jsonl").check_lines(|row| {
        let it: Document = serde_json::from_str(&row.text).expect("because a row is a document");
        match msg_document::recognise(it.text.as_bytes(), &it.file) {
            Ok(format) => format.name().to_owned(),
            // What is read is not told: formats come.
            Err(it) => it.to_string().split("; msg reads").next().unwrap_or_default().to_owned(),
        }
    });
}
