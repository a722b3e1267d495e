//! `msg stats`: what a conversation is made of (CP-71): messages, bytes and tokens by role, section
//! and tool, the largest parts, and how it grew.
//!
//! `msg-document` counts; this file draws.

mod table;

use std::path::PathBuf;

use msg_core::Severity;
use msg_document::{Accept, Format, MediaRates, Stats, StatsOptions, stats};
use msg_session::Dialect;

use super::Command;
use crate::commands::fit::CountArgs;
use crate::context::Context;
use crate::documents::RowArgs;
use crate::documents::{AnswerArgs, Form, Lines};
use crate::exit::{Failure, Status, refuse_if};
use crate::input;
use crate::input::Input;
use crate::jsonl::Answer;
use crate::options::Flags;
use crate::output::{Output, PrettyArgs, end_line, json_line};
use crate::render::Quotes;
use crate::sessions::usage::Used;
use crate::sources::Sources;
use crate::words;

/// Count messages, bytes and tokens by role, section and tool; show the largest parts and the growth.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg stats session.json
  msg stats --budget 128k --svg growth.svg session.json
  msg stats --json --top 0 'logs/*.json'")]
pub(crate) struct Args {
    #[command(flatten)]
    io: AnswerArgs,
    #[command(flatten)]
    rows: RowArgs,
    /// A limit in tokens (k, M), drawn as a line over the growth.
    #[arg(long, value_name = "N", value_parser = words::above_zero)]
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
    pretty: PrettyArgs,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        refuse_if(
            self.budget.is_some() && self.json && self.svg.is_none(),
            "--budget is drawn over the growth: with --json it needs --svg",
        )?;
        self.pretty.expect(self.json, "it needs --json")?;
        self.io.input.sources()?.expect_one("--svg", self.svg.is_some())?;
        let max_bytes = self.io.input.max_bytes();
        let flags = Flags::of(&self.io.input).and(&self.rows).and(&self.count);
        let mut options = flags.options::<StatsOptions>()?.with_top(self.top);
        options.count.tools = self.count.read_tools(max_bytes)?;
        let read = options.read.clone().with_accept(Accept::Json);
        let of_lines = options.clone().with_read(read);
        let lines = |it: Lines<'_>| {
            self.expect_no_picture()?;
            if it.is_row() && !self.json {
                return it.show(|_, row| {
                    let stats = stats(row, &of_lines)?;
                    let text = for_people(&stats, None);
                    Ok(Answer::new(text.into_bytes(), Status::of(stats.messages > 0)))
                });
            }
            it.answer(|line| {
                let stats = stats(line, &of_lines)?;
                Ok(Answer::new(stats.to_json(), Status::of(stats.messages > 0)))
            })
        };
        let one =
            |input, sources: &_, out: &mut _| self.document(cx, input, &options, sources, out);
        self.io.run(cx, (Form::of(self.json), Some(&self.rows)), lines, one)
    }
}

impl Args {
    fn expect_no_picture(&self) -> Result<(), Failure> {
        if self.budget.is_none() && self.svg.is_none() {
            return Ok(());
        }
        let text = "--budget and --svg draw one document; lines are answered in JSON";
        Err(Failure::Usage(text.to_owned()))
    }

    fn document(
        &self,
        cx: &Context,
        mut input: Input,
        options: &StatsOptions,
        sources: &Sources,
        out: &mut Output,
    ) -> Result<Status, Failure> {
        let bytes = input.read_all()?;
        let named = self.io.input.from.and_then(|it| it.name().parse().ok());
        let dialect = named.or_else(|| session_of(&bytes, &input.name));
        let used = dialect.and_then(|it| Used::of(it, &bytes));
        let options = options.clone().for_document(&bytes);
        let read = input::read(cx, bytes, &input.name, &self.io.input);
        let (status, stats) = match read {
            // What it recorded is shown all the same.
            Err(Failure::Document(it))
                if used.is_some() && it.diagnostic.code == "session::no-messages" =>
            {
                if !cx.quiet {
                    let mut found = [it.diagnostic];
                    found[0].severity = Severity::Warning;
                    cx.note(&cx.list(&input.name, &Quotes::default()).findings(&found));
                }
                (Status::Problems, Stats::gather(Vec::new(), &options, MediaRates::default()))
            }
            read => {
                let document = read?;
                let status = input::say_unread(cx, &document, &input.name);
                (status, Stats::of(document, &options))
            }
        };
        if let Some(path) = &self.svg {
            let mut file = Output::file(path, sources)?;
            file.write(table::draw_svg(&stats, self.budget).as_bytes())?;
            file.finish()?;
        }
        let mut text = match self.json {
            true => {
                let json = with_usage(stats.to_json(), used.as_ref());
                self.pretty.laid_out(sources.headed_json(&input.name, json))
            }
            false => {
                let recorded = used.as_ref().map(table::recorded).unwrap_or_default();
                let text = for_people(&stats, self.budget);
                (sources.head(&input.name) + &recorded + &text).into_bytes()
            }
        };
        end_line(&mut text);
        out.write(&text)?;
        Ok(status)
    }
}

/// The agent whose session a document is, if it is one.
fn session_of(bytes: &[u8], name: &str) -> Option<Dialect> {
    let format = Format::recognise(bytes, name).ok().filter(|it| it.is_session())?;
    format.name().parse().ok()
}

/// The JSON form with the recorded usage as its last member.
fn with_usage(mut json: Vec<u8>, used: Option<&Used>) -> Vec<u8> {
    if let Some(used) = used
        && json.pop_if(|it| *it == b'}').is_some()
    {
        json.extend_from_slice(b",\"usage\":");
        json.extend_from_slice(json_line(used).trim_ascii_end());
        json.push(b'}');
    }
    json
}

fn for_people(stats: &Stats, budget: Option<u64>) -> String {
    let table = table::draw(stats);
    let chart = table::draw_chart(&stats.growth, budget);
    format!("{table}\n{chart}")
}
