//! Whole requests into those of other formats and back, and into themselves by way of what they ask (AN-21). The tests
//! of the wire crates take this file in by its path; the module around it says which formats there are.

use msg_core::request::RequestHead;
use msg_core::{Message, Report};
use serde::Deserialize;

/// How the requests of a format are read and written.
pub(crate) struct Wire {
    pub(crate) name: &'static str,
    pub(crate) read: fn(&[u8]) -> (RequestHead, Vec<Message>),
    pub(crate) write: fn(&RequestHead, Vec<Message>, &mut Vec<u8>) -> Report,
}

/// The [`Wire`] of a module: its documents hold requests of this type, written as its crate does without options.
macro_rules! wire {
    ($name:literal, $krate:ident::$module:ident::$request:ident) => {
        Wire {
            name: $name,
            read: |json| match $krate::$module::read(json, &msg_codec::ReadOptions::new()) {
                Ok(($krate::$module::Document::Request(it), _)) => (it.head(), it.messages),
                other => panic!("no request: {other:?}"),
            },
            write: |head, messages, out| {
                let options = $krate::WriteOptions::new();
                let (request, mut report) = $krate::$request::from_head(head, messages);
                report.append($krate::$module::Document::Request(request).write(&options, out));
                report
            },
        }
    };
}
pub(crate) use wire;

#[derive(Deserialize)]
struct Case {
    from: String,
    to: String,
    #[serde(default)]
    options: Options,
    input_text: String,
}

#[derive(Default, Deserialize)]
struct Options {
    /// What is asked for where the request says nothing.
    max_tokens: Option<u64>,
}

/// The request in the other format, and what it has no place for.
pub(crate) fn check(rows: &testkit::Rows, wires: &[Wire]) {
    rows.check_lines(|row| {
        let case: Case = serde_json::from_str(&row.text).unwrap();
        let wire = |name: &str| wires.iter().find(|it| it.name == name).unwrap();
        let (mut head, messages) = (wire(&case.from).read)(case.input_text.as_bytes());
        head.max_tokens = head.max_tokens.or(case.options.max_tokens);
        let mut out = Vec::new();
        let report = (wire(&case.to).write)(&head, messages, &mut out);
        let text = String::from_utf8(out).unwrap();
        msg_json::validate(&text).unwrap();
        let lost: Vec<_> = report.iter().map(|it| it.message().into_owned()).collect();
        format!("{text} {}", serde_json::to_string(&lost).unwrap())
    });
}
