//! Whole requests into those of chat and back, and into themselves by way of what they ask (AN-21).

use msg_core::request::RequestHead;
use msg_core::{Message, Report};
use msg_gemini::{GenerateRequest, ReadOptions, WriteOptions, contents};
use msg_openai::{ChatRequest, chat};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    from: String,
    to: String,
    input_text: String,
}

/// The request in the other format, and what it has no place for.
#[test]
fn requests_are_converted() {
    testkit::rows!("contents/requests.jsonl").check_lines(|row| {
        let case: Case = serde_json::from_str(&row.text).unwrap();
        let (head, messages) = read(&case);
        let mut out = Vec::new();
        let report = write(&case.to, &head, messages, &mut out);
        let text = String::from_utf8(out).unwrap();
        msg_json::validate(&text).unwrap();
        let lost: Vec<_> = report.iter().map(|it| it.message().into_owned()).collect();
        format!("{text} {}", serde_json::to_string(&lost).unwrap())
    });
}

fn read(case: &Case) -> (RequestHead, Vec<Message>) {
    let (json, options) = (case.input_text.as_bytes(), ReadOptions::new());
    if case.from == "gemini" {
        match contents::read(json, &options).unwrap().0 {
            contents::Document::Request(it) => (it.head(), it.messages),
            other => panic!("no request: {other:?}"),
        }
    } else {
        match chat::read(json, &options).unwrap().0 {
            chat::Document::Request(it) => (it.head(), it.messages),
            other => panic!("no request: {other:?}"),
        }
    }
}

fn write(to: &str, head: &RequestHead, messages: Vec<Message>, out: &mut Vec<u8>) -> Report {
    let (mut report, rest) = if to == "gemini" {
        let (request, report) = GenerateRequest::from_head(head, messages);
        (report, contents::Document::Request(request).write(&WriteOptions::new(), out))
    } else {
        let (request, report) = ChatRequest::from_head(head, messages);
        (report, request.write(out))
    };
    report.append(rest);
    report
}
