//! Fuzzes writing: calls with hostile arguments and results of tools come back as they were.
#![no_main]

#[path = "../../../crates/msg-xml/tests/it/laws.rs"]
#[allow(dead_code, reason = "the other target has the other laws")]
mod laws;

use msg_xml::ParsedCall;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    laws::results_come_back(&text);
    let (key, value) = text.split_once('=').unwrap_or(("x", &text));
    let arguments = serde_json::json!({ key: value, "list": [value, key] });
    laws::rendered_calls_come_back(&ParsedCall::new("t", arguments.to_string()));
    if serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text).is_ok() {
        laws::rendered_calls_come_back(&ParsedCall::new("t", text.into_owned()));
    }
});
