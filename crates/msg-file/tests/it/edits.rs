//! Edits of definitions that somebody left unfinished: what is written reads back, or nothing is (MF-39).

use crate::laws::read;
use msg_file::{Error, FileEdit, HistoryMode, Mode, NewCell, NewId};
use serde::Deserialize;
use serde_json::{Map, json};

/// The file with cell 1 made private; the code of the refusal where that cannot be.
fn excluded(text: &str) -> Result<String, String> {
    let doc = read(text.as_bytes(), Mode::MessageFile);
    let mut edit = doc.edit();
    edit.set_history(1, HistoryMode::Exclude).map_err(|it| it.code().as_str().to_owned())?;
    let new = edit.finish();
    assert_eq!(read(&new, Mode::MessageFile).cells()[0].history(), HistoryMode::Exclude);
    Ok(String::from_utf8(new).unwrap())
}

#[test]
fn an_unclosed_quote_does_not_swallow_what_is_set() {
    for (definition, want) in [
        ("[md] a=1", r#"[md] a=1 history="exclude""#),
        (r#"[md] title="x"#, r#"[md] history="exclude" title="x"#),
        ("[md] key=", r#"[md] history="exclude" key="#),
        ("[code]key=", r#"[code] history="exclude" key="#),
        ("[md] 'x", r#"[md] 'x history="exclude""#),
        ("[md] k='x", r#"[md] k='x history="exclude""#),
        ("key=", r#" history="exclude" key="#),
        (r#"[md] history="perhaps"#, r#"[md] history="exclude""#),
        ("[md] history", r#"[md] history="exclude""#),
    ] {
        let file =
            |definition: &str| format!("# %% [^1]\n\n[^1]: {definition}\n\nhi\n\n# %%\n\nx\n");
        let want = file(want).replace("]:  ", "]: ");
        assert_eq!(excluded(&file(definition)), Ok(want), "{definition}");
    }
}

#[test]
fn what_cannot_be_written_is_refused() {
    for text in ["# %%\n\nhi\n", "# %%[^1]\n# %%\n<!-- Footnotes -->\n[^1]:history=x\n"] {
        assert_eq!(excluded(text), Err("msgfile::bad-attribute".to_owned()), "{text}");
    }
}

#[test]
fn every_attribute_of_a_key_goes_at_once() {
    let definition = |attrs: &str| format!("# %% [^1]\n\n[^1]: [md]{attrs}\n\nhi\n");
    let text = definition(&format!(" a=1{} b=2", " history=0".repeat(2_000)));
    let doc = read(text.as_bytes(), Mode::MessageFile);
    let mut edit = doc.edit();
    edit.set_history(1, HistoryMode::Include).unwrap();
    assert_eq!(String::from_utf8(edit.finish()).unwrap(), definition(" a=1 b=2"));
}

#[test]
fn an_edit_that_would_change_another_cell_is_refused() {
    let doc = read(b"# %% [^1]\n\n[^1]: [md]\n\na\n\n# %%\n\n```\nx\n```\n", Mode::MessageFile);
    let mut edit = doc.edit();
    assert!(edit.set_body(1, b"```\nopen").is_err());
    assert_eq!(edit.finish(), doc.bytes());
}

/// A file and the edits that are made to it, one after the other; what is refused changes nothing.
#[derive(Deserialize)]
struct Row {
    text: String,
    #[serde(default)]
    is_document: bool,
    edits: Vec<Change>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Change {
    Title(usize, String),
    Body(usize, String),
    Attr(usize, String, Option<String>),
    RemoveAttr(usize, String),
    Delete(usize),
    Insert(usize, Option<String>, String, String),
    Activate(String),
}

impl Change {
    fn make<'e, 'd>(&self, edit: &'e mut FileEdit<'d>) -> Result<&'e mut FileEdit<'d>, Error> {
        match self {
            Self::Title(cell, title) => edit.set_title(*cell, title),
            Self::Body(cell, body) => edit.set_body(*cell, body.as_bytes()),
            Self::Attr(cell, key, value) => edit.set_attr(*cell, key, value.as_deref()),
            Self::RemoveAttr(cell, key) => edit.remove_attr(*cell, key),
            Self::Delete(cell) => edit.delete(*cell),
            Self::Insert(cell, id, agent, body) => {
                let mut new = NewCell::output(agent.as_str(), body.as_str());
                new.place = id.clone().map_or(NewId::Next, NewId::Id);
                edit.insert_after(*cell, &new)
            }
            Self::Activate(section) => edit.activate(section),
        }
    }
}

/// The file after all of them, and of those that were refused the number and the reason.
#[test]
fn rows() {
    testkit::rows!("edits.jsonl").check_expect(|row| {
        let row: Row = serde_json::from_str(&row.text).unwrap();
        let mode = if row.is_document { Mode::Markdown } else { Mode::MessageFile };
        let doc = read(row.text.as_bytes(), mode);
        let mut edit = doc.edit();
        let mut refused = Map::new();
        for (at, change) in row.edits.iter().enumerate() {
            if let Err(error) = change.make(&mut edit) {
                refused.insert(at.to_string(), format!("{}: {error}", error.code()).into());
            }
        }
        let text = String::from_utf8(edit.finish()).unwrap();
        json!({ "text": text, "refused": refused }).to_string()
    });
}
