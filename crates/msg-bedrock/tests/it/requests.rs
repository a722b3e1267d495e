//! Whole requests into those of chat and back, and into themselves by way of what they ask (BR-24).

use msg_bedrock::{ConverseRequest, ReadOptions, WriteOptions, converse};
use msg_core::request::RequestHead;
use msg_core::{Message, Report};
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
    testkit::rows!("converse/requests.jsonl").check_lines(|row| {
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
    if case.from == "bedrock" {
        match converse::read(json, &options).unwrap().0 {
            converse::Document::Request(it) => (it.head(), it.messages),
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
    let (mut report, rest) = if to == "bedrock" {
        let (request, report) = ConverseRequest::from_head(head, messages);
        (report, converse::Document::Request(request).write(&WriteOptions::new(), out))
    } else {
        let (request, report) = ChatRequest::from_head(head, messages);
        (report, request.write(out))
    };
    report.append(rest);
    report
}
