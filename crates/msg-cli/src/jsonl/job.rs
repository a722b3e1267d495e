//! Answers the lines of a block, each by itself.
//!
//! A line that fails, even by a panic, is answered by a refusal, and the next one is not touched by it.

use msg_document::{Refusal, answer_row};

use super::answer::{Answer, Counts, push_line, report_line};
use super::blocks::Block;
use crate::exit::Status;
use crate::render::{Folding, List, Quotes};

/// What the answers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A line of JSON each.
    Json,
    /// Text for people, where there is something to say.
    Text { color: bool },
}

/// What is done with each line.
pub(super) struct Job<'a, F> {
    pub(super) name: &'a str,
    pub(super) limit: u64,
    pub(super) form: Form,
    pub(super) answer: F,
}

/// The answers to a block.
pub(super) struct Lines {
    pub(super) answers: Vec<u8>,
    pub(super) report: Vec<u8>,
    pub(super) counts: Counts,
    pub(super) read: u64,
}

pub(super) fn answer_block<F>(block: Block, with_report: bool, job: &Job<'_, F>) -> Lines
where
    F: Fn(&str, &[u8]) -> Result<Answer, Refusal> + Sync,
{
    let mut res = Lines {
        answers: Vec::with_capacity(block.bytes.len()),
        report: Vec::new(),
        counts: Counts::default(),
        read: block.read,
    };
    let mut add = |line: u64, answer: Result<Answer, Refusal>| {
        let answer = answer.unwrap_or_else(|error| job.refuse(&error.at_line(Some(line))));
        match job.form {
            Form::Json => push_line(&mut res.answers, &answer.json),
            Form::Text { .. } => res.answers.extend_from_slice(&answer.json),
        }
        if with_report {
            res.report.extend_from_slice(&report_line(&answer.edits));
        }
        res.counts.lines += 1;
        res.counts.problems += u64::from(answer.status == Status::Problems);
        res.counts.failed += u64::from(answer.status == Status::Failed);
    };
    if block.too_long {
        add(block.first_line, Err(Refusal::too_large(job.limit)));
    }
    for (line, number) in lines(&block.bytes).zip(block.first_line..) {
        if !line.trim_ascii().is_empty() {
            add(number, job.guarded(line.strip_suffix(b"\r").unwrap_or(line), number));
        }
    }
    res
}

impl<F> Job<'_, F>
where
    F: Fn(&str, &[u8]) -> Result<Answer, Refusal> + Sync,
{
    /// The answer to a line; a panic in a library costs its own line and no other.
    fn guarded(&self, line: &[u8], number: u64) -> Result<Answer, Refusal> {
        let name = match self.form {
            Form::Json => String::new(),
            Form::Text { .. } => format!("{}:{number}", self.name),
        };
        answer_row(|| (self.answer)(&name, line))
    }

    fn refuse(&self, refusal: &Refusal) -> Answer {
        let text = match self.form {
            Form::Json => refusal.to_json(),
            Form::Text { color } => {
                let list = List {
                    name: self.name,
                    quotes: &Quotes::default(),
                    folding: Folding::Each,
                    color,
                };
                list.findings(std::slice::from_ref(refusal.diagnostic())).into_bytes()
            }
        };
        Answer::new(text, Status::Failed)
    }
}

/// The lines of a block without their ends.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let rest = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let mut start = (!bytes.is_empty()).then_some(0);
    std::iter::from_fn(move || {
        let from = start?;
        let end = memchr::memchr(b'\n', &rest[from..]).map(|it| from + it);
        start = end.map(|it| it + 1);
        Some(&rest[from..end.unwrap_or(rest.len())])
    })
}

#[cfg(test)]
mod tests {
    use msg_core::Diagnostic;

    use super::*;

    fn block(text: &str) -> Block {
        let bytes = text.as_bytes().to_vec();
        Block { first_line: 7, read: bytes.len() as u64, bytes, too_long: false }
    }

    #[test]
    fn a_panic_costs_its_own_line_and_no_other() {
        let answer = |_: &str, line: &[u8]| {
            assert_ne!(line, b"boom", "this line panics");
            Ok(Answer::new(line.to_vec(), Status::Clean))
        };
        let job = Job { name: "", limit: 100, form: Form::Json, answer };
        let lines = answer_block(block("a\nboom\nb"), true, &job);
        let text = String::from_utf8(lines.answers).expect("because answers are JSON");
        let answers: Vec<_> = text.lines().collect();
        assert_eq!((answers[0], answers[2], answers.len()), ("a", "b", 3));
        assert!(
            answers[1].contains("document::panic") && answers[1].contains("\"line\":8"),
            "{text}"
        );
        assert_eq!((lines.counts.lines, lines.counts.failed), (3, 1));
        assert_eq!(lines.report, b"{\"edits\":[]}\n".repeat(3));
    }

    #[test]
    fn people_are_shown_the_lines_that_say_something() {
        let answer = |name: &str, line: &[u8]| match line {
            b"bad" => Err(Diagnostic::error("message::bad-json".into(), "no JSON").into()),
            b"odd" => Ok(Answer::new(format!("{name} is odd\n").into_bytes(), Status::Problems)),
            _ => Ok(Answer::new(Vec::new(), Status::Clean)),
        };
        let job = Job { name: "a.jsonl", limit: 100, form: Form::Text { color: false }, answer };
        let lines = answer_block(block("fine\n\nodd\nbad\n"), false, &job);
        let text = String::from_utf8(lines.answers).expect("because answers are text");
        let bad = "error[message::bad-json]: no JSON\n --> a.jsonl:10\n\n";
        assert_eq!(text, format!("a.jsonl:9 is odd\n{bad}"));
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
}
