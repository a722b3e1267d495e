//! Requests that providers refuse or accept: rows of documents with the results of a check and a repair, and recorded
//! requests that were answered.

use msg_chainast::{Profile, ProviderRule};
use msg_core::Diagnostic;
use msg_document::{
    CheckOptions, Digest, FitOptions, Fitter, RepairOptions, check, is_valid, options_from_json,
    repair,
};
use serde::Deserialize;
use serde_json::value::RawValue;
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

/// A rule without a row is one of which nothing shows that it is found.
#[test]
fn each_rule_of_settings_has_a_row() {
    let rows = testkit::rows!("verdicts.jsonl").rows();
    let rows: Vec<Value> =
        rows.iter().map(|row| serde_json::from_str(&row.text).expect("a row")).collect();
    for profile in Profile::all() {
        let of_settings = |it: &&ProviderRule| it.codes == ["profile::setting"];
        for rule in profile.rules.iter().filter(of_settings) {
            let says = |it: &Value| it.as_str().is_some_and(|it| it.ends_with(&*rule.answer));
            let finds = |row: &&Value| {
                let found = row["expect"]["check"].as_array();
                row["profile"] == *profile.name && found.is_some_and(|it| it.iter().any(says))
            };
            assert!(rows.iter().any(|it| finds(&it)), "{} of {}", rule.number, profile.name);
        }
    }
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

// Requests that a provider answered are valid under its profile: a check finds no error, and neither a repair nor a
// fitting changes anything (CA-70a). The rows are recorded requests; NOTICE.md beside them says of whom.

#[derive(Deserialize)]
struct Accepted<'a> {
    format: &'a str,
    profile: &'a str,
    #[serde(borrow)]
    body: &'a RawValue,
}

impl Accepted<'_> {
    /// The body; with the setting that Anthropic requires and that was not kept.
    fn sent(&self, asks_request: bool) -> String {
        let body = self.body.get();
        match self.format == "anthropic" && asks_request {
            true => body.replacen('{', r#"{"max_tokens":64000,"#, 1),
            false => body.to_owned(),
        }
    }

    /// Options of this row's format and profile, and these members.
    fn options<T: for<'de> Deserialize<'de>>(&self, more: &str) -> T {
        let Accepted { format, profile, .. } = self;
        let json = format!(r#"{{"from":"{format}","profile":"{profile}"{more}}}"#);
        serde_json::from_str(&json).expect("because the members are those of the options")
    }
}

#[test]
fn what_a_provider_answered_stays_as_it_is() {
    testkit::rows!("accepted/requests.jsonl").check(|row| {
        let row: Accepted<'_> = serde_json::from_str(&row.text).expect("because a row is JSON");
        for request in ["", r#","request":true"#] {
            let body = row.sent(!request.is_empty());
            let body = body.as_bytes();
            let options: CheckOptions = row.options(request);
            let checked = msg_document::check(body, &options).expect("because it can be read");
            assert!(checked.ok, "{:?}", checked.diagnostics);
            assert!(is_valid(body, &options).expect("because it can be read"));
            let options: RepairOptions = row.options(request);
            let mended = msg_document::repair(body, &options).expect("because it can be read");
            assert_eq!(mended.edits, []);
            assert_eq!(mended.document, body);
        }
    });
}

#[test]
fn what_fits_is_not_changed_for_a_provider_that_answered_it() {
    testkit::rows!("accepted/requests.jsonl").check(|row| {
        let row: Accepted<'_> = serde_json::from_str(&row.text).expect("because a row is JSON");
        let options: FitOptions = row.options(r#","budget":1000000"#);
        let fitter = Fitter::new(options).expect("because the options are sound");
        // A chain that only the provider takes is refused, and so not changed.
        let Ok(fitted) = fitter.fit(row.body.get().as_bytes(), &Digest) else { return };
        assert!(fitted.edits().is_empty());
        assert_eq!(fitted.totals().0, fitted.totals().1);
    });
}

// Settings of a request that decide how a profile judges the conversation (PM-18).

#[test]
fn a_request_with_thinking_needs_it_before_the_last_calls() {
    let codes = |thinking: &str| {
        let json = format!(
            r#"{{"model":"m","max_tokens":2048,"thinking":{thinking},"messages":[{{"role":"user","content":"q"}},{{"role":"assistant",
            "content":[{{"type":"tool_use","id":"t","name":"f","input":{{}}}}]}},{{"role":"user","content":[{{"type":"tool_result",
            "tool_use_id":"t","content":"r"}}]}}]}}"#
        );
        let profile = msg_chainast::Profile::named("anthropic").cloned().expect("it is built in");
        let mut options = CheckOptions::default().with_profile(profile);
        options.chain.request = true;
        let checked = check(json.as_bytes(), &options).expect("it is read");
        checked.diagnostics.iter().map(|it| it.code.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(codes(r#"{"type":"enabled","budget_tokens":1024}"#), ["profile::thinking-missing"]);
    // With adaptive thinking the model decides, so thinking is not known to be on.
    assert_eq!(codes(r#"{"type":"adaptive"}"#), [""; 0]);
    assert_eq!(codes(r#"{"type":"disabled"}"#), [""; 0]);
}

// Gemini documents, whose results are matched by name: ids are given while they are judged, and are not
// in what is written.

const CALLS: &str = r#"{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"S"},{"functionCall":{"name":"g","args":{}}}]}"#;
const OF_G: &str = r#"{"functionResponse":{"name":"g","response":{"output":"x"}}}"#;
const OF_F: &str = r#"{"functionResponse":{"name":"f","response":{"output":"y"}}}"#;

fn request(results: &str) -> String {
    format!(
        r#"{{"contents":[{CALLS},{{"role":"user","parts":[{results}]}}],"generationConfig":{{"topK":1}}}}"#
    )
}

#[test]
fn results_without_ids_answer_the_calls_of_their_names() {
    let whole = request(&format!("{OF_G},{OF_F}"));
    let checked = check(whole.as_bytes(), &CheckOptions::default()).expect("it is read");
    assert!(checked.ok, "{:?}", checked.diagnostics);
    let repaired = repair(whole.as_bytes(), &RepairOptions::default()).expect("it is read");
    assert!(!repaired.changed && repaired.document == whole.as_bytes());
}

#[test]
fn a_missing_result_is_named_and_mended_without_ids() {
    let cut = request(OF_G);
    let checked = check(cut.as_bytes(), &CheckOptions::default()).expect("it is read");
    let codes: Vec<_> = checked.diagnostics.iter().map(|it| it.code.as_str()).collect();
    assert_eq!(codes, ["chain::missing-tool-result"]);
    let repaired = repair(cut.as_bytes(), &RepairOptions::default()).expect("it is read");
    let text = String::from_utf8(repaired.document).expect("it is JSON");
    assert!(text.contains(r#"{"functionResponse":{"name":"f","response":"#), "{text}");
    assert!(!text.contains("call_0") && text.contains(r#""thoughtSignature":"S""#), "{text}");
}
