//! Turns to messages, by data (OA-6 … OA-12): the messages in native JSON, and the report.

use msg_core::Message;
use msg_forms::turns::{self, LowerCache, LowerOptions, Lowered, lower};
use serde_json::{Value, json};

#[test]
fn lower_cases() {
    testkit::rows!("lower.jsonl").check_expect(|row| {
        let case: Value = serde_json::from_str(&row.text).unwrap();
        let options: LowerOptions = serde_json::from_value(case["options"].clone()).unwrap();
        let text = case["turns_text"].as_str().unwrap();
        let (turns, _) = turns::read(text.as_bytes()).unwrap();
        let Lowered { messages, report, .. } = lower(&turns, &options);

        let mut cache = LowerCache::new(options);
        for n_turns in 0..=turns.len() {
            cache.lower(&turns[..n_turns], n_turns.saturating_sub(1));
        }
        assert_eq!(cache.messages(), messages);
        assert_eq!(cache.report(), report);
        json!({"messages": messages, "report": report}).to_string()
    });
}

/// A failed tool is told of as one, beside what its output says (MS-24).
#[test]
fn results_of_failed_tools_are_errors() {
    let statuses =
        ["completed", "partial", "failed", "error", "interrupted", "pending", "running", "queued"];
    let part =
        |status: &&str| json!({"type": "tool", "id": *status, "tool": "f", "status": *status});
    let parts: Vec<Value> = statuses.iter().map(part).collect();
    let text = json!([{"id": "m", "role": "assistant", "parts": parts}]).to_string();
    let (turns, _) = turns::read(text.as_bytes()).unwrap();
    let lowered = lower(&turns, &LowerOptions::strict()).messages;
    let results = lowered.iter().flat_map(Message::tool_results);
    let errors: Vec<&str> = results.filter(|it| it.is_error).map(|it| &*it.call_id).collect();
    assert_eq!(errors, ["failed", "error", "interrupted"]);
}
