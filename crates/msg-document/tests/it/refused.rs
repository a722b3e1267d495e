//! What providers refuse of requests, and what they take: a row a document, with what a check and a repair say of it.

use msg_core::Diagnostic;
use msg_document::{CheckOptions, RepairOptions, check, is_valid, options_from_json, repair};
use serde_json::{Value, json};

/// Each row is judged by its profile; the laws of verdicts hold for all of them.
#[test]
fn verdicts() {
    testkit::rows!("verdicts.jsonl").check_expect(|row| {
        let row: Value = serde_json::from_str(&row.text).expect("a row");
        let document = row["document"].to_string().into_bytes();
        let mut options = row.as_object().expect("an object").clone();
        options.retain(|name, _| matches!(&**name, "profile" | "from" | "request" | "calls"));
        let checking: CheckOptions = of(&options);
        if let Some(all) = row.get("all") {
            options.insert("all".to_owned(), all.clone());
        }
        let mending: RepairOptions = of(&options);

        let checked = check(&document, &checking).expect("a document");
        assert_eq!(checked.ok, is_valid(&document, &checking).expect("a document"));
        let mended = repair(&document, &mending).expect("a document");
        if checked.ok && row.get("all").is_none() {
            assert!(!mended.changed, "a repair changes what is accepted: {:?}", mended.edits);
        }
        let after = check(&mended.document, &checking).expect("a document");
        let left: Vec<_> = after.diagnostics.iter().filter(|it| it.is_error()).map(told).collect();
        let remaining: Vec<_> = mended.remaining.iter().map(told).collect();
        assert_eq!(remaining, left, "what remains is what a check of the mended document finds");

        options.retain(|name, _| matches!(&**name, "from" | "calls"));
        let unasked = check(&document, &of(&options)).expect("a document");
        let of_profile = |it: &&Diagnostic| it.code.as_str().starts_with("profile::");
        assert_eq!(
            unasked.diagnostics.iter().find(of_profile).map(told),
            None,
            "no profile was asked"
        );

        let found: Vec<_> = checked.diagnostics.iter().filter(is_told).map(told).collect();
        let mut out = json!({"check": found});
        if mended.changed {
            let edits: Vec<_> = mended.edits.iter().filter_map(|it| it.fix.as_deref()).collect();
            let document: Value = serde_json::from_slice(&mended.document).expect("JSON");
            out["repair"] = json!({"edits": edits, "document": document});
        }
        if !remaining.is_empty() {
            out["remaining"] =
                json!(mended.remaining.iter().map(|it| it.code.as_str()).collect::<Vec<_>>());
        }
        out.to_string()
    });
}

fn of<T: serde::de::DeserializeOwned>(options: &serde_json::Map<String, Value>) -> T {
    options_from_json(Value::Object(options.clone()).to_string().as_bytes()).expect("options")
}

fn is_told(it: &&Diagnostic) -> bool {
    it.severity > msg_core::Severity::Info
}

/// A finding in one line: how bad, what, where, and what the provider answers.
fn told(it: &Diagnostic) -> String {
    let place = match (it.at.message, it.at.part) {
        (Some(message), Some(part)) => format!(" at {message}.{part}"),
        (Some(message), None) => format!(" at {message}"),
        _ => String::new(),
    };
    let answer = it.answer.as_deref().map(|it| format!(" => {it}")).unwrap_or_default();
    format!("{}[{}]{place}: {}{answer}", it.severity, it.code, it.message())
}
