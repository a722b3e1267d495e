//! Answers to the lines of a block.

use msg_core::Diagnostic;

use super::*;

fn block(text: &str) -> Block {
    let bytes = text.as_bytes().to_vec();
    Block { first_line: 7, read: bytes.len() as u64, bytes, too_long: false }
}

#[test]
fn a_panic_costs_its_own_line_and_no_other() {
    let answer = |_: u64, line: &[u8]| {
        assert_ne!(line, b"boom", "this line panics");
        Ok(Answer::new(line.to_vec(), Status::Clean))
    };
    let job = Job { name: "", limit: 100, form: Form::Json, head: &|it| it, answer };
    let lines = answer_block(block("a\nboom\nb"), true, &job);
    let text = String::from_utf8(lines.answers).expect("because answers are JSON");
    let answers: Vec<_> = text.lines().collect();
    assert_eq!((answers[0], answers[2], answers.len()), ("a", "b", 3));
    assert!(answers[1].contains("document::panic") && answers[1].contains("\"line\":8"), "{text}");
    assert_eq!((lines.counts.lines, lines.counts.failed), (3, 1));
    assert_eq!(lines.report, b"{\"edits\":[]}\n".repeat(3));
}

#[test]
fn people_are_shown_the_lines_that_say_something() {
    let answer = |number: u64, line: &[u8]| match line {
        b"bad" => Err(Diagnostic::error("message::bad-json".into(), "no JSON").into()),
        b"odd" => Ok(Answer::new(format!("{number} is odd\n").into_bytes(), Status::Problems)),
        _ => Ok(Answer::new(Vec::new(), Status::Clean)),
    };
    let job = Job {
        name: "a.jsonl",
        limit: 100,
        form: Form::Text { color: false },
        head: &|it| it,
        answer,
    };
    let lines = answer_block(block("fine\n\nodd\nbad\n"), false, &job);
    let text = String::from_utf8(lines.answers).expect("because answers are text");
    let bad = "error[message::bad-json]: no JSON\n --> a.jsonl:10\n\n";
    assert_eq!(text, format!("9 is odd\n{bad}"));
    assert_eq!((lines.counts.lines, lines.counts.problems, lines.counts.failed), (3, 1, 1));
}

#[test]
fn lines_end_at_line_feeds_only() {
    let all = |text: &'static str| lines(text.as_bytes()).collect::<Vec<_>>();
    assert_eq!(all("a\nb\r\n\nc"), [&b"a"[..], b"b\r", b"", b"c"]);
    assert_eq!(all("a\n"), [b"a"]);
    assert_eq!(all("\n"), [b""]);
    assert!(all("").is_empty());
}
