//! Input that nobody means well with: each gives an error with its place, or comes back unchanged.

use msg_openai::{Error, ReadOptions, chat};

use crate::laws::wire::chat_identity;

fn error(bytes: &[u8]) -> msg_core::Error {
    match chat::read(bytes, &ReadOptions::new()) {
        Err(Error::Read(it)) => it,
        other => panic!("expected a read error, found {other:?}"),
    }
}

#[test]
fn errors_name_the_message_and_the_byte() {
    for (json, code, message, offset) in [
        ("", "message::bad-json", None, 0),
        ("7", "message::bad-shape", None, 0),
        ("{\"a\":1}", "message::bad-shape", None, 0),
        ("{\"choices\":[{}]}", "message::bad-shape", None, 0),
        ("[{\"role\":\"user\"},[]]", "message::bad-shape", Some(1), 17),
        ("[{\"role\":1}]", "message::missing-role", Some(0), 1),
        ("[{\"role\":\"user\",\"content\":\"a]", "message::bad-json", Some(0), 29),
        ("[{\"role\":\"user\",\"content\":NaN}]", "message::bad-json", Some(0), 26),
        ("[{\"role\":\"user\",\"content\":\"a\u{0}b\"}]", "message::bad-json", Some(0), 28),
        ("[] x", "message::bad-json", None, 3),
    ] {
        let found = error(json.as_bytes());
        assert_eq!(
            (found.code().as_str(), found.message(), found.offset()),
            (code, message, offset),
            "{json}"
        );
    }
    let found = error(b"[\xff]");
    assert_eq!((found.code().as_str(), found.offset()), ("message::bad-json", 1));
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
    assert_eq!(error("[".repeat(10_000).as_bytes()).code(), "message::bad-shape");
}

#[test]
fn truncation_anywhere_is_an_error() {
    let json = r#"{"messages":[{"role":"assistant","content":[{"type":"text","text":"é\n\ud83e\udd80"}],"tool_calls":[{"id":17,"function":{"name":"f","arguments":{"a":[1.50,true]}}}]}]}"#;
    chat_identity(json.as_bytes());
    for end in 0..json.len() {
        assert_eq!(error(&json.as_bytes()[..end]).code(), "message::bad-json", "{end}");
    }
}

#[test]
fn many_members_and_doubles_stay_linear_and_right() {
    let members: String = (0..20_000).map(|it| format!(",\"x{it}\":{it}")).collect();
    chat_identity(format!("[{{\"role\":\"user\"{members},\"content\":\"a\"}}]").as_bytes());
    let doubles = r#"[{"role":"user","content":"a","x":1,"content":"b","x":2,"y":3}]"#;
    let (document, _) = chat::read(doubles.as_bytes(), &ReadOptions::new()).unwrap();
    let mut out = Vec::new();
    document.write(&msg_openai::WriteOptions::new(), &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), r#"[{"role":"user","content":"b","x":2,"y":3}]"#);
}
