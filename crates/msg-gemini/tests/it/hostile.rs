//! Input that nobody means well with: each gives an error with its place, or comes back unchanged.

use msg_gemini::{Error, ReadOptions, contents};

use crate::laws::contents::identity;

fn error(bytes: &[u8]) -> msg_core::Error {
    match contents::read(bytes, &ReadOptions::new()) {
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
        (r#"{"contents":7}"#, "message::bad-shape", None, 0),
        (r#"{"candidates":[7]}"#, "message::bad-shape", Some(0), 15),
        (r#"[{"role":"user"},[]]"#, "message::bad-shape", Some(1), 17),
        (r#"[{"parts":7}]"#, "message::bad-shape", Some(0), 10),
        (r#"[{"role":1}]"#, "message::missing-role", Some(0), 1),
        (r#"{"systemInstruction":{"parts":[7,]},"contents":[]}"#, "message::bad-json", None, 33),
        (r#"[{"role":"user","parts":[{"text":"a]"#, "message::bad-json", Some(0), 36),
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
    let found = contents::read(b"[ ] ", &options).unwrap_err();
    assert!(matches!(found, Error::TooLarge { limit: 3 }));
}

#[test]
fn depth_costs_no_stack() {
    for (open, close) in [("[", "]"), (r#"{"functionResponse":{"name":"f","parts":["#, "]}}")] {
        let deep = format!("{}{}", open.repeat(10_000), close.repeat(10_000));
        for json in [
            format!(r#"[{{"role":"user","parts":[{deep}]}}]"#),
            format!(r#"[{{"role":"user","x":{deep}}}]"#),
            format!(r#"{{"systemInstruction":{{"parts":[{deep}]}},"contents":[],"tools":{deep}}}"#),
            format!(
                r#"{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"name":"f","args":{deep}}}}}]}}}}]}}"#
            ),
        ] {
            identity(json.as_bytes());
        }
    }
}

#[test]
fn truncation_anywhere_is_an_error() {
    let json = r#"{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"aGk="}},{"functionResponse":{"name":"é","response":{"output":"\ud83e\udd80"}}}]}],"systemInstruction":"s"}"#;
    identity(json.as_bytes());
    for end in 0..json.len() {
        assert_eq!(error(&json.as_bytes()[..end]).code(), "message::bad-json", "{end}");
    }
}

#[test]
fn many_members_and_doubles_stay_linear_and_right() {
    let members: String = (0..20_000).map(|it| format!(",\"x{it}\":{it}")).collect();
    identity(format!("[{{\"role\":\"user\"{members},\"parts\":[{{\"text\":\"a\"}}]}}]").as_bytes());
    let doubles = r#"{"systemInstruction":"a","contents":[{"parts":"a","parts":"b"}],"systemInstruction":"c"}"#;
    let (document, _) = contents::read(doubles.as_bytes(), &ReadOptions::new()).unwrap();
    let texts: Vec<_> = document.messages().map(|it| it.text()).collect();
    assert_eq!(texts, ["c", "b"]);
}
