//! Input that nobody means well with: each gives an error with its place, or comes back unchanged.

use msg_core::Report;
use msg_openai::{Error, ReadOptions, chat};

use crate::laws::wire::chat_identity;

fn error(bytes: &[u8]) -> String {
    match chat::read(bytes, &ReadOptions::new(), &mut Report::new()) {
        Ok(found) => panic!("expected an error, found {found:?}"),
        Err(Error::Read(it)) => format!("{}: {it}", it.code()),
        Err(it) => it.to_string(),
    }
}

#[test]
fn errors_name_the_message_and_the_byte() {
    for (json, expected) in [
        ("", "message::bad-json: the text ends, expected a value at byte 0"),
        ("[", "message::bad-json: message 0: the text ends, expected a value at byte 1"),
        (
            "7",
            "message::bad-shape: expected a list of messages, an object with messages, or one with choices at byte 0",
        ),
        (
            "{\"a\":1}",
            "message::bad-shape: expected a list of messages, an object with messages, or one with choices at byte 0",
        ),
        (
            "[{\"role\":\"user\"},[]]",
            "message::bad-shape: message 1: expected a message, which is an object at byte 17",
        ),
        (
            "[{\"role\":1}]",
            "message::missing-role: message 0: expected a string in its member role, object at byte 1",
        ),
        (
            "[{\"role\":\"user\",\"content\":\"a]",
            "message::bad-json: message 0: the text ends, expected the end of a string at byte 29",
        ),
        (
            "[{\"role\":\"user\",\"content\":NaN}]",
            "message::bad-json: message 0: found 'N', expected a value at byte 26",
        ),
        (
            "[{\"role\":\"user\",\"content\":\"a\u{0}b\"}]",
            "message::bad-json: message 0: control character U+0000 inside a string, expected its escape at byte 28",
        ),
        ("[] x", "message::bad-json: text after the end of the document at byte 3"),
    ] {
        assert_eq!(error(json.as_bytes()), expected, "{json}");
    }
    assert_eq!(error(b"[\xff]"), "message::bad-json: invalid UTF-8 at byte 1");
}

#[test]
fn depth_costs_no_stack() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
        for json in [
            format!(r#"[{{"role":"user","content":[{deep}]}}]"#),
            format!(r#"[{{"role":"user","x":{deep}}}]"#),
            format!(
                r#"[{{"role":"assistant","tool_calls":[{{"id":"a","function":{{"name":"f","arguments":{deep}}}}}]}}]"#
            ),
            format!(
                r#"{{"messages":[{{"role":"assistant","thinking_blocks":[{deep}],"audio":{deep}}}],"tools":{deep}}}"#
            ),
        ] {
            chat_identity(json.as_bytes());
        }
    }
    assert!(error("[".repeat(10_000).as_bytes()).starts_with("message::bad-shape: message 0"));
}

#[test]
fn truncation_anywhere_is_an_error() {
    let json = r#"{"messages":[{"role":"assistant","content":[{"type":"text","text":"é\n\ud83e\udd80"}],"tool_calls":[{"id":17,"function":{"name":"f","arguments":{"a":[1.50,true]}}}]}]}"#;
    chat_identity(json.as_bytes());
    for end in 0..json.len() {
        assert!(error(&json.as_bytes()[..end]).starts_with("message::bad-"), "{end}");
    }
}

#[test]
fn many_members_and_doubles_stay_linear_and_right() {
    let members: String = (0..20_000).map(|it| format!(",\"x{it}\":{it}")).collect();
    chat_identity(format!("[{{\"role\":\"user\"{members},\"content\":\"a\"}}]").as_bytes());
    let doubles = r#"[{"role":"user","content":"a","x":1,"content":"b","x":2,"y":3}]"#;
    let document = chat::read(doubles.as_bytes(), &ReadOptions::new(), &mut Report::new()).unwrap();
    let mut out = Vec::new();
    document.write(&msg_openai::EncodeOptions::new(), &mut out, &mut Report::new());
    assert_eq!(String::from_utf8(out).unwrap(), r#"[{"role":"user","content":"b","x":2,"y":3}]"#);
}
