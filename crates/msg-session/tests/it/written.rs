//! Case rows of sessions that are written: the bytes and what is reported, for each dialect that has a writer (SE-80 to SE-82).

use msg_core::{Diagnostic, Message};
use msg_session::{
    Blob, Dialect, Finding, Session, SessionOptions, WriteOptions, has_writer, write,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A row of `written.jsonl`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[allow(dead_code, reason = "the harness names the row by it")]
    name: String,
    /// All that have a writer, if none is named.
    #[serde(default)]
    dialects: Vec<Dialect>,
    #[serde(default)]
    options: WriteOptions,
    messages: Vec<Message>,
}

#[test]
fn written() {
    testkit::rows!("written.jsonl").check_lines(|row| {
        let mut row: Row = serde_json::from_str(&row.text).unwrap();
        if row.dialects.is_empty() {
            row.dialects = Dialect::ALL.iter().copied().filter(|it| has_writer(*it)).collect();
        }
        let each = row.dialects.iter().map(|it| (it.to_string(), render(*it, &row)));
        Value::Object(each.collect::<Map<_, _>>()).to_string()
    });
}

/// The session, what of the messages is not in it, and what keeps an agent from taking it.
fn render(dialect: Dialect, row: &Row) -> Value {
    let (bytes, report) = write(dialect, &row.messages, &row.options).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let mut res = json!({ "session": text });
    if !report.is_empty() {
        res["reported"] = report.iter().map(shown).collect();
    }
    let session = Session::new(dialect, vec![Blob::new("", text)]);
    let found = session.check(&SessionOptions::default()).unwrap();
    let errors: Vec<&Finding> = found.iter().filter(|it| it.is_error()).collect();
    if !errors.is_empty() {
        res["errors"] = json!(errors);
    }
    res
}

fn shown(it: &Diagnostic) -> Value {
    let place = (it.at.message.unwrap_or(0), it.at.part.unwrap_or(0));
    json!(format!("{}.{} {}: {}", place.0, place.1, it.code, it.message()))
}
