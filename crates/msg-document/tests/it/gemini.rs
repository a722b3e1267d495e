//! Gemini documents, whose results are matched by name: ids are given while they are judged, and are not
//! in what is written.

use msg_document::{CheckOptions, RepairOptions, check, repair};

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
