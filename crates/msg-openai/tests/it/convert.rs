//! The case file of conversions: expected document, expected codes or expected error.

use msg_core::{Report, json};
use msg_openai::{EncodeOptions, Error, ReadOptions, chat};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

use crate::laws::wire::{chat_canonical_fixpoint, chat_identity, same_value};

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
        if case.from == "openai" {
            chat_identity(case.input_text.as_bytes());
            chat_canonical_fixpoint(case.input_text.as_bytes());
        }
    });
}

fn convert(case: &Case, report: &mut Report) -> Result<String, Error> {
    let mut options = EncodeOptions::new();
    for (name, word) in &case.options {
        assert!(options.set(name, word)?, "no option {name}");
    }
    let mut out = Vec::new();
    assert_eq!((&*case.from, &*case.to), ("openai", "openai"));
    let document = chat::read(case.input_text.as_bytes(), &ReadOptions::new(), report)?;
    document.write(&options, &mut out, report);
    let text = String::from_utf8(out).unwrap();
    json::validate(&text).unwrap();
    Ok(text)
}
