//! The case file of conversions: expected document, expected codes or expected error.

use msg_core::{Report, json};
use msg_openai::{EncodeOptions, Error, ReadOptions, chat, responses};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

use crate::laws::wire::*;

#[derive(Deserialize)]
struct Case {
    from: String,
    to: String,
    #[serde(default)]
    options: BTreeMap<String, String>,
    input_text: String,
    expected_text: Option<String>,
    report: Option<BTreeSet<String>>,
    error: Option<String>,
}

#[test]
fn conversions() {
    testkit::rows!("wire/convert.jsonl").check(|row| {
        let case: Case = serde_json::from_str(&row.text).unwrap();
        let mut report = Report::new();
        match (convert(&case, &mut report), &case.error) {
            (Err(Error::Read(found)), Some(code)) => assert_eq!(found.code().as_str(), code),
            (Err(found), _) => panic!("{found}"),
            (Ok(found), None) => {
                let expected = case.expected_text.as_deref().unwrap();
                assert!(same_value(expected, &found), "expected {expected}\nfound    {found}");
                if let Some(expected) = &case.report {
                    let codes = report.iter().map(|it| it.code.as_str().to_owned());
                    assert_eq!(&codes.collect::<BTreeSet<_>>(), expected);
                }
            }
            (Ok(found), Some(code)) => panic!("expected {code}, found {found}"),
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
            _ => chat_identity(case.expected_text.as_deref().unwrap().as_bytes()),
        }
    });
}

fn convert(case: &Case, report: &mut Report) -> Result<String, Error> {
    let mut options = EncodeOptions::new();
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
        ("responses", "openai") => {
            let (document, found) = responses::read(bytes, &ReadOptions::new())?;
            report.append(found);
            chat::write(&document.into_messages(), &options, &mut out)
        }
        other => panic!("no conversion {other:?}"),
    };
    report.append(written);
    let text = String::from_utf8(out).unwrap();
    json::validate(&text).unwrap();
    Ok(text)
}
