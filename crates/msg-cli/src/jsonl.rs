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
use msg_document::{LineAnswer, ObjectWriter, Refusal, answer_row, to_json};
use serde::Serialize;

use self::blocks::{Block, Blocks};
use self::desk::Desk;
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::input::Input;
use crate::output::Output;
use crate::progress::Progress;
use crate::render::{Folding, List, Quotes, plural};

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "JSON lines")]
pub(crate) struct LineArgs {
    /// One JSON document a line; each is answered by a line of JSON, in order. Blank lines are skipped.
    #[arg(long)]
    pub(crate) jsonl: bool,
    /// With --jsonl: how many threads work [default: one a processor].
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
}

impl LineArgs {
    /// Whether lines were asked for, by a command whose input may be any text.
    pub(crate) fn asked(&self) -> Result<bool, Failure> {
        match self.jobs.is_some() && !self.jsonl {
            true => Err(Failure::Usage("--jobs is for JSON lines: it needs --jsonl".to_owned())),
            false => Ok(self.jsonl),
        }
    }

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
    let mut line = ObjectWriter::new().with("edits", &edits).finish();
    line.push(b'\n');
    line
}

/// Appends JSON as one line, with its end: a raw line break in JSON stands between its tokens, as in arguments that a
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
    out.push(b'\n');
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

/// What the answers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A line of JSON each.
    Json,
    /// Text for people, where there is something to say.
    Text { color: bool },
}

/// Answers every line of `input` that is not blank by `job` on `out`, and its edits on `report`. Neither is
/// finished here.
///
/// Memory: the workers times the longest line, and what `job` makes of it.
pub(crate) fn run<F>(
    cx: &Context,
    args: &LineArgs,
    input: Input,
    out: &mut Output,
    report: Option<&mut Output>,
    job: F,
) -> Result<Status, Failure>
where
    F: Fn(&[u8]) -> Result<Answer, Refusal> + Sync,
{
    let job = |_: &str, line: &[u8]| job(line);
    let job = Job { name: &input.name.clone(), limit: input.limit, form: Form::Json, answer: job };
    run_job(cx, args, input, out, report, &job)
}

/// As [`run`], for people: `job` is given the name and number of each line, and answers with text, if it has
/// anything to say.
pub(crate) fn run_for_people<F>(
    cx: &Context,
    args: &LineArgs,
    input: Input,
    out: &mut Output,
    job: F,
) -> Result<Status, Failure>
where
    F: Fn(&str, &[u8]) -> Result<Answer, Refusal> + Sync,
{
    let form = Form::Text { color: out.has_colour(cx) };
    let job = Job { name: &input.name.clone(), limit: input.limit, form, answer: job };
    run_job(cx, args, input, out, None, &job)
}

/// What is done with each line.
struct Job<'a, F> {
    name: &'a str,
    limit: u64,
    form: Form,
    answer: F,
}

fn run_job<F>(
    cx: &Context,
    args: &LineArgs,
    input: Input,
    out: &mut Output,
    report: Option<&mut Output>,
    job: &Job<'_, F>,
) -> Result<Status, Failure>
where
    F: Fn(&str, &[u8]) -> Result<Answer, Refusal> + Sync,
{
    let workers = args.workers();
    let desk = Arc::new(Desk::new(workers));
    let mut progress = Progress::new(input.len, cx.quiet);
    read_in_background(Arc::clone(&desk), Blocks::new(input.reader, input.limit));
    let with_report = report.is_some();
    let tally = thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((number, block)) = desk.take() {
                    let size = block.bytes.len();
                    desk.answer(number, size, answer_block(block, with_report, job));
                }
            });
        }
        let res = print(&desk, (job.name, job.form), &mut progress, out, report);
        desk.close();
        res
    });
    progress.finish();
    let tally = tally?;
    cx.summary(|| summary(job.name, tally), tally.status());
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
    (name, form): (&str, Form),
    progress: &mut Progress,
    out: &mut Output,
    mut report: Option<&mut Output>,
) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    while let Some((size, lines)) = desk.next().map_err(|it| Failure::read(name, it))? {
        tally.add(lines.tally);
        progress.advance(lines.read, lines.tally.lines, || {
            match form {
                Form::Json => out.write(&lines.answers),
                Form::Text { .. } => out.write_coloured(&String::from_utf8_lossy(&lines.answers)),
            }?;
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

fn answer_block<F>(block: Block, with_report: bool, job: &Job<'_, F>) -> Lines
where
    F: Fn(&str, &[u8]) -> Result<Answer, Refusal> + Sync,
{
    let mut res = Lines {
        answers: Vec::with_capacity(block.bytes.len()),
        report: Vec::new(),
        tally: Tally::default(),
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
        res.tally.lines += 1;
        res.tally.problems += u64::from(answer.status == Status::Problems);
        res.tally.failed += u64::from(answer.status == Status::Failed);
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
        assert_eq!((lines.tally.lines, lines.tally.failed), (3, 1));
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
        assert_eq!((lines.tally.lines, lines.tally.problems, lines.tally.failed), (3, 1, 1));
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
