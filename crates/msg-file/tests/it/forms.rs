//! What lines say: headings, definitions, attributes, fences, frontmatter, times; a case is a row.

use crate::laws::{identity, read};
use msg_file::{MessageFile, Mode};
use serde_json::{Map, Value};
use std::path::Path;

/// Members that the documents of the case folder show, and those that no row is about.
const LEFT_OUT: [&str; 13] = [
    "ordinal",
    "line",
    "bytes",
    "parts",
    "view",
    "covered_by",
    "history",
    "agent",
    "addressed",
    "mime_type",
    "encoding",
    "reply_to",
    "calls",
];

/// Of each cell, the frontmatter and the agents what the JSON form says; and the findings.
#[test]
fn rows() {
    testkit::rows!("forms.jsonl").check_expect(|row| {
        let row: Value = serde_json::from_str(&row.text).unwrap();
        let name = row["file"].as_str().unwrap_or("x.msg.md");
        let (text, mode) = (row["in"].as_str().unwrap(), Mode::of(Path::new(name)));
        identity(text.as_bytes(), mode);
        shown(&read(text.as_bytes(), mode)).to_string()
    });
}

fn shown(doc: &MessageFile) -> Value {
    let mut whole: Map<String, Value> = serde_json::from_str(&doc.to_json("")).unwrap();
    let mut out = Map::new();
    for key in ["frontmatter", "section", "agents", "default_agent"] {
        let is_said = |it: &Value| !it.is_null() && it.as_array().is_none_or(|it| !it.is_empty());
        out.extend(whole.remove(key).filter(is_said).map(|it| (key.to_owned(), it)));
    }
    let mut cells = whole["cells"].take();
    for cell in cells.as_array_mut().into_iter().flatten() {
        let cell = cell.as_object_mut().unwrap();
        cell.retain(|key, it| !it.is_null() && !LEFT_OUT.contains(&key.as_str()));
    }
    out.insert("cells".to_owned(), cells);
    let found = doc.diagnostics().iter();
    let found = found.map(|it| format!("{} {} {}", it.at.line.unwrap_or(0), it.severity, it.code));
    out.insert("found".to_owned(), found.collect());
    Value::Object(out)
}

/// White space between attributes is that of Unicode, of whatever length in bytes.
#[test]
fn white_space_is_unicode() {
    let others: Vec<char> = (0x80..=0x30FF).filter_map(char::from_u32).collect();
    for some in others.chunks(2_000) {
        let cell = |c: &char| format!("# %% [^1]\n\n[^1]: [md] a=1{c}b=2\n\n");
        let doc = read(some.iter().map(cell).collect::<String>().as_bytes(), Mode::MessageFile);
        for (c, cell) in some.iter().zip(doc.cells()) {
            assert_eq!(cell.attrs().count() == 2, c.is_whitespace(), "{c:?}");
        }
    }
}
