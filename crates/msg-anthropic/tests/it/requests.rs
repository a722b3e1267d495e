//! Whole requests into those of other formats and back (AN-21).

use msg_anthropic::{MessagesRequest, ReadOptions, WriteOptions, messages};
use msg_core::request::RequestHead;
use msg_core::{Message, Report};
use msg_openai::{ChatRequest, ResponsesRequest, chat, responses};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    from: String,
    to: String,
    #[serde(default)]
    options: WriteOptions,
    input_text: String,
}

/// The request in the other format, and what it has no place for; or why there is none.
#[test]
fn requests_are_converted() {
    testkit::rows!("messages/requests.jsonl").check_lines(|row| {
        let case: Case = serde_json::from_str(&row.text).unwrap();
        let (head, messages) = read(&case);
        let mut out = Vec::new();
        let head = RequestHead { max_tokens: head.max_tokens.or(case.options.max_tokens), ..head };
        let report = write(&case, &head, messages, &mut out);
        let text = String::from_utf8(out).unwrap();
        msg_json::validate(&text).unwrap();
        let lost = report.iter().map(|it| it.message().into_owned());
        format!("{text} {}", serde_json::to_string(&lost.collect::<Vec<_>>()).unwrap())
    });
}

fn read(case: &Case) -> (RequestHead, Vec<Message>) {
    let (json, options) = (case.input_text.as_bytes(), ReadOptions::new());
    match &*case.from {
        "anthropic" => match messages::read(json, &options).unwrap().0 {
            messages::Document::Request(it) => (it.head(), it.messages),
            other => panic!("no request: {other:?}"),
        },
        "openai" => match chat::read(json, &options).unwrap().0 {
            chat::Document::Request(it) => (it.head(), it.messages),
            other => panic!("no request: {other:?}"),
        },
        _ => match responses::read(json, &options).unwrap().0 {
            responses::Document::Request(it) => (it.head(), it.messages),
            other => panic!("no request: {other:?}"),
        },
    }
}

fn write(case: &Case, head: &RequestHead, messages: Vec<Message>, out: &mut Vec<u8>) -> Report {
    let theirs = msg_openai::WriteOptions::new();
    let (mut report, rest) = match &*case.to {
        "anthropic" => {
            let (request, report) = MessagesRequest::from_head(head, messages);
            let document = messages::Document::Request(request);
            (report, document.write(&case.options, out))
        }
        "openai" => {
            let (request, report) = ChatRequest::from_head(head, messages);
            (report, chat::Document::Request(request).write(&theirs, out))
        }
        _ => {
            let (request, report) = ResponsesRequest::from_head(head, messages);
            (report, responses::Document::Request(request).write(&theirs, out))
        }
    };
    report.append(rest);
    report
}
