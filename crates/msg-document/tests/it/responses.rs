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
