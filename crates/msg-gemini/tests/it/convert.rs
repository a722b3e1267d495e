//! Conversions: what comes out of a document, and what is said about it.

use std::collections::BTreeMap;

use msg_core::{Message, Report, json, native};
use msg_gemini::{Error, ReadOptions, WriteOptions, contents};
use msg_openai::{chat, responses};
use serde::Deserialize;

use crate::laws::contents as laws;

#[derive(Deserialize)]
struct Case {
    from: String,
    to: String,
    #[serde(default)]
    options: BTreeMap<String, serde_json::Value>,
    input_text: String,
}

/// A case file of conversions; what each row gives stands in the file beside it.
fn cases() -> testkit::Rows {
    testkit::rows!("contents/convert.jsonl")
}

#[test]
fn conversions() {
    cases().check_lines(|row| render(&serde_json::from_str(&row.text).unwrap()));
}

#[test]
fn laws_hold_over_the_cases() {
    cases().check(|row| {
        let case: Case = serde_json::from_str(&row.text).unwrap();
        let bytes = case.input_text.as_bytes();
        match &*case.from {
            "gemini" => {
                laws::identity(bytes);
                laws::canonical_is_a_fixpoint(bytes);
                laws::signatures_stay_on_their_parts(bytes);
                laws::options_write_documents(bytes);
            }
            "native" => laws::sent_in_silence_comes_back(&native::read(bytes).unwrap().0),
            _ => {}
        }
    });
}

/// The output and the findings, or the error.
fn render(case: &Case) -> String {
    let mut out = Vec::new();
    let written = match convert(case, &mut out) {
        Ok(report) => report,
        Err(error) => return json::to_text(|it| it.object(|it| it.key("error").str(&error))),
    };
    let text = String::from_utf8(out).unwrap();
    json::validate(&text).unwrap();
    json::to_text(|it| {
        it.object(|it| {
            // Arguments may be spread over lines, a row is one.
            it.key("output").raw(&text.replace('\n', " "));
            // What other formats say of a loss is theirs.
            let is_ours = matches!(&*case.to, "gemini" | "native");
            it.key("report").array(written.iter(), |it, found| match is_ours {
                true => it.raw(&serde_json::to_string(found).unwrap()),
                false => it.str(found.code.as_str()),
            });
        });
    })
}

fn convert(case: &Case, out: &mut Vec<u8>) -> Result<Report, String> {
    let options: WriteOptions = serde_json::from_str(&object(&case.options)).unwrap();
    let bytes = case.input_text.as_bytes();
    if case.from == "gemini" {
        let (document, mut report) =
            contents::read(bytes, &ReadOptions::new()).map_err(|it| describe(&it))?;
        let written = match &*case.to {
            "gemini" => document.write(&options, out),
            to => {
                let mut messages = document.into_messages();
                if to != "native" {
                    report.append(msg_wire::link_ids(&mut messages));
                }
                write(to, &messages, &options, out)
            }
        };
        report.append(written);
        return Ok(report);
    }
    let (messages, mut report) = read(&case.from, bytes);
    let written = write(&case.to, &messages, &options, out);
    report.append(written);
    Ok(report)
}

fn object(options: &BTreeMap<String, serde_json::Value>) -> String {
    serde_json::to_string(options).unwrap()
}

fn describe(error: &Error) -> String {
    match error {
        Error::Read(it) => format!("{}: {it}", it.code()),
        it => it.to_string(),
    }
}

fn read(from: &str, bytes: &[u8]) -> (Vec<Message>, Report) {
    let options = ReadOptions::new();
    match from {
        "native" => native::read(bytes).unwrap(),
        "openai" => {
            let (document, report) = chat::read(bytes, &options).unwrap();
            (document.into_messages(), report)
        }
        "responses" => {
            let (document, report) = responses::read(bytes, &options).unwrap();
            (document.into_messages(), report)
        }
        other => panic!("no format {other}"),
    }
}

fn write(to: &str, messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
    match to {
        "gemini" => contents::write(messages, options, out),
        "native" => {
            native::write(messages, out);
            Report::new()
        }
        "openai" => chat::write(messages, &msg_openai::WriteOptions::new(), out),
        "anthropic" => {
            msg_anthropic::messages::write(messages, &msg_anthropic::WriteOptions::new(), out)
        }
        "responses" => responses::write(messages, &msg_openai::WriteOptions::new(), out),
        other => panic!("no format {other}"),
    }
}
