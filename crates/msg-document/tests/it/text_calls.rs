//! Conversations whose calls are in the text: what is seen of them, what a repair makes of them, what they are in
//! another format, and that what was not changed is written as it came.

use msg_document::{
    CallForms, CheckOptions, ConvertOptions, Document, Format, ReadOptions, RepairOptions,
    WriteOptions, convert,
};

#[test]
fn calls_in_text_are_calls() {
    testkit::cases!("text_calls").check(|case| {
        let read = ReadOptions::default().with_calls(CallForms::Xml);
        let mut document = Document::read(&case.bytes, &read).expect("because it is a document");
        assert_eq!(written(&mut document), case.bytes, "what was not changed is as it came");
        let checked = document.check(&CheckOptions::default());
        let mut res = format!("{}, ok: {}\n", checked.format, checked.ok);
        for it in &checked.diagnostics {
            res.push_str(&format!("check {it}\n"));
        }
        for it in document.repair(&RepairOptions::default()) {
            res.push_str(&format!("repair {it}\n"));
        }
        let mended = written(&mut document);
        if mended != case.bytes {
            res.push_str(&format!("{}\n", text(&mended)));
        }
        let again = Document::read(&mended, &read).expect("because what was written can be read");
        assert!(again.check(&CheckOptions::default()).ok, "what is mended is sound");
        let options = ConvertOptions::default().with_read(read);
        let native = Format::all().find(|it| it.name() == "native").expect("because it exists");
        let converted = convert(&case.bytes, native, &options).expect("because it was read");
        format!("{res}{}\n", text(&converted.document).replace("},{\"role\"", "},\n{\"role\""))
    });
}

/// `plain` writes `Tool: NAME` by itself, but only in front of what tools say.
#[test]
fn sound_plain_messages_are_written_as_they_came() {
    let plain = Format::all().find(|it| it.name() == "plain");
    let mut sound = 0;
    for case in testkit::cases!("text_calls").cases() {
        let read = ReadOptions::default().with_from(plain);
        let Ok(mut document) = Document::read(&case.bytes, &read) else { continue };
        document.set_source(case.bytes.clone());
        if document.repair(&RepairOptions::default()).is_empty() {
            assert_eq!(text(&written(&mut document)), text(&case.bytes), "{}", case.name);
            sound += 1;
        }
    }
    assert!(sound > 3, "{sound}");
}

fn written(document: &mut Document) -> Vec<u8> {
    let mut out = Vec::new();
    document.write(&WriteOptions::default(), &mut out);
    out
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("because JSON is UTF-8")
}
