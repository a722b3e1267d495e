//! Secrets and what only looks like one (SE-96): a text or a JSON text a row, with what is left of it.

use serde_json::{Value, json};

#[test]
fn secrets() {
    testkit::rows!("secrets.jsonl").check_expect(|row| {
        let row: Value = serde_json::from_str(&row.text).unwrap();
        let (left, count) = match (row["text"].as_str(), row["json"].as_str()) {
            (Some(text), _) => msg_session::redact(text),
            (None, json) => msg_session::redact_json(json.unwrap()),
        };
        json!([count, left]).to_string()
    });
}
