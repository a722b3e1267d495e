//! Turns to messages, by data (OA-6 … OA-12). The expected messages are in the wire form of OpenAI;
//! this crate does not know it, so that a small writer here shows what was lowered in that form.

use msg_core::{
    Message, Part, RawJson, Role,
    turns::{self, LowerCache, LowerOptions, Lowered, lower},
};
use serde_json::{Map, Value, json};

#[test]
fn lower_cases() {
    testkit::rows!("lower.jsonl").check(|row| {
        let case: Value = serde_json::from_str(&row.text).unwrap();
        let options: LowerOptions = serde_json::from_value(case["options"].clone()).unwrap();
        let text = case["turns_text"].as_str().unwrap();
        let (turns, _) = turns::read(text.as_bytes()).unwrap();
        let Lowered { messages, report } = lower(&turns, &options);

        let exact = case["exact"].as_bool().unwrap_or_default();
        let shown: Vec<Value> = messages.iter().map(|it| wire(it, exact)).collect();
        let expected = case["expected"].as_array().unwrap().iter();
        let expected: Vec<Value> = expected.map(|it| loose(it.clone(), exact)).collect();
        assert_eq!(shown, expected);

        let found: Vec<Value> = report
            .iter()
            .map(|it| match it.at.part {
                Some(part) => json!({"code": it.code, "message": it.at.message, "part": part}),
                None => json!({"code": it.code, "message": it.at.message}),
            })
            .collect();
        assert_eq!(Value::from(found), case["report"]);

        let mut cache = LowerCache::new(options);
        for n_turns in 0..=turns.len() {
            cache.lower(&turns[..n_turns], n_turns.saturating_sub(1));
        }
        assert_eq!(cache.messages(), messages);
        assert_eq!(cache.report(), report);
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

fn wire(message: &Message, exact: bool) -> Value {
    let mut out = Map::new();
    out.insert("role".into(), message.role.as_str().into());
    if message.role == Role::Tool {
        let result = message.tool_results().next().unwrap();
        out.insert("tool_call_id".into(), result.call_id.as_str().into());
        out.insert("content".into(), result.content.as_text().unwrap().into());
        return out.into();
    }
    if message.parts.iter().any(Part::is_media) {
        out.insert("content".into(), message.parts.iter().map(wire_part).collect());
    } else if message.parts.iter().any(|it| it.as_text().is_some()) {
        out.insert("content".into(), message.text().into());
    }
    let calls: Vec<Value> = message
        .tool_calls()
        .map(|it| {
            let function = json!({"name": it.name, "arguments": it.arguments.text()});
            json!({"id": it.id, "type": "function", "function": function})
        })
        .collect();
    if !calls.is_empty() {
        out.insert("tool_calls".into(), calls.into());
    }
    if let Some(it) = message.reasoning().next() {
        out.insert("reasoning_content".into(), it.display_text().into());
    }
    loose(out.into(), exact)
}

fn wire_part(part: &Part) -> Value {
    match part {
        Part::Text(it) => json!({"type": "text", "text": it.text}),
        Part::Image(it) => {
            let image = json!({"url": it.url, "detail": it.detail});
            json!({"type": "image_url", "image_url": image})
        }
        Part::Audio(it) => {
            let audio = json!({"data": it.data, "format": it.format});
            json!({"type": "input_audio", "input_audio": audio})
        }
        _ => panic!("no case has this part"),
    }
}

/// Unless the case is exact, arguments are compared as JSON.
fn loose(mut message: Value, exact: bool) -> Value {
    let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
    for call in calls.into_iter().flatten().filter(|_| !exact) {
        let arguments = &mut call["function"]["arguments"];
        let raw = RawJson::new(arguments.as_str().unwrap()).unwrap();
        *arguments = raw.parse().unwrap();
    }
    message
}
