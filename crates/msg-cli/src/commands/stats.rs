//! `msg stats`: what a conversation is made of (CP-71): messages, bytes and tokens by role, section
//! and tool, the largest parts, and how it grew.
//!
//! Counting is `msg-document`'s; what stands here draws.

mod chart;
mod svg;
mod table;

use std::path::PathBuf;

use msg_document::{FitOptions, Stats, stats};

use super::Command;
use super::fit::args::CountArgs;
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::formats;
use crate::input::{Input, InputArgs};
use crate::jsonl::{self, Answer, LineArgs};
use crate::output::{Output, OutputArgs, PrettyArgs, end_line};
use crate::sizes;
use crate::sources::Sources;

/// Count messages, bytes and tokens by role, section and tool; show the largest parts and the growth.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg stats session.json
  msg stats --budget 128k --svg growth.svg session.json
  msg stats --json --top 0 'logs/*.json'")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// A limit in tokens (k, M), drawn as a line over the growth.
    #[arg(long, value_name = "N", value_parser = sizes::above_zero)]
    budget: Option<u64>,
    #[command(flatten)]
    count: CountArgs,
    /// How many of the largest parts to list.
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Draw the growth as a picture into FILE.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print the numbers as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    pretty: PrettyArgs,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        if self.budget.is_some() && self.json && self.svg.is_none() {
            let text = "--budget is drawn over the growth: with --json it needs --svg";
            return Err(Failure::Usage(text.to_owned()));
        }
        let mut options = self.count.options(self.input.max_bytes())?;
        options.top = Some(self.top);
        self.pretty.expect(self.json, "it needs --json")?;
        let sources = self.input.sources()?;
        sources.expect_one("--svg", self.svg.is_some())?;
        let mut out = self.output.open(&sources)?;
        let status = sources.each(cx, |mut input| {
            match self.input.is_lines(cx, &mut input, &self.lines)? {
                true => self.lines(cx, input, &options, &sources, &mut out),
                false => self.document(cx, input, &options, &sources, &mut out),
            }
        })?;
        out.finish()?;
        Ok(status)
    }
}

impl Args {
    fn lines(
        &self,
        cx: &Context,
        input: Input,
        options: &FitOptions,
        sources: &Sources,
        out: &mut Output,
    ) -> Result<Status, Failure> {
        if self.budget.is_some() || self.svg.is_some() {
            let text = "--budget and --svg draw one document; lines are answered in JSON";
            return Err(Failure::Usage(text.to_owned()));
        }
        let (options, name) = (self.input.of_lines(options.clone()), input.name.clone());
        let job = |line: &[u8]| {
            let stats = stats(line, &options)?;
            let json = sources.headed_json(&name, stats.to_json());
            Ok(Answer::new(json, Status::of(stats.messages > 0)))
        };
        jsonl::run(cx, &self.lines, input, out, None, job)
    }

    fn document(
        &self,
        cx: &Context,
        mut input: Input,
        options: &FitOptions,
        sources: &Sources,
        out: &mut Output,
    ) -> Result<Status, Failure> {
        let bytes = input.read_all()?;
        let options = options.for_document(&bytes).into_owned();
        let document = formats::read(cx, bytes, &input.name, &self.input)?;
        let status = formats::emptiness(cx, &document, &input.name);
        let stats = Stats::gather(document.into_messages(), &options);
        if let Some(path) = &self.svg {
            let mut file = Output::file(path, sources)?;
            file.write(svg::draw(&stats, self.budget).as_bytes())?;
            file.finish()?;
        }
        let mut text = match self.json {
            true => self.pretty.laid_out(sources.headed_json(&input.name, stats.to_json())),
            false => (sources.head(&input.name) + &for_people(&stats, self.budget)).into_bytes(),
        };
        end_line(&mut text);
        out.write(&text)?;
        Ok(status)
    }
}

fn for_people(stats: &Stats, budget: Option<u64>) -> String {
    let table = table::draw(stats);
    let chart = chart::draw(&stats.growth, budget);
    format!("{table}\n{chart}")
}
