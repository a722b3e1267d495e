//! The `--jsonl` driver: one document a line in, one answer a line out.
//!
//! A reader thread, `--jobs` workers and the printer (the calling thread) meet at a `Desk`, which
//! bounds the memory and keeps the order. A line that fails, even by a panic, is answered by an
//! object with `error`, and the run goes on. What an answer says is the command's business.

mod blocks;
mod desk;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;

use msg_core::Diagnostic;
use msg_document::{LineAnswer, Refusal, answer_row, edits_json, to_json};
use serde::Serialize;

use self::blocks::{Block, Blocks};
use self::desk::Desk;
use crate::cli::Context;
use crate::exit::{Failure, Status};
use crate::input::Input;
use crate::output::Output;
use crate::progress::Progress;
use crate::render::plural;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LineArgs {
    /// One JSON document a line; each is answered by a line of JSON, in order.
    #[arg(long)]
    pub(crate) jsonl: bool,
    /// With --jsonl: how many threads work [default: one a processor].
    #[arg(long, value_name = "N", requires = "jsonl")]
    pub(crate) jobs: Option<NonZeroUsize>,
}

impl LineArgs {
    fn workers(&self) -> usize {
        let available = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.jobs.map_or_else(available, NonZeroUsize::get)
    }
}

/// What a command says to one document.
#[derive(Debug)]
pub(crate) struct Answer {
    /// One line of JSON, without its end.
    pub(crate) json: Vec<u8>,
    /// What was changed or lost: the line of `--report`.
    pub(crate) edits: Vec<Diagnostic>,
    /// Whether errors were found.
    pub(crate) status: Status,
}

impl Answer {
    /// An answer that changes nothing.
    pub(crate) fn new(json: Vec<u8>, status: Status) -> Self {
        Answer { json, edits: Vec::new(), status }
    }

    /// An answer that is written as JSON.
    pub(crate) fn of(value: &impl Serialize, status: Status) -> Self {
        Answer::new(to_json(value), status)
    }
}

impl From<LineAnswer> for Answer {
    fn from(it: LineAnswer) -> Self {
        Answer::new(it.json, Status::of(it.is_clean))
    }
}

/// The report line of `edits`, with its end.
pub(crate) fn report_line(edits: &[Diagnostic]) -> Vec<u8> {
    let mut line = edits_json(edits);
    line.push(b'\n');
    line
}

/// Appends JSON as one line: a raw line break in JSON stands between its tokens, as in arguments that a
/// model has spread over lines.
fn push_line(out: &mut Vec<u8>, json: &[u8]) {
    let start = out.len();
    out.extend_from_slice(json);
    if memchr::memchr2(b'\n', b'\r', json).is_some() {
        for byte in &mut out[start..] {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
}

/// How many lines there were, and how many of them went wrong.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    /// All lines.
    pub(crate) lines: u64,
    /// Lines whose answer has errors.
    pub(crate) problems: u64,
    /// Lines that were not answered but by `error`.
    pub(crate) failed: u64,
}

impl Tally {
    /// What the run as a whole found.
    pub(crate) fn status(self) -> Status {
        match (self.failed, self.problems) {
            (0, 0) => Status::Clean,
            (0, _) => Status::Problems,
            _ => Status::Failed,
        }
    }

    fn add(&mut self, other: Tally) {
        self.lines += other.lines;
        self.problems += other.problems;
        self.failed += other.failed;
    }
}

/// Answers every line of `input` by `job` on `out`, and its edits on `report`.
///
/// Memory: the workers times the longest line, and what `job` makes of it.
pub(crate) fn run<F>(
    cx: &Context,
    args: &LineArgs,
    mut input: Input,
    mut out: Output,
    mut report: Option<Output>,
    job: F,
) -> Result<Status, Failure>
where
    F: Fn(&[u8]) -> Result<Answer, Refusal> + Sync,
{
    input.expect_lines()?;
    let workers = args.workers();
    let desk = Arc::new(Desk::new(workers));
    let mut progress = Progress::new(input.len, cx.quiet);
    let (name, limit) = (input.name.clone(), input.limit);
    read_in_background(Arc::clone(&desk), Blocks::new(input.reader, limit));
    let with_report = report.is_some();
    let tally = thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((number, block)) = desk.take() {
                    let size = block.bytes.len();
                    desk.answer(number, size, answer_block(block, limit, with_report, &job));
                }
            });
        }
        let res = print(&desk, &name, &mut progress, &mut out, report.as_mut());
        desk.close();
        res
    });
    progress.finish();
    let tally = tally?;
    out.finish()?;
    report.map_or(Ok(()), Output::finish)?;
    cx.summary(|| summary(&name, tally), tally.status());
    Ok(tally.status())
}

/// Not one of the scoped threads: it may hang in a read when everybody else has gone home, and
/// must not keep the program from ending.
fn read_in_background(desk: Arc<Desk<Lines>>, mut blocks: Blocks<Box<dyn std::io::Read + Send>>) {
    thread::spawn(move || {
        let end = loop {
            match blocks.next() {
                Ok(Some(block)) => {
                    if !desk.put(block) {
                        break Ok(());
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        desk.end(end);
    });
}

fn print(
    desk: &Desk<Lines>,
    name: &str,
    progress: &mut Progress,
    out: &mut Output,
    mut report: Option<&mut Output>,
) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    while let Some((size, lines)) = desk.next().map_err(|it| Failure::read(name, it))? {
        tally.add(lines.tally);
        progress.advance(lines.read, lines.tally.lines, || {
            out.write(&lines.answers)?;
            report.as_mut().map_or(Ok(()), |it| it.write(&lines.report))
        })?;
        drop(lines);
        desk.release(size);
    }
    Ok(tally)
}

fn summary(name: &str, tally: Tally) -> String {
    let Tally { lines, problems, failed } = tally;
    let lines = plural(lines, "line");
    format!("{name}: {lines}, {problems} with errors, {failed} could not be read")
}

/// The answers to a block.
struct Lines {
    answers: Vec<u8>,
    report: Vec<u8>,
    tally: Tally,
    read: u64,
}

fn answer_block<F>(block: Block, limit: u64, with_report: bool, job: &F) -> Lines
where
    F: Fn(&[u8]) -> Result<Answer, Refusal> + Sync,
{
    let mut res = Lines {
        answers: Vec::with_capacity(block.bytes.len()),
        report: Vec::new(),
        tally: Tally::default(),
        read: block.read,
    };
    let mut add = |line: u64, answer: Result<Answer, Refusal>| {
        let answer = answer.unwrap_or_else(|error| refuse(&error.at_line(Some(line))));
        push_line(&mut res.answers, &answer.json);
        res.answers.push(b'\n');
        if with_report {
            res.report.extend_from_slice(&report_line(&answer.edits));
        }
        res.tally.lines += 1;
        res.tally.problems += u64::from(answer.status == Status::Problems);
        res.tally.failed += u64::from(answer.status == Status::Failed);
    };
    if block.too_long {
        add(block.first_line, Err(Refusal::too_large(limit)));
    }
    for (line, number) in lines(&block.bytes).zip(block.first_line..) {
        add(number, answer_row(|| job(line)));
    }
    res
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

fn refuse(refusal: &Refusal) -> Answer {
    Answer::new(refusal.to_json(), Status::Failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str) -> Block {
        let bytes = text.as_bytes().to_vec();
        Block { first_line: 7, read: bytes.len() as u64, bytes, too_long: false }
    }

    #[test]
    fn a_panic_costs_its_own_line_and_no_other() {
        let job = |line: &[u8]| {
            assert_ne!(line, b"boom", "this line panics");
            Ok(Answer::new(line.to_vec(), Status::Clean))
        };
        let lines = answer_block(block("a\nboom\nb"), 100, true, &job);
        let text = String::from_utf8(lines.answers).expect("because answers are JSON");
        let answers: Vec<_> = text.lines().collect();
        assert_eq!((answers[0], answers[2], answers.len()), ("a", "b", 3));
        assert!(
            answers[1].contains("document::panic") && answers[1].contains("\"line\":8"),
            "{text}"
        );
        assert_eq!((lines.tally.lines, lines.tally.failed), (3, 1));
        assert_eq!(lines.report, b"{\"edits\":[]}\n".repeat(3));
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
