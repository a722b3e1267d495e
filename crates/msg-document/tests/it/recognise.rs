//! All functions recognise a document as the same format: exchanges, documents of formats that are not read, and parts
//! of others in a format that was named.

use msg_document::{
    CheckOptions, ConvertOptions, Document, Format, ReadOptions, Refusal, RepairOptions,
    WriteOptions, check, convert, is_valid, key, messages, repair, stats,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    text: String,
}

/// A question and its answer in one object are one conversation, and each half goes back into its member (RG-8).
#[test]
fn exchanges_are_one_conversation() {
    testkit::cases!("exchanges").check(|case| {
        let json = &case.bytes[..];
        let mut document =
            Document::read(json, &ReadOptions::default()).expect("because it is an exchange");
        let mut out = Vec::new();
        document.write(&WriteOptions::default(), &mut out);
        let value = |it: &[u8]| serde_json::from_slice::<serde_json::Value>(it).ok();
        assert_eq!(value(&out), value(json), "what is not edited stays");
        let mut res = format!("{}\n", document.what());
        let checked = document.check(&CheckOptions::default());
        checked.diagnostics.iter().for_each(|it| res.push_str(&format!("{it}\n")));
        let native: Format = "native".parse().expect("because it is a format");
        let converted =
            convert(json, native, &ConvertOptions::default()).expect("because it is read");
        res.push_str(&String::from_utf8_lossy(&converted.document));
        let repaired = repair(json, &RepairOptions::default()).expect("because it is read");
        assert_eq!(repaired.changed, !checked.ok, "repair mends what a check finds, and no more");
        format!("{res}\n{}\n", String::from_utf8_lossy(&repaired.document))
    });
}

/// All functions refuse a document of an unsupported format alike (RG-10).
#[test]
fn all_answers_refuse_the_same() {
    let mut refused = 0;
    for row in testkit::rows!("../../msg-formats/test_data/foreign.jsonl").rows() {
        let it: Row = serde_json::from_str(&row.text).expect("because a row is a document");
        let json = it.text.as_bytes();
        let read = ReadOptions::default();
        let Err(expected) = Format::recognise(json, "") else { continue };
        let found: [(&str, Option<Refusal>); 7] = [
            ("check", check(json, &CheckOptions::default()).err()),
            ("is_valid", is_valid(json, &CheckOptions::default()).err()),
            ("repair", repair(json, &RepairOptions::default()).err()),
            ("convert", convert(json, Format::default(), &ConvertOptions::default()).err()),
            ("messages", messages(json, &read).err()),
            ("key", key(json, &Default::default()).err()),
            ("read", Document::read(json, &read).err()),
        ];
        for (who, it) in found {
            let it = it.unwrap_or_else(|| panic!("{who} answers {}", row.text));
            assert_eq!(it.to_string(), expected.to_string(), "{who}: {}", row.text);
        }
        assert!(stats(json, &Default::default()).is_err(), "{}", row.text);
        refused += 1;
    }
    assert!(refused > 100, "{refused}");
}

/// A format that is named is read, and says what in it belongs to another one (RG-6).
#[test]
fn a_named_format_reports_the_parts_of_others() {
    let json = br#"[{"role":"user","content":"hi"},{"role":"assistant","content":"","toolCalls":[{"id":"c"}]}]"#;
    let openai: Format = "openai".parse().expect("because it is a format");
    let read = ReadOptions::default().with_from(Some(openai));
    let checked =
        check(json, &CheckOptions::default().with_read(read)).expect("because it was named");
    let found = checked.diagnostics.iter().find(|it| it.code == "message::foreign-part");
    assert_eq!(found.and_then(|it| it.at.message), Some(1), "{:?}", checked.diagnostics);
}
