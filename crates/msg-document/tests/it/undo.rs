//! Plans that are undone: over every format that is written, and over the documents of the other suites.

use msg_document::{ConvertOptions, Format, convert};
use serde_json::Value;

use crate::laws::undo::undoing_gives_back_the_document;

/// Calls, thoughts, results and enough of all to be cut; members, ids and white space of their own.
const TALK: &str = r#"[ {"role":"user","content":"Look it up.","name":"ann"},
  {"role":"assistant","content":"I look.","reasoning_content":"Where?","tool_calls":[{"id":"c","type":"function",
   "function":{"name":"look","arguments":"{\"a\": 1.0}"}}]},
  {"role":"tool","tool_call_id":"c","content":"found it at last, in the third drawer from above"},
  {"role":"assistant","content":"Here it is."}, {"role":"user","content":"Thanks. Grüße \u00e9"},
  {"role":"assistant","content":"Glad to help."}, {"role":"user","content":"And now?"} ]
"#;

#[test]
fn a_plan_is_undone_in_every_format() {
    for format in Format::all() {
        let Ok(converted) = convert(TALK.as_bytes(), format, &ConvertOptions::default()) else {
            continue;
        };
        let name = if format.name() == "msgmd" { "talk.msg.md" } else { "" };
        let cut = [10, 60, 100_000]
            .map(|it| undoing_gives_back_the_document(&converted.document, name, it));
        assert!(cut[0], "{format}");
    }
}

/// A plan holds bytes that are no text, of every format whose reader takes them.
#[test]
fn bytes_that_are_no_text_come_back() {
    let mut cut = 0;
    for format in Format::all() {
        let Ok(converted) = convert(TALK.as_bytes(), format, &ConvertOptions::default()) else {
            continue;
        };
        let text = String::from_utf8(converted.document).expect("because it was written");
        let (before, after) = text.split_once("Thanks.").expect("because it was said");
        let torn = [before.as_bytes(), b"Thanks\xff.", after.as_bytes()].concat();
        cut += usize::from(undoing_gives_back_the_document(&torn, "", 20));
    }
    assert!(cut > 5, "{cut}");
}

/// A mark before bytes of which no layout can be kept.
#[test]
fn a_mark_before_a_torn_session_stays() {
    let torn = b"\xef\xbb\xbf{\"gen_ai.input.messages\": \"\xff";
    assert!(!undoing_gives_back_the_document(torn, "", 100));
}

/// Members that no message holds: ids and times of turns and sessions, cells of code, calls that had no ids.
#[test]
fn what_no_message_holds_comes_back() {
    testkit::cases!("undo").check(|case| {
        let text = case.text();
        let name = match case.name.split_once('_').map(|it| it.0) {
            Some("file") => "talk.msg.md",
            Some("document") => "session.json",
            _ => "",
        };
        let cut = |it| undoing_gives_back_the_document(text.as_bytes(), name, it);
        format!("cut at 20 tokens: {}, at 60: {}, at 100: {}", cut(20), cut(60), cut(100))
    });
}

#[test]
fn plans_of_the_documents_of_other_suites_are_undone() {
    let suites = [
        testkit::rows!("convert.jsonl"),
        testkit::rows!("../../msg-formats/test_data/recognise.jsonl"),
        testkit::rows!("../../msg-formats/test_data/recognise_anthropic.jsonl"),
        testkit::rows!("values.jsonl"),
        testkit::rows!("accepted/responses.jsonl"),
        testkit::rows!("fit/fit.jsonl"),
    ];
    let mut cut = 0;
    for row in suites.iter().flat_map(|it| it.rows()) {
        let row: Value = serde_json::from_str(&row.text).expect("because a row is JSON");
        let name = row["file"].as_str().unwrap_or_default();
        let text = match &row["text"] {
            Value::String(text) => text.clone(),
            _ => [&row["body"], &row["input"]]
                .into_iter()
                .find(|it| !it.is_null())
                .expect("a document")
                .to_string(),
        };
        for budget in [15, 120] {
            cut += usize::from(undoing_gives_back_the_document(text.as_bytes(), name, budget));
        }
    }
    assert!(cut > 60, "{cut}");
}
