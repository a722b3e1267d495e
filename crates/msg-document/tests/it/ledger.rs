//! Double entry over the case documents of the suites, in every format and mended for several profiles, and over
//! seeded changes of their structure.

use msg_core::Role;
use msg_document::{
    ConvertOptions, Digest, Document, FilterOptions, FitOptions, Format, ReadOptions,
    RepairOptions, TrimOptions, WriteOptions, convert, fit, repair,
};
use serde::Deserialize;

use crate::laws::closure::{
    conversions_for_a_provider_are_mended, conversions_make_nothing_worse, is_sound, profile_of,
};
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
fn conversions_of_the_suites_make_nothing_worse() {
    let names = ["openai", "anthropic", "gemini", "responses", "bedrock", "interactions"];
    let targets = names.map(|it| it.parse::<Format>().expect("because it is a format"));
    assert!(targets.iter().all(|it| profile_of(*it).is_some()), "each has a provider");
    // The message made for each target has members of all formats.
    let mut documents = documents();
    documents.retain(|it| it.0.name() != "native");
    let n_sound = documents.iter().filter(|it| is_sound(it.1.as_bytes(), it.0)).count();
    assert!(n_sound > 200, "only {n_sound} are sound");
    let mut failed = Vec::new();
    for (from, text) in documents {
        for to in targets {
            failed.extend(conversions_make_nothing_worse(text.as_bytes(), from, to).err());
            failed.extend(conversions_for_a_provider_are_mended(text.as_bytes(), from, to).err());
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
        let profiles = [None, Some("openai"), Some("anthropic"), Some("gemini"), Some("mistral")];
        let profile = profiles[(seed / 7) % profiles.len()];
        failed.extend(repairs_account_for_all(text.as_bytes(), Some(*from), profile).err());
    }
    expect_none(&failed);
}

/// After a cut, every remaining value is there, or its loss is reported with a place.
#[test]
fn cuts_of_the_suites_lose_nothing_besides() {
    let mut failed = Vec::new();
    for (from, text) in documents() {
        let read = ReadOptions::default().with_from(Some(from));
        let cuts: [fn(&mut Document); 2] = [
            |it| _ = it.filter(&FilterOptions::default().with_role(Role::User)),
            |it| _ = it.trim(&TrimOptions::default().with_max_tokens(30)),
        ];
        for cut in cuts {
            let Ok(mut document) = Document::read(text.as_bytes(), &read) else { continue };
            // A response that is cut becomes a list: what surrounded its messages is reported.
            if document.what().ends_with("response") {
                continue;
            }
            document.set_source(text.clone().into_bytes());
            cut(&mut document);
            if document.expect_writer().is_err() {
                continue;
            }
            let mut written = Vec::new();
            document.write(&WriteOptions::default(), &mut written);
            let lost = document.lost_by_cut(&written);
            if !lost.is_empty() {
                let written = String::from_utf8_lossy(&written);
                failed.push(format!("{from}: {text}\nin {written}\nlost {lost:?}"));
            }
        }
    }
    expect_none(&failed);
}

#[test]
fn fits_of_the_suites_lose_nothing_besides() {
    let mut failed = Vec::new();
    for (from, text) in documents() {
        let mut options = FitOptions::default().with_budget(30).with_preset("window");
        let read = ReadOptions::default().with_from(Some(from));
        options = FitOptions {
            best_effort: true,
            repair: true,
            strict: true,
            ..options.with_read(read.clone())
        };
        let is_response = |it: &Document| it.what().ends_with("response");
        if Document::read(text.as_bytes(), &read).is_ok_and(|it| is_response(&it)) {
            continue;
        }
        let Ok(mut fitted) = fit(text.as_bytes(), &options, &Digest) else { continue };
        let Some(written) = fitted.take_document() else { continue };
        let edits = fitted.edits();
        if edits.iter().any(|it| it.code == "convert::lost-value") {
            let written = String::from_utf8_lossy(&written);
            failed.push(format!("{from}: {text}\nin {written}\nsaid {edits:?}"));
        }
    }
    expect_none(&failed);
}

#[test]
fn a_value_that_a_cut_did_not_take_is_missed() {
    let text = br#"{"messages":[{"role":"user","content":"old"},{"role":"user","content":"new","x":"kept"}],"top":"y"}"#;
    let lost = |written: &str| {
        let mut document =
            Document::read(text, &ReadOptions::default()).expect("because it is one");
        document.set_source(text.to_vec());
        document.filter(&FilterOptions::default().with_range(1..2));
        let lost = document.lost_by_cut(written.as_bytes());
        lost.into_iter().filter_map(|it| it.at.pointer).collect::<Vec<_>>()
    };
    let whole = r#"{"messages":[{"role":"user","content":"new","x":"kept"}],"top":"y"}"#;
    assert!(lost(whole).is_empty());
    assert_eq!(lost(&whole.replace(r#","x":"kept""#, "")), ["/messages/1/x"]);
    assert_eq!(lost(&whole.replace(r#","top":"y""#, "")), ["/top"]);
}

#[test]
fn what_is_lost_is_an_error_if_that_is_asked() {
    let text = br#"[{"role":"user","content":"hi","x":1}]"#;
    let to: Format = "plain".parse().expect("because it is a format");
    let errors = |options: &ConvertOptions| {
        let converted = convert(text, to, options).expect("because it is a document");
        converted.edits.iter().filter(|it| it.is_error()).count()
    };
    assert_eq!(errors(&ConvertOptions::default()), 0);
    assert_eq!(errors(&ConvertOptions::default().with_strict()), 1);
}

/// The document in `to`, and the codes of what was said.
fn converted(text: &str, to: &str) -> (String, Vec<String>) {
    let to: Format = to.parse().expect("because it is a format");
    let converted = convert(text.as_bytes(), to, &ConvertOptions::default());
    let converted = converted.expect("because it is a document");
    let codes = converted.edits.iter().map(|it| it.code.as_str().to_owned()).collect();
    (String::from_utf8_lossy(&converted.document).into_owned(), codes)
}

#[test]
fn parts_for_display_are_not_what_the_assistant_said() {
    let sources = r#"[{"id":"1","role":"user","parts":[{"type":"text","text":"q"}]},{"id":"2","role":"assistant","parts":[{"type":"source-url","sourceId":"s","url":"https://a.b","title":"SHOWN"},{"type":"data-weather","data":{"city":"SHOWN"}},{"type":"text","text":"hi"}]}]"#;
    let builtin = r#"[{"kind":"request","parts":[{"part_kind":"user-prompt","content":"q"}]},{"kind":"response","parts":[{"part_kind":"builtin-tool-call","tool_name":"web_search","args":{"q":"SHOWN"},"tool_call_id":"b1"},{"part_kind":"builtin-tool-return","tool_name":"web_search","content":{"r":1},"tool_call_id":"b1"},{"part_kind":"text","content":"hi"}]}]"#;
    for text in [sources, builtin] {
        for to in ["openai", "anthropic", "gemini", "responses", "plain", "claude-code"] {
            let (written, codes) = converted(text, to);
            assert!(!written.contains("SHOWN") && written.contains("hi"), "to {to}: {written}");
            let n_lost = codes.iter().filter(|it| *it == "convert::lost-part").count();
            assert_eq!(n_lost, 2, "to {to}: {codes:?}");
        }
    }
}

#[test]
fn thinking_between_texts_loses_its_order_with_a_word() {
    let said = |blocks: &str| {
        let text = format!(
            r#"{{"model":"m","max_tokens":5,"messages":[{{"role":"user","content":"q"}},{{"role":"assistant","content":[{blocks}]}}]}}"#
        );
        converted(&text, "openai").1
    };
    let thought = r#"{"type":"thinking","thinking":"t","signature":"s"}"#;
    let text = r#"{"type":"text","text":"a"}"#;
    assert_eq!(said(&format!("{thought},{text}")), [] as [&str; 0]);
    assert_eq!(said(&format!("{thought},{text},{thought},{text}")), ["convert::order-lost"]);
}

/// A section joins the text before it, and a tag without a name is none.
#[test]
fn a_section_in_a_text_is_accounted_for() {
    let call = "<tool><tool_name>f</tool_name><arguments><>x<![CDATA[a < b]]></\u{fffd}></arguments></tool>";
    let chat = serde_json::json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": call},
        {"role": "tool", "content": "Tool: f\n1"}]);
    let native = "native".parse().expect("because it is a format");
    conversions_account_for_all(chat.to_string().as_bytes(), None, native).expect("all is there");
}

/// A call without its result is mended between records that stay, each once.
#[test]
fn records_of_a_session_are_no_one_value() {
    let record = |role: &str, id: u8, parent: &str, content: &str| {
        let head = format!(
            r#""type": "{role}", "uuid": "u{id}", "parentUuid": {parent}, "sessionId": "s""#
        );
        let time = r#""timestamp": "2026-01-01T00:00:00.000Z""#;
        format!(
            "{{{head}, {time}, \"message\": {{\"role\": \"{role}\", \"content\": {content}}}}}\n"
        )
    };
    let call = r#"[{"type": "tool_use", "id": "c1", "name": "ls", "input": {}}]"#;
    let records = [
        record("user", 1, "null", "\"first\""),
        record("assistant", 2, "\"u1\"", call),
        record("user", 3, "\"u2\"", "\"last\""),
    ];
    let session = records.concat();
    let repaired = repair(session.as_bytes(), &RepairOptions::default());
    let repaired = repaired.expect("because it is a session");
    let text = String::from_utf8(repaired.document).expect("because it is JSON");
    assert!(repaired.changed && text.lines().count() > 3, "{text}");
    assert!(["\"first\"", "\"last\""].iter().all(|it| text.matches(it).count() == 1), "{text}");
}
