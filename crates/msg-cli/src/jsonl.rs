//! The `--jsonl` driver: one document a line in, one answer a line out.
//!
//! A reader thread, `--jobs` workers and the printer (the calling thread) pass blocks of lines on; `workers` bounds
//! how many are on their way, and keeps the order. A line that fails, even by a panic, is answered by an
//! object with `error`, and the run goes on. What an answer says is the command's business.
//!
//! ```text
//! {"messages":[…]}      ─▶ {"ok":true,"diagnostics":[]}
//! not JSON              ─▶ {"error":{"code":"message::bad-json",…}}
//! ```

mod job;
mod workers;

use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use msg_document::Refusal;

use self::job::{Form, Job, Lines, answer_block};
use self::workers::in_order;
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::input::Input;
use crate::jsonl::job::Counts;
use crate::jsonl::workers::Blocks;
use crate::output::Output;
use crate::parallel;
use crate::render::plural;

pub(crate) use crate::jsonl::job::{Answer, report_line};

/// The most threads that work, however many are asked for: more would wait for each other.
const MOST_WORKERS: usize = 256;

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "JSON lines")]
pub(crate) struct LineArgs {
    /// Treat the input as JSON Lines; print one JSON line per input line, in order. Blank lines are skipped.
    #[arg(long)]
    pub(crate) jsonl: bool,
    /// With JSON Lines: the number of threads, at most 256 [default: one per processor].
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
}

impl LineArgs {
    /// Whether lines were asked for, by a command whose input may be any text.
    pub(crate) fn asked(&self) -> Result<bool, Failure> {
        match self.jobs.is_some() && !self.jsonl {
            true => Err(Failure::Usage("--jobs needs --jsonl".to_owned())),
            false => Ok(self.jsonl),
        }
    }

    fn workers(&self) -> usize {
        self.jobs.map_or_else(parallel::processors, NonZeroUsize::get).min(MOST_WORKERS)
    }
}

/// An answer that says nothing of its input.
pub(crate) fn as_it_is(json: Vec<u8>) -> Vec<u8> {
    json
}

/// Answers every line of `input` that is not blank by `job` on `out`, and its edits on `report`. `job` is given the
/// number of the line, from 1. Neither is
/// finished here. `head` says in each answer which input it is about.
///
/// Memory: the workers times the longest line, and what `job` makes of it.
pub(crate) fn run<F>(
    cx: &Context,
    args: &LineArgs,
    input: Input,
    (out, report): (&mut Output, Option<&mut Output>),
    head: &(dyn Fn(Vec<u8>) -> Vec<u8> + Sync),
    job: F,
) -> Result<Status, Failure>
where
    F: Fn(u64, &[u8]) -> Result<Answer, Refusal> + Sync,
{
    let (name, limit) = (&*input.name.clone(), input.limit);
    let form = if out.is_in_place() { Form::InPlace } else { Form::Json };
    run_job(cx, args, input, out, report, &Job { name, limit, form, head, answer: job })
}

/// As [`run`], for people: `job` answers with text, if it has anything to say.
pub(crate) fn run_for_people<F>(
    cx: &Context,
    args: &LineArgs,
    input: Input,
    out: &mut Output,
    job: F,
) -> Result<Status, Failure>
where
    F: Fn(u64, &[u8]) -> Result<Answer, Refusal> + Sync,
{
    let form = Form::Text { color: out.has_colour(cx) };
    let (name, limit) = (&*input.name.clone(), input.limit);
    run_job(cx, args, input, out, None, &Job { name, limit, form, head: &as_it_is, answer: job })
}

fn run_job<F>(
    cx: &Context,
    args: &LineArgs,
    input: Input,
    out: &mut Output,
    mut report: Option<&mut Output>,
    job: &Job<'_, F>,
) -> Result<Status, Failure>
where
    F: Fn(u64, &[u8]) -> Result<Answer, Refusal> + Sync,
{
    let mut progress = Progress::new(input.len, cx.quiet);
    let blocks = Blocks::new(input.reader, input.limit);
    let with_report = report.is_some();
    let mut counts = Counts::default();
    let printed = in_order(
        args.workers(),
        blocks,
        |block| answer_block(block, with_report, job),
        |lines| {
            counts.add(lines.counts);
            let (read, n_lines) = (lines.read, lines.counts.lines);
            progress.advance(read, n_lines, || print(lines, job.form, out, report.as_deref_mut()))
        },
    );
    progress.finish();
    printed?.map_err(|it| Failure::read(job.name, it))?;
    cx.summary(|| summary(job.name, counts), counts.status());
    Ok(counts.status())
}

fn print(
    lines: Lines,
    form: Form,
    out: &mut Output,
    report: Option<&mut Output>,
) -> Result<(), Failure> {
    match form {
        Form::Json | Form::InPlace => out.write(&lines.answers),
        Form::Text { .. } => out.write_coloured(&String::from_utf8_lossy(&lines.answers)),
    }?;
    report.map_or(Ok(()), |it| it.write(&lines.report))
}

fn summary(name: &str, counts: Counts) -> String {
    let Counts { lines, problems, failed } = counts;
    let lines = plural(lines, "line");
    format!("{name}: {lines}, {problems} with errors, {failed} could not be read")
}

// The progress line of a long `--jsonl` run.
//
// Drawn on standard error, only where that is a terminal, only after a second, and never with
// `--quiet`. Says nothing that a program would want to read.

/// How long a run must take before anything is drawn.
const PATIENCE: Duration = Duration::from_secs(1);

const KNOWN: &str =
    "{bar:24} {percent:>3}%  {msg}, {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
const UNKNOWN: &str = "{spinner} {msg}, {bytes}, {bytes_per_sec}";

/// See the module.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    drawn: bool,
    /// Output goes to the same terminal: the line has to make way for it.
    shares_terminal: bool,
    started: Instant,
    lines: u64,
}

impl Progress {
    /// A line that is not drawn yet; never drawn if `quiet`.
    pub(crate) fn new(total_bytes: Option<u64>, quiet: bool) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(total_bytes, ProgressDrawTarget::hidden());
            let template = if total_bytes.is_some() { KNOWN } else { UNKNOWN };
            bar.with_style(
                ProgressStyle::with_template(template)
                    .expect("because the templates are constants that a test draws"),
            )
        });
        Progress {
            bar,
            drawn: false,
            shares_terminal: std::io::stdout().is_terminal(),
            started: Instant::now(),
            lines: 0,
        }
    }

    /// `bytes` of input, `lines` of them whole, have been answered; `print` prints the answers.
    pub(crate) fn advance<T>(&mut self, bytes: u64, lines: u64, print: impl FnOnce() -> T) -> T {
        let Some(bar) = &self.bar else { return print() };
        self.lines += lines;
        bar.inc(bytes);
        if !self.drawn && self.started.elapsed() > PATIENCE {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
            self.drawn = true;
        }
        if !self.drawn {
            return print();
        }
        bar.set_message(format!("{} lines", self.lines));
        if self.shares_terminal { bar.suspend(print) } else { print() }
    }

    /// Takes the line off the terminal.
    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_valid() {
        for template in [KNOWN, UNKNOWN] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
