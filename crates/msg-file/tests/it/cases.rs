//! The laws over the case files and the documents in `test_data`, and what each document means; lines
//! by rows; and a file as a renderer shows it.

use std::path::Path;

use msg_file::{
    AppendOptions, CellRef, HistoryOptions, MessageFile, Mode, NewCell, RunResult, append,
    run_cells,
};
use pulldown_cmark::{Options, Parser, html};
use serde_json::{Map, Value};
use testkit::Case;

use crate::laws;
use crate::laws::{identity, nonces, read};

/// `md` in the name of a case makes it a Markdown file.
fn mode(case: &Case) -> Mode {
    let name = case.name.as_str();
    if name.contains("_md_") { Mode::Markdown } else { Mode::of(Path::new("x.msg.md")) }
}

#[test]
fn documents() {
    testkit::cases!("documents").check(|case| {
        let (bytes, mode) = (case.bytes.as_slice(), mode(case));
        laws::identity(bytes, mode);
        laws::any_tail(bytes);
        laws::format_keeps_meaning(bytes, mode);
        laws::history_is_sound(bytes, mode);
        let doc = read(bytes, mode);
        let mut out = String::new();
        for cell in doc.cells() {
            let parent = cell.parent().map_or(String::new(), |p| format!(" below #{p}"));
            out.push_str(&format!(
                "{}:{} {} {}{parent} {} {:?}\n",
                cell.ordinal(),
                cell.line(),
                cell.reference(),
                cell.kind().category(),
                cell.view().as_str(),
                cell.body_text().chars().take(60).collect::<String>(),
            ));
            let parts = cell.parts().into_iter();
            let parts =
                parts.map(|(kind, it)| format!(" {} {}..{}", kind.as_str(), it.start, it.end));
            out.push_str(&format!("   {}\n", parts.collect::<String>()));
        }
        for d in doc.check() {
            let whole = serde_json::to_string(&d).unwrap();
            out.push_str(&format!("{whole}\n"));
        }
        let history = doc.history(&HistoryOptions::default()).unwrap();
        for (message, sources) in history.messages.iter().zip(&history.sources) {
            let text = message.text();
            let calls: Vec<_> = message
                .tool_calls()
                .map(|c| format!("{}({})", c.name, c.arguments.text()))
                .collect();
            let results: Vec<_> = message.tool_results().map(|r| r.content.text()).collect();
            out.push_str(&format!(
                "{} {sources:?} {text:?} {calls:?} {results:?}\n",
                message.role.as_str()
            ));
        }
        out
    });
}

/// An answer in a Markdown file may hold headings like that of the section; they are its own.
#[test]
fn headings_of_answers_in_markdown_files_come_back() {
    use msg_core::Message;
    use msg_file::{AppendOptions, append};
    let old = b"---\nmessage_section: true\n---\n# Discussion\n";
    let chain =
        [Message::user("# hi"), Message::assistant("# A\n\ntext\n\n```\n# c\n```\n\n# B\n")];
    let (options, mut nonce) = (AppendOptions::default(), laws::nonces());
    let (new, _) = append(old, Mode::Markdown, chain.clone(), &options, &mut nonce).unwrap();
    let doc = read(&new, Mode::Markdown);
    assert_eq!(doc.cells()[1].attr("headings").as_deref(), Some("2"));
    assert_eq!(doc.history(&HistoryOptions::default()).unwrap().messages, chain);
}

// What lines say: headings, definitions, attributes, fences, frontmatter, times; a case is a row.

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

// A written file, shown by a CommonMark renderer, looks as a reader expects.

#[test]
fn headings_code_and_outputs() {
    let cells = [
        NewCell { title: Some("Sum".into()), ..NewCell::message("Please **add**.") },
        NewCell { ty: Some("code".into()), ..NewCell::message("```python\nprint(1 < 2)\n```") },
        NewCell::output("bot", "# %% no cell\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
    ];
    let options = AppendOptions::default();
    let (bytes, _) = append(b"", Mode::MessageFile, cells, &options, &mut nonces()).unwrap();
    let doc = MessageFile::parse(bytes.as_slice(), Mode::MessageFile).unwrap();
    let result =
        RunResult { streams: vec![("stdout".into(), "True\n".into())], ..RunResult::default() };
    let run = run_cells(&doc, &CellRef::from("2"), &result).unwrap();
    let (bytes, _) = append(&bytes, Mode::MessageFile, run, &options, &mut nonces()).unwrap();
    let text = String::from_utf8(bytes).unwrap();

    let mut page = String::new();
    html::push_html(
        &mut page,
        Parser::new_ext(&text, Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES),
    );
    assert!(page.contains("<h1>%% Sum<sup"), "{page}");
    assert!(page.contains("<p>Please <strong>add</strong>.</p>"), "{page}");
    assert!(page.contains("<code class=\"language-python\">print(1 &lt; 2)\n</code>"), "{page}");
    assert!(page.contains("<h2>%%% <sup"), "{page}");
    assert!(page.contains("<p># %% no cell</p>"), "{page}");
    assert!(page.contains("<table>"), "{page}");
    assert!(page.contains("<p>stdout&gt; True</p>"), "{page}");
    assert_eq!(page.matches("<h1>").count(), 2, "{page}");
}
