//! Conversions between the forms of this crate, by data.

use msg_core::{Report, json};
use serde_json::Value;

use crate::forms::{self, Options};

#[test]
fn convert() {
    testkit::rows!("convert.jsonl").check(|row| {
        let case: Value = serde_json::from_str(&row.text).unwrap();
        let (from, to) = (case["from"].as_str().unwrap(), case["to"].as_str().unwrap());
        let input = case["input_text"].as_str().unwrap();
        let options = Options::parse(&case["options"]);
        let mut report = Report::default();
        let out = forms::convert(from, to, input, &options, &mut report);
        if let Some(code) = case["error"].as_str() {
            let error = out.unwrap_err();
            assert_eq!(error.code(), code, "{error}");
            return;
        }
        assert_eq!(normal(&out.unwrap()), normal(case["expected_text"].as_str().unwrap()));
        if let Some(codes) = case["report"].as_array() {
            let mut found: Vec<_> = report.iter().map(|it| it.code.as_str()).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found, codes.iter().map(|it| it.as_str().unwrap()).collect::<Vec<_>>());
        }
    });
}

/// The tokens of a JSON text with strings in one spelling: order and numbers count, escapes do not.
pub(crate) fn normal(text: &str) -> String {
    json::validate(text).unwrap();
    let mut out = Vec::new();
    for token in json::tokens(text) {
        match token.strip_prefix('"').and_then(|it| it.strip_suffix('"')) {
            Some(source) => json::write_str(&mut out, &json::unescape(source).text),
            None => out.extend_from_slice(token.as_bytes()),
        }
        out.push(b'\n');
    }
    String::from_utf8(out).unwrap()
}
