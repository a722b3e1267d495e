//! A written file, shown by a CommonMark renderer, looks as a reader expects.

use crate::laws::nonces;
use msg_file::{AppendOptions, CellRef, MessageFile, Mode, NewCell, RunResult, append, run_cells};
use pulldown_cmark::{Options, Parser, html};

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
