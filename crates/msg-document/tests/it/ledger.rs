//! Double entry over the case documents of the suites, in every format and mended for several profiles, and over
//! seeded changes of their structure.

use msg_document::Format;
use serde::Deserialize;

use crate::laws::ledger::{conversions_account_for_all, mutant, repairs_account_for_all};

#[derive(Deserialize)]
struct Case {
    from: String,
    input_text: String,
}

/// The documents of the suites with their formats.
fn documents() -> Vec<(Format, String)> {
    let folder = env!("CARGO_MANIFEST_DIR");
    let files = [
        "msg-anthropic/test_data/messages/convert.jsonl",
        "msg-gemini/test_data/contents/convert.jsonl",
        "msg-openai/test_data/wire/convert.jsonl",
        "msg-forms/test_data/convert.jsonl",
        "msg-document/test_data/meaning.jsonl",
    ];
    let mut res = Vec::new();
    for file in files {
        for row in testkit::Rows::open(format!("{folder}/../{file}")).rows() {
            let Ok(case) = serde_json::from_str::<Case>(&row.text) else { continue };
            if let Ok(from) = case.from.parse() {
                res.push((from, case.input_text));
            }
        }
    }
    assert!(res.len() > 500, "only {} documents were found", res.len());
    res
}

fn targets() -> Vec<Format> {
    let names = [
        "openai",
        "anthropic",
        "gemini",
        "responses",
        "native",
        "plain",
        "sharegpt",
        "turns",
        "agent",
        "langchaingo",
        "claude-code",
        "codex",
        "opencode",
        "goose",
        "cline",
        "vercel-ui",
    ];
    names.iter().map(|it| it.parse().expect("because it is a format")).collect()
}

/// Fails with the first of them and their number.
fn expect_none(failed: &[String]) {
    let first: Vec<_> = failed.iter().take(30).map(String::as_str).collect();
    assert!(failed.is_empty(), "{} failed\n{}", failed.len(), first.join("\n\n"));
}

#[test]
fn conversions_of_the_suites_account_for_every_text() {
    let (targets, mut failed) = (targets(), Vec::new());
    for (from, text) in documents() {
        for to in &targets {
            failed.extend(conversions_account_for_all(text.as_bytes(), Some(from), *to).err());
        }
    }
    expect_none(&failed);
}

#[test]
fn repairs_of_the_suites_account_for_every_text() {
    let mut failed = Vec::new();
    for (from, text) in documents() {
        for profile in [None, Some("openai"), Some("anthropic"), Some("gemini"), Some("mistral")] {
            failed.extend(repairs_account_for_all(text.as_bytes(), Some(from), profile).err());
        }
    }
    expect_none(&failed);
}

#[test]
fn changed_documents_account_for_every_text() {
    let (targets, documents, mut failed) = (targets(), documents(), Vec::new());
    for seed in 0..3000_usize {
        let (from, text) = &documents[(seed * 7919) % documents.len()];
        let Some(text) = mutant(text, seed as u64) else { continue };
        let to = targets[seed % targets.len()];
        failed.extend(conversions_account_for_all(text.as_bytes(), Some(*from), to).err());
        failed.extend(repairs_account_for_all(text.as_bytes(), Some(*from), Some("openai")).err());
    }
    expect_none(&failed);
}
