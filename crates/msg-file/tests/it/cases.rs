//! The laws over the case files and the documents in `test_data`, and what each document means.

use crate::laws::{self, read};
use msg_file::{HistoryOptions, Mode};
use std::path::Path;
use testkit::Case;

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
