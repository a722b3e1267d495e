//! Message checks, by data (MS-18).

use msg_core::{InputRules, check_all, native};
use serde_json::{Value, json};

#[test]
fn check() {
    testkit::rows!("check.jsonl").check_expect(|row| {
        let case: Value = serde_json::from_str(&row.text).unwrap();
        let input = case["input_text"].as_str().unwrap();
        let (messages, _) = native::read(input.as_bytes()).unwrap();
        let rules = match case["max_chars"].as_u64() {
            Some(it) => InputRules { max_chars: it as usize },
            None => InputRules::unlimited(),
        };
        let report = check_all(&messages, &rules);
        json!({"ok": !report.has_errors(), "diagnostics": report}).to_string()
    });
}
