//! Histories of the Responses API: what a check says, what a repair makes of them, and that a repaired one
//! is sound or says of itself why it is not (OA-14).

use msg_document::{CheckOptions, Document, ReadOptions, RepairOptions, WriteOptions};

const FORMAT: &str = "responses";

#[test]
fn histories_are_checked_and_repaired() {
    testkit::cases!("responses").check(|case| {
        let read = ReadOptions::default().with_from(Some(format(FORMAT)));
        let mut document =
            Document::read(&case.bytes, &read).expect("because the case is a document");
        let mut res = findings("check", &document);
        for it in document.repair(&RepairOptions::default()) {
            res.push_str(&format!("repair {it}\n"));
        }
        let mut out = Vec::new();
        document.write(&WriteOptions::default(), &mut out);
        res.push_str(&String::from_utf8(out.clone()).expect("because JSON is UTF-8"));
        let again = Document::read(&out, &read).expect("because what was written can be read");
        format!("{res}\n{}", findings("again", &again))
    });
}

fn findings(label: &str, document: &Document) -> String {
    let checked = document.check(&CheckOptions::default());
    let line = |it: &msg_core::Diagnostic| {
        let fix = it.fix.as_deref().unwrap_or("no fix");
        format!("{label} {it} ({fix})\n")
    };
    let lines: String = checked.diagnostics.iter().map(line).collect();
    format!("{lines}{label} ok: {}\n", checked.ok)
}

fn format(name: &str) -> msg_document::Format {
    name.parse().expect("because the format is known")
}

/// Requests that the API answered are valid under its profile, and a strict repair removes no item from them.
#[test]
fn accepted_histories_come_through_whole() {
    testkit::rows!("accepted/responses.jsonl").check(|row| {
        let row: Accepted<'_> = serde_json::from_str(&row.text).expect("because a row is JSON");
        let body = row.body.get();
        assert!(check(body, r#"{"profile":"openai-responses"}"#).ok, "the provider took it");
        let own = repair(body, r#"{"profile":"openai-responses"}"#);
        assert_eq!((own.edits, own.document), (vec![], body.as_bytes().to_vec()));

        let mended = repair(body, "{}");
        let document = String::from_utf8(mended.document).expect("because JSON is UTF-8");
        let left = check(&document, "{}").diagnostics;
        assert!(!left.iter().any(|it| it.is_error() && it.fix.is_some()), "{left:?}");
        let kept = pieces(&document);
        for piece in pieces(body) {
            assert!(kept.contains(&piece), "{piece} is not in {document}");
        }
    });
}

#[derive(serde::Deserialize)]
struct Accepted<'a> {
    #[serde(borrow)]
    body: &'a serde_json::value::RawValue,
}

#[derive(serde::Deserialize)]
struct History<'a> {
    #[serde(borrow)]
    input: Vec<&'a serde_json::value::RawValue>,
}

/// The items of a history; of what others than the model say the content parts, because neighbouring
/// messages of one role may become one.
fn pieces(body: &str) -> Vec<String> {
    let history: History<'_> = serde_json::from_str(body).expect("because it is a request");
    let mut res = Vec::new();
    for item in history.input {
        let value: serde_json::Value =
            serde_json::from_str(item.get()).expect("because it is JSON");
        match (&value["role"], &value["content"]) {
            (serde_json::Value::String(role), content) if role != "assistant" => match content {
                serde_json::Value::Array(parts) => res.extend(parts.iter().map(text_or_source)),
                other => res.push(text_or_source(other)),
            },
            _ => res.push(item.get().to_owned()),
        }
    }
    res
}

/// A text, whatever it is wrapped in.
fn text_or_source(part: &serde_json::Value) -> String {
    let text = part["text"].as_str().or(part.as_str());
    text.map_or_else(|| part.to_string(), str::to_owned)
}

fn check(body: &str, options: &str) -> msg_document::Checked {
    let options = serde_json::from_str(options).expect("because the options are known");
    msg_document::check(body.as_bytes(), &options).expect("because it is a document")
}

fn repair(body: &str, options: &str) -> msg_document::Repaired {
    let options = serde_json::from_str(options).expect("because the options are known");
    msg_document::repair(body.as_bytes(), &options).expect("because it is a document")
}
