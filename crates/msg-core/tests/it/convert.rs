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

/// The tokens of a JSON text with strings in one spelling: order and numbers count, escapes do not.
pub(crate) fn normal(text: &str) -> String {
    msg_json::validate(text).unwrap();
    let mut out = Vec::new();
    for token in msg_json::tokens(text) {
        match token.strip_prefix('"').and_then(|it| it.strip_suffix('"')) {
            Some(source) => msg_json::write_str(&mut out, &msg_json::unescape(source).text),
            None => out.extend_from_slice(token.as_bytes()),
        }
        out.push(b'\n');
    }
    String::from_utf8(out).unwrap()
}
