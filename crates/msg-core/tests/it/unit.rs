//! Single functions, by data: each row of `unit.jsonl` names the function and what it gives; and message
//! checks (MS-18).
//!
//! The laws of texts over made-up texts.

use msg_core::{
    Arguments, Diagnostic, FinishReason, Image, InputRules, Message, Origin, Other, Pairing, Part,
    Place, RawJson, Role, StreamEvent, ToolCall, ToolResult, Usage, check_all, check_id, native,
    truncate,
};
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};
use testkit::random::for_all;

use crate::laws;

#[test]
fn unit() {
    testkit::rows!("unit.jsonl").check_expect(|row| {
        let case: Value = serde_json::from_str(&row.text).unwrap();
        let found = match case["unit"].as_str().unwrap() {
            "validate_message" => validate_message(&case),
            "truncate" => {
                truncate(text(&case, "text"), case["max_chars"].as_u64().unwrap() as usize).into()
            }
            "check_id" => match check_id(text(&case, "text")) {
                Ok(()) => json!("ok"),
                Err(error) => json!({"error": error.to_string()}),
            },
            "event_roundtrip" => return round_trip::<StreamEvent<'_>>(&row.text),
            "diagnostic_roundtrip" => return round_trip::<Diagnostic>(&row.text),
            "arguments" => format!("{:?}", Arguments::from(text(&case, "text")).state()).into(),
            "native" => return native_unit(&row.text),
            "item" => item(&row.text),
            "pixels" => json!({"pixels": Image::from_url(text(&case, "url")).pixels()}),
            "size" => {
                let part: Part = serde_json::from_value(case["part"].clone()).unwrap();
                json!({"size": part.size(), "reasoning": part.reasoning_size()})
            }
            unit => panic!("no unit {unit}"),
        };
        found.to_string()
    });
}

fn text<'a>(case: &'a Value, name: &str) -> &'a str {
    case[name].as_str().unwrap()
}

fn validate_message(case: &Value) -> Value {
    let rules = InputRules { max_chars: case["max_chars"].as_u64().unwrap() as usize };
    match rules.validate(text(case, "text")) {
        Ok(it) => json!({"text": it}),
        Err(error) => json!({"error": error.to_string()}),
    }
}

/// A list as it is written when it was read.
fn native_unit(row: &str) -> String {
    let (messages, _) = msg_core::native::read(member(row, "messages").as_bytes()).unwrap();
    let mut out = Vec::new();
    msg_core::native::write(&messages, &mut out);
    assert_eq!(msg_core::native::read(&out).unwrap().0, messages);
    String::from_utf8(out).unwrap()
}

/// What an item of a list is to others, what it is with another id, and the result that would answer it.
fn item(row: &str) -> Value {
    let value = RawJson::new(member(row, "item")).unwrap();
    let item = Other { place: Some(Place::Item), ..Other::new(Origin::Responses, value) };
    let pairing = item.pairing();
    let result = pairing.as_ref().and_then(|it| Pairing::text_result(&it.family, &it.id, "t"));
    json!({
        "pairing": pairing.map(|it| format!("{:?} {:?} {} {}", it.side, it.id, it.family, it.is_hosted)),
        "leads": item.may_lead(),
        "renamed": item.with_pair_id("n").value.text(),
        "result": result.map(|it| it.value.text().to_owned()),
    })
}

/// The small types by themselves, read and written as in the native form.
#[test]
fn small_types_have_a_serde_form() {
    fn same<T: serde::Serialize + serde::de::DeserializeOwned>(json: &str) {
        let value: T = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&value).unwrap(), json);
    }
    same::<Role>("\"developer\"");
    same::<Role>("\"oracle\"");
    same::<FinishReason>("\"tool_calls\"");
    same::<ToolCall>(
        r#"{"type":"tool_call","id":"c","name":"f","arguments":"{}","extra":{"openai":{"index":0}}}"#,
    );
    same::<ToolResult>(r#"{"type":"tool_result","call_id":"c","content":"42","is_error":true}"#);
    same::<Usage>(r#"{"input":3,"raw":{"prompt_tokens":3}}"#);
    same::<RawJson>("{\"a\":1.0}");
    let refused = serde_json::from_str::<ToolCall>(r#"{"type":"text","text":"a"}"#).unwrap_err();
    assert_eq!(refused.to_string(), "found a text part, expected a tool_call part");
    assert_eq!("[1]".parse::<RawJson>().unwrap(), RawJson::from(serde_json::json!([1])));
    let message =
        Message::new(Role::Assistant).with_part(ToolCall::new("c", "f", "{}")).with_part("b");
    assert_eq!(message.parts[1], Part::text("b"));
}

fn round_trip<T: serde::Serialize + for<'de> serde::Deserialize<'de>>(row: &str) -> String {
    let input = member(row, "input");
    let value: T = serde_json::from_str(&input).unwrap();
    let out = serde_json::to_string(&value).unwrap();
    assert_eq!(normal(&out), normal(&input));
    out
}

/// The source text of a member: numbers and the order of members are part of the case.
fn member(row: &str, name: &str) -> String {
    let members: std::collections::BTreeMap<String, msg_core::RawJson> =
        serde_json::from_str(row).unwrap();
    members[name].text().to_owned()
}

/// The tokens of a JSON text with strings in one spelling: order and numbers count, escapes do not.
fn normal(text: &str) -> String {
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

// Message checks, by data (MS-18).

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

#[test]
fn cuts_are_clean() {
    let tricky = ["\r\n", "\u{301}", "\u{200D}", "🇩", "🏽", "👍", "a", " ", "\n", "é", "\u{7f}"];
    let text = vec(prop::sample::select(tricky.to_vec()), 0..60).prop_map(|it| it.concat());
    for_all(256, (text, 0..60usize), |(text, max)| laws::cuts_are_clean(&text, max));
}
