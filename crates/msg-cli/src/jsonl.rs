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

mod blocks;
mod job;
mod workers;

use std::num::NonZeroUsize;

use msg_document::Refusal;

use self::blocks::Blocks;
use self::job::{Form, Job, Lines, answer_block};
use self::workers::in_order;
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::input::Input;
use crate::jsonl::job::Counts;
pub(crate) use crate::jsonl::job::{Answer, report_line};
use crate::output::Output;
use crate::parallel;
use crate::progress::Progress;
use crate::render::plural;

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
    run_job(cx, args, input, out, report, &Job { name, limit, form: Form::Json, head, answer: job })
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
        Form::Json => out.write(&lines.answers),
        Form::Text { .. } => out.write_coloured(&String::from_utf8_lossy(&lines.answers)),
    }?;
    report.map_or(Ok(()), |it| it.write(&lines.report))
}

fn summary(name: &str, counts: Counts) -> String {
    let Counts { lines, problems, failed } = counts;
    let lines = plural(lines, "line");
    format!("{name}: {lines}, {problems} with errors, {failed} could not be read")
}
