//! The case file of conversions: each with the document and its report, or the error.

use msg_core::Report;
use msg_openai::{Error, ReadOptions, WriteOptions, chat, responses};
use serde::Deserialize;
use std::collections::BTreeMap;

use crate::laws::wire::*;

#[derive(Deserialize)]
struct Case {
    from: String,
    to: String,
    #[serde(default)]
    options: BTreeMap<String, String>,
    input_text: String,
}

#[test]
fn conversions() {
    testkit::rows!("wire/convert.jsonl").check_expect(|row| {
        let case: Case = serde_json::from_str(&row.text).unwrap();
        let mut report = Report::new();
        match convert(&case, &mut report) {
            // The document as it was written: order of members and spelling of numbers count.
            Ok(found) => {
                format!(r#"{{"document":{found},"report":{}}}"#, serde_json::json!(report))
            }
            Err(error) => {
                let Error::Read(found) = &error else { panic!("{error}") };
                serde_json::json!({"error": error.to_string(), "code": found.code()}).to_string()
            }
        }
    });
}

#[test]
fn laws_hold_over_the_cases() {
    testkit::rows!("wire/convert.jsonl").check(|row| {
        let case: Case = serde_json::from_str(&row.text).unwrap();
        let bytes = case.input_text.as_bytes();
        match &*case.from {
            "openai" => {
                chat_identity(bytes);
                chat_canonical_fixpoint(bytes);
                converted_in_silence_comes_back(bytes);
            }
            "responses" => {
                responses_identity(bytes);
                responses_canonical_fixpoint(bytes);
            }
            _ if case.to == "openai" => {
                chat_identity(convert(&case, &mut Report::new()).unwrap().as_bytes());
            }
            _ => responses_identity(convert(&case, &mut Report::new()).unwrap().as_bytes()),
        }
    });
}

fn convert(case: &Case, report: &mut Report) -> Result<String, Error> {
    let mut options = WriteOptions::new();
    for (name, word) in &case.options {
        assert!(options.set(name, word)?, "no option {name}");
    }
    let mut out = Vec::new();
    let bytes = case.input_text.as_bytes();
    let written = match (&*case.from, &*case.to) {
        ("openai", "openai") => {
            let (document, found) = chat::read(bytes, &ReadOptions::new())?;
            report.append(found);
            document.write(&options, &mut out)
        }
        ("responses", "responses") => {
            let (document, found) = responses::read(bytes, &ReadOptions::new())?;
            report.append(found);
            document.write(&options, &mut out)
        }
        ("openai", "responses") => {
            let (document, found) = chat::read(bytes, &ReadOptions::new())?;
            report.append(found);
            responses::write(&document.into_messages(), &options, &mut out)
        }
        ("native", "openai") => {
            let (messages, _) = msg_core::native::read(bytes).unwrap();
            chat::write(&messages, &options, &mut out)
        }
        ("native", "responses") => {
            let (messages, _) = msg_core::native::read(bytes).unwrap();
            responses::write(&messages, &options, &mut out)
        }
        ("responses", "openai") => {
            let (document, found) = responses::read(bytes, &ReadOptions::new())?;
            report.append(found);
            chat::write(&document.into_messages(), &options, &mut out)
        }
        other => panic!("no conversion {other:?}"),
    };
    report.append(written);
    let text = String::from_utf8(out).unwrap();
    msg_json::validate(&text).unwrap();
    Ok(text)
}

#[test]
fn a_message_beyond_the_choices_of_a_response_is_reported() {
    let json = br#"{"choices":[{"message":{"role":"assistant","content":"a"}}]}"#;
    let (document, _) = chat::read(json, &ReadOptions::new()).unwrap();
    let chat::Document::Response(mut response) = document else { panic!("it has choices") };
    response.messages.push(msg_core::Message::assistant("b"));
    let mut out = Vec::new();
    let report = response.write(&WriteOptions::new(), &mut out);
    let found: Vec<_> = report.iter().map(|it| (it.code.as_str(), it.at.message)).collect();
    assert_eq!(found, [("convert::lost-message", Some(1))]);
    assert_eq!(out, json);
}
