//! What is written reads back, or is refused: cells, values, ids, and what joins them to a file (MF-34 to MF-37), and
//! edits of unfinished definitions (MF-39).

use msg_file::{
    AppendOptions, CellRef, Eol, Error, FileEdit, HistoryMode, Mode, NewCell, NewId, RunResult,
    append, render, rfc3339, run_cells,
};
use serde::Deserialize;
use serde_json::{Map, json};

use crate::laws::{nonces, read, write_then_read};

fn appended(old: &str, mode: Mode, cells: &[NewCell]) -> String {
    let options = AppendOptions::default();
    let (bytes, _) = append(old.as_bytes(), mode, cells.to_vec(), &options, &mut nonces()).unwrap();
    assert!(bytes.starts_with(old.as_bytes()));
    String::from_utf8(bytes).unwrap()
}

/// Wherever a file ends, a cell can follow.
#[test]
fn a_structure_without_a_newline_is_ended() {
    let hi = [NewCell::message("hi")];
    let cell = "# %% [^1]\n\n[^1]: [markdown]\n\nhi\n";
    for old in ["---\nx: 1\n---", "---\nx: 1\n...", "\u{feff}---\nx: 1\n---  "] {
        assert_eq!(appended(old, Mode::MessageFile, &hi), format!("{old}\n\n{cell}"));
    }
    assert_eq!(appended("\u{feff}", Mode::MessageFile, &hi), format!("\u{feff}{cell}"));
    let old = "---\nmessage_section: true\n---\n# Discussion";
    assert_eq!(appended(old, Mode::Markdown, &hi), format!("{old}\n\n#{cell}"));
}

/// What joins a cell to a file: a line end where there is none, and an empty line.
#[test]
fn joints() {
    for (old, want) in [
        ("", ""),
        ("\u{feff}", ""),
        ("a\n", "\n"),
        ("a\n\n", ""),
        ("a\n \t\n", ""),
        ("a", "\n\n"),
        ("a\n  ", "\n"),
        ("a\r\nb", "\n\r\n"),
        ("a\r\n", "\r\n"),
        ("\n", ""),
    ] {
        let new = appended(old, Mode::MessageFile, &[NewCell::message("hi")]);
        let added = &new[old.len()..];
        assert_eq!(added.split_once("# %% [^1]").unwrap().0, want, "{old:?}");
    }
}

/// A CR before the CRLF that a line gets is text: a fence that it follows does not close.
#[test]
fn carriage_returns_in_fences_forge_nothing() {
    let body = "```\r\n# %% q\r\n```\r\n";
    let cells = [NewCell { exact: true, ..NewCell::message(body) }];
    let text = appended("# %% a\r\n\r\nb\r\n", Mode::MessageFile, &cells);
    let doc = read(text.as_bytes(), Mode::MessageFile);
    assert_eq!((doc.cells().len(), &*doc.cells()[1].content()), (2, body));
}

/// The next n is above all that are there, also with repeated and late parents.
#[test]
fn numbers_below_repeated_parents() {
    let cell = |id: &str, ty: &str| format!("# %% [^{id}]\n\n[^{id}]: [{ty}]\n\n");
    let of = || NewCell { place: NewId::Of(CellRef::from("1")), ..NewCell::output("sh", "x") };
    for ids in [["1", "1.1", "1"], ["1.1", "1", "2"]] {
        let ty = |id: &str| if id.contains('.') { "sh" } else { "code" };
        let old: String = ids.iter().map(|it| cell(it, ty(it))).collect();
        assert!(appended(&old, Mode::MessageFile, &[of()]).contains("[^1.2]: [sh]"), "{old}");
    }
}

/// The next id is above every number that an id begins with.
#[test]
fn numbers_of_ids() {
    for (id, next) in [("12.1", 13), ("007", 8), ("12a", 1), ("a.9", 1), ("3.x", 4)] {
        let new = appended(&format!("# %% [^{id}]\n"), Mode::MessageFile, &[NewCell::message("")]);
        assert!(new.contains(&format!("# %% [^{next}]\n")), "{new}");
    }
}

#[test]
fn edges_of_exact_bodies_come_back() {
    for body in ["", "a", "a\n", "\n \n  a \n\n", " \n\n", "\r\na\r\n\r\n", "a\n "] {
        write_then_read(&NewCell { exact: true, ..NewCell::message(body) });
        write_then_read(&NewCell::message(body));
    }
}

#[test]
fn values_are_quoted() {
    let cell = NewCell::message("").with_attr("k", "a\"\\&#10;&amp;\n\u{2028}");
    let text = String::from_utf8(render(&cell, "1", 1, Eol::Lf).unwrap()).unwrap();
    assert!(text.ends_with("[markdown] k=\"a\\\"\\\\&#38;#10;&amp;&#10;&#8232;\"\n"), "{text}");
}

#[test]
fn what_cannot_be_read_back_is_refused() {
    let code = |cell: &NewCell, id| {
        let refused = render(cell, id, 1, Eol::Lf).err();
        refused.map(|it| it.code().as_str().replace("msgfile::", ""))
    };
    let plain = NewCell::message("x");
    assert_eq!(code(&plain, "a b").as_deref(), Some("bad-id"));
    assert_eq!(code(&NewCell::output("a=b", ""), "1").as_deref(), Some("bad-type"));
    let with = |key: &str, value: Option<&str>| {
        let attrs = vec![(key.to_owned(), value.map(str::to_owned))];
        code(&NewCell { attrs, ..plain.clone() }, "1")
    };
    for key in ["", "a b", "a=b", ",x", "...a", "…a", "a\"", "a[", "\u{1}"] {
        assert_eq!(with(key, Some("")).as_deref(), Some("bad-attribute"), "{key}");
    }
    assert_eq!(with("k", Some("\0")).as_deref(), Some("bad-attribute"));
    assert_eq!(
        (with("a.b,", Some("")), with("a,", None).as_deref()),
        (None, Some("bad-attribute"))
    );
    assert_eq!(
        [0, 1, 5, 6].map(|it| render(&plain, "1", it, Eol::Lf).is_ok()),
        [false, true, true, false]
    );
}

#[test]
fn days_around_leap_days_and_centuries() {
    for (seconds, text) in [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_399, "2000-02-28T23:59:59Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (951_868_800, "2000-03-01T00:00:00Z"),
        (1_767_225_599, "2025-12-31T23:59:59Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
    ] {
        assert_eq!(rfc3339(seconds), text);
    }
}

/// Where streams, text and data of a run go: into the execution, or into displays below it (MF-56).
#[test]
fn what_a_run_gives_stands_where_it_reads_back() {
    let old = "# %% [^1]\n\n[^1]: [code]\n\n```sh\nls\n```\n";
    let doc = read(old.as_bytes(), Mode::MessageFile);
    let png = || (Some(vec![0, 1]), Some("image/png".to_owned()));
    let said = |streams: &str, text: Option<&str>, (data, mime_type)| RunResult {
        streams: [("stdout".to_owned(), streams.to_owned())].into(),
        text: text.map(str::to_owned),
        data,
        mime_type,
        ..RunResult::default()
    };
    let html = || (None, Some("text/html".to_owned()));
    for (result, want) in [
        (said("", None, (None, None)), &["text/plain "][..]),
        (said("a", Some("b"), (None, None)), &["text/plain stdout> a\n\nb"]),
        (said("", Some("stdout> x"), (None, None)), &["text/plain ", "text/plain stdout> x"]),
        (said("", Some("b"), html()), &["text/html b"]),
        (said("a", Some("b"), html()), &["text/plain stdout> a", "text/html b"]),
        (said("", None, png()), &["image/png AAE="]),
        (said("", Some(""), png()), &["image/png AAE="]),
        (said("", Some("b"), png()), &["text/plain b", "image/png AAE="]),
    ] {
        let cells = run_cells(&doc, &CellRef::from("1"), &result).unwrap();
        let text = appended(old, Mode::MessageFile, &cells);
        let doc = read(text.as_bytes(), Mode::MessageFile);
        let show = |it: &msg_file::Cell| format!("{} {}", it.mime_type(), it.content());
        let shown: Vec<_> = doc.cells()[1..].iter().map(show).collect();
        assert_eq!(shown, want, "{result:?}");
    }
}

// Edits of definitions that somebody left unfinished: what is written reads back, or nothing is (MF-39).

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
