//! What each agent records of its responses (SE-160).

use msg_session::{Dialect, recorded_responses};
use serde_json::{Value, json};

/// Dialect, session, and of each response its record, time, model, usage and stated cost.
#[test]
fn the_usage_of_each_agent() {
    let rows = [
        (
            Dialect::GeminiCli,
            concat!(
                r#"{"type":"gemini","id":"m","timestamp":"2026-01-10T08:00:00Z","model":"g","tokens":{"input":9,"output":1}}"#,
                "\nno record\n",
                r#"{"type":"gemini","id":"m","model":"g","tokens":{"input":9,"tool":1,"output":2,"cached":4,"thoughts":3,"total":15}}"#,
            ),
            json!([[1, "2026-01-10T08:00:00Z", "g", {"promptTokenCount": 9, "toolUsePromptTokenCount": 1,
                "candidatesTokenCount": 2, "thoughtsTokenCount": 3, "cachedContentTokenCount": 4}, null]]),
        ),
        (
            Dialect::QwenCode,
            concat!(
                r#"{"type":"assistant","uuid":"a","model":"q","usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":5,"thoughtsTokenCount":3,"totalTokenCount":14}}"#,
                "\n",
                r#"{"type":"assistant","uuid":"b","model":"q","usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"thoughtsTokenCount":3,"totalTokenCount":14}}"#,
            ),
            json!([
                [1, null, "q", {"promptTokenCount": 9, "candidatesTokenCount": 5}, null],
                [2, null, "q", {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}, null]
            ]),
        ),
        (
            Dialect::Pi,
            r#"{"type":"message","id":"e","message":{"role":"assistant","model":"p","usage":{"input":9,"output":2,"cacheRead":4,"cacheWrite":1,"cost":{"total":0.5}}}}"#,
            json!([[1, null, "p", {"input_tokens": 9, "output_tokens": 2, "cache_read_input_tokens": 4,
                "cache_creation_input_tokens": 1}, "0.5"]]),
        ),
        (
            Dialect::CopilotCli,
            r#"{"type":"session.usage_record","data":{"apiCallId":"c","model":"m","usage":{"inputTokens":9,"outputTokens":2,"cacheReadTokens":4}}}"#,
            json!([[1, null, "m", {"input_tokens": 9, "output_tokens": 2,
                "input_tokens_details": {"cached_tokens": 4}}, null]]),
        ),
        (
            Dialect::OpenCode,
            r#"{"info":{"id":"ses"},"messages":[{"info":{"role":"user"}},{"info":{"role":"assistant","id":"m","modelID":"o","time":{"created":1709210096007},"cost":0.25,"tokens":{"input":9,"output":2,"reasoning":3,"cache":{"read":4,"write":1}}}}]}"#,
            json!([[2, "2024-02-29T12:34:56.007Z", "o", {"input_tokens": 9, "output_tokens": 5,
                "cache_read_input_tokens": 4, "cache_creation_input_tokens": 1}, "0.25"]]),
        ),
        (
            Dialect::ClaudeStream,
            concat!(
                r#"{"type":"assistant","message":{"model":"c","content":[]}}"#,
                "\n",
                r#"{"type":"result","usage":{"input_tokens":9,"output_tokens":2},"total_cost_usd":0.1}"#,
            ),
            json!([[2, null, "c", {"input_tokens": 9, "output_tokens": 2}, "0.1"]]),
        ),
        (
            Dialect::CodexExec,
            r#"{"type":"turn.completed","usage":{"input_tokens":9,"cached_input_tokens":4,"output_tokens":2}}"#,
            json!([[1, null, null, {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2}, null]]),
        ),
        (
            Dialect::Atif,
            r#"{"agent":{"model_name":"a"},"steps":[{"source":"user"},{"source":"agent","timestamp":"2026-01-10T08:00:00Z","metrics":{"prompt_tokens":9,"completion_tokens":2,"cost_usd":0.1,"extra":{}}}]}"#,
            json!([[2, "2026-01-10T08:00:00Z", "a", {"prompt_tokens": 9, "completion_tokens": 2}, "0.1"]]),
        ),
        (Dialect::Aider, "#### hi\n", json!([])),
    ];
    for (dialect, session, expected) in rows {
        let found = recorded_responses(dialect, session.as_bytes());
        let found = found.into_iter().map(|it| {
            let usage: Value = serde_json::from_str(&it.usage).unwrap();
            json!([it.record, it.time, it.model, usage, it.cost])
        });
        assert_eq!(found.collect::<Value>(), expected, "{dialect}");
    }
}
