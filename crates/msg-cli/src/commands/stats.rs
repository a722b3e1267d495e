//! `msg stats`: what a conversation is made of (CP-71): messages, bytes and tokens by role, section
//! and tool, the largest parts, and how it grew.
//!
//! Counting is `msg-document`'s; what stands here draws.

mod chart;
mod svg;
mod table;

use std::num::NonZeroU64;
use std::path::PathBuf;

use msg_document::{Accept, FitOptions, Stats, stats};

use super::Command;
use super::fit::args::CountArgs;
use crate::cli::Context;
use crate::exit::{Failure, Status};
use crate::formats;
use crate::input::InputArgs;
use crate::jsonl::{self, Answer, LineArgs};
use crate::output::{self, Output, OutputArgs};

/// Count messages, bytes and tokens by role, section and tool; show the largest parts and the growth.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// A limit in tokens, drawn as a line over the growth.
    #[arg(long, value_name = "N", conflicts_with = "jsonl")]
    budget: Option<NonZeroU64>,
    #[command(flatten)]
    count: CountArgs,
    /// How many of the largest parts to list.
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Draw the growth as a picture into FILE.
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    svg: Option<PathBuf>,
    /// Print the numbers as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    output: OutputArgs,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        if self.budget.is_some() && self.json && self.svg.is_none() {
            let text = "--budget is drawn over the growth: with --json it needs --svg";
            return Err(Failure::Usage(text.to_owned()));
        }
        let mut options = self.count.options()?;
        options.top = Some(self.top);
        let mut input = self.input.open()?;
        let mut out = self.output.open(&input)?;
        if self.lines.jsonl {
            let InputArgs { from, calls, max_bytes, .. } = self.input;
            let max_bytes = Some(max_bytes);
            let options = FitOptions { from, calls, max_bytes, accept: Accept::Json, ..options };
            return jsonl::run(cx, &self.lines, input, out, None, |line| {
                let stats = stats(line, &options)?;
                Ok(Answer::new(stats.to_json(), Status::of(stats.messages > 0)))
            });
        }
        let bytes = input.read_all()?;
        let options = options.for_document(&bytes).into_owned();
        let document = formats::read(cx, bytes, &input.name, &self.input)?;
        let status = formats::emptiness(cx, &document, &input.name);
        let stats = Stats::gather(document.into_messages(), &options);
        let budget = self.budget.map(NonZeroU64::get);
        if let Some(path) = &self.svg {
            let mut file = Output::file(path, &input)?;
            file.write(svg::draw(&stats, budget).as_bytes())?;
            file.finish()?;
        }
        let mut text = if self.json { stats.to_json() } else { for_people(&stats, budget).into_bytes() };
        output::end_line(&mut text);
        out.write(&text)?;
        out.finish().map(|()| status)
    }
}

fn for_people(stats: &Stats, budget: Option<u64>) -> String {
    let table = table::draw(stats);
    let chart = chart::draw(&stats.growth, budget);
    format!("{table}\n{chart}")
}
