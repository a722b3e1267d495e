//! Conversions between the forms of this crate, by data.

use msg_core::Report;
use serde_json::Value;

use crate::forms::{self, Options};

#[test]
fn convert() {
    testkit::rows!("convert.jsonl").check_expect(|row| {
        let case: Value = serde_json::from_str(&row.text).unwrap();
        let (from, to) = (case["from"].as_str().unwrap(), case["to"].as_str().unwrap());
        let input = case["input_text"].as_str().unwrap();
        let options = Options::parse(&case["options"]);
        let mut report = Report::default();
        match forms::convert(from, to, input, &options, &mut report) {
            // The document as it was written: order of members and spelling of numbers count.
            Ok(out) => format!(r#"{{"document":{out},"report":{}}}"#, serde_json::json!(report)),
            Err(error) => serde_json::json!({
                "error": error.to_string(),
                "code": error.code(),
                "offset": error.offset(),
            })
            .to_string(),
        }
    });
}
