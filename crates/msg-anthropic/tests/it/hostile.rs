//! Input that nobody means well with: each gives an error with its place, or comes back unchanged.

use msg_anthropic::{Error, ReadOptions, messages};

use crate::laws::messages::identity;

fn error(bytes: &[u8]) -> msg_core::Error {
    match messages::read(bytes, &ReadOptions::new()) {
        Err(Error::Read(it)) => it,
        other => panic!("expected a read error, found {other:?}"),
    }
}

#[test]
fn errors_name_the_message_and_the_byte() {
    for (json, code, message, offset) in [
        ("", "message::bad-json", None, 0),
        ("7", "message::bad-shape", None, 0),
        (r#"{"a":1}"#, "message::bad-shape", None, 0),
        (r#"{"content":[]}"#, "message::bad-shape", None, 0),
        (r#"{"content":[],"role":7}"#, "message::bad-shape", None, 0),
        (r#"[{"role":"user"},[]]"#, "message::bad-shape", Some(1), 17),
        (r#"[{"role":1}]"#, "message::missing-role", Some(0), 1),
        (r#"{"system":[7,],"messages":[]}"#, "message::bad-json", None, 13),
        (
            r#"[{"role":"user","content":[{"type":"text","text":"a]"#,
            "message::bad-json",
            Some(0),
            52,
        ),
        ("[] x", "message::bad-json", None, 3),
    ] {
        let found = error(json.as_bytes());
        let place = (found.code().as_str().to_owned(), found.message(), found.offset());
        assert_eq!(place, (code.to_owned(), message, offset), "{json}");
    }
}

#[test]
fn a_document_may_be_too_large() {
    let options = ReadOptions::new().with_max_bytes(3);
    let found = messages::read(b"[ ] ", &options).unwrap_err();
    assert!(matches!(found, Error::TooLarge { limit: 3 }));
}

#[test]
fn depth_costs_no_stack() {
    for (open, close) in
        [("[", "]"), (r#"{"type":"tool_result","tool_use_id":"a","content":["#, "]}")]
    {
        let deep = format!("{}{}", open.repeat(10_000), close.repeat(10_000));
        for json in [
            format!(r#"[{{"role":"user","content":[{deep}]}}]"#),
            format!(r#"[{{"role":"user","x":{deep}}}]"#),
            format!(r#"{{"system":[{deep}],"messages":[],"tools":{deep}}}"#),
            format!(
                r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"a","name":"f","input":{deep}}}]}}"#
            ),
        ] {
            identity(json.as_bytes());
        }
    }
}

#[test]
fn truncation_anywhere_is_an_error() {
    let json = r#"{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},{"type":"tool_result","tool_use_id":"é","content":"\ud83e\udd80"}]}],"system":"s"}"#;
    identity(json.as_bytes());
    for end in 0..json.len() {
        assert_eq!(error(&json.as_bytes()[..end]).code(), "message::bad-json", "{end}");
    }
}

#[test]
fn many_members_and_doubles_stay_linear_and_right() {
    let members: String = (0..20_000).map(|it| format!(",\"x{it}\":{it}")).collect();
    identity(format!("[{{\"role\":\"user\"{members},\"content\":\"a\"}}]").as_bytes());
    let doubles =
        r#"{"system":"a","messages":[{"role":"user","content":"a","content":"b"}],"system":"c"}"#;
    let (document, _) = messages::read(doubles.as_bytes(), &ReadOptions::new()).unwrap();
    let texts: Vec<_> = document.messages().map(|it| it.text()).collect();
    assert_eq!(texts, ["c", "b"]);
}
