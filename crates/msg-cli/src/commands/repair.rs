//! `msg repair`: the mended conversation, in the format it came in, and what was changed.
//!
//! What is mended, and how, is `msg-chainast`'s business; nothing here decides anything.

use msg_core::Diagnostic;
use msg_document::{ReadOptions, RepairOptions, Repaired, WriteOptions, repair};

use super::Command;
use crate::chain_args::{ChainArgs, RepairArgs, RequestArgs};
use crate::cli::Context;
use crate::exit::{Failure, Status};
use crate::formats;
use crate::input::InputArgs;
use crate::jsonl::{self, Answer, LineArgs};
use crate::output::{end_line, Output, OutputArgs, ReportArgs};
use crate::render::{Quotes, plural};

/// Mend a conversation with the smallest edits, and say which.
///
/// The mended conversation goes to standard output in the format it came in, the list of edits to
/// standard error or --report. What is sound stays as it is, byte for byte.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    chain: ChainArgs,
    #[command(flatten)]
    repair: RepairArgs,
    #[command(flatten)]
    request: RequestArgs,
    /// List the edits on standard error as a line of JSON, `{"edits":[…]}`.
    #[arg(long, conflicts_with_all = ["jsonl", "report"])]
    json: bool,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    report: ReportArgs,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let profile = self.request.ask(self.chain.profile()?)?;
        let mut chain = self.repair.options(&self.chain, profile.as_ref())?;
        chain.check.request = self.request.is_request();
        let made_by = self.request.maker();
        let mut input = self.input.open()?;
        let mut out = self.output.open(&input)?;
        let mut report = self.report.open(&input, &out)?;
        if self.lines.jsonl {
            let read = ReadOptions { made_by, ..self.input.of_a_line() };
            let options = RepairOptions { read, chain };
            return jsonl::run(cx, &self.lines, input, out, report, move |line| {
                let Repaired { document, edits, messages, .. } = repair(line, &options)?;
                Ok(Answer { json: document, edits, status: Status::of(messages > 0) })
            });
        }
        let mut document = formats::open(cx, &mut input, &self.input)?;
        document.say_who_made_it(made_by.as_ref());
        let status = formats::emptiness(cx, &document, &input.name);
        // Edits name the roles of the messages that they touch; only people need that.
        let quotes = match self.json || cx.quiet {
            true => Quotes::default(),
            false => Quotes::roles(document.messages()),
        };
        let edits = document.repair(&RepairOptions { chain, ..RepairOptions::default() });
        // Said before the document is written, so that a long list of edits and a long document
        // are not in memory at once.
        if let Some(report) = &mut report {
            report.write(&jsonl::report_line(&edits))?;
        } else if self.json {
            cx.note(&String::from_utf8_lossy(&jsonl::report_line(&edits)));
        } else if !cx.quiet {
            explain(&edits, &input.name, &quotes, cx);
        }
        drop((edits, quotes));
        let mut text = Vec::new();
        document.write(&WriteOptions::default(), &mut text);
        end_line(&mut text);
        out.write(&text)?;
        out.finish()?;
        report.map_or(Ok(()), Output::finish)?;
        self.output.say_written(cx);
        Ok(status)
    }
}

fn explain(edits: &[Diagnostic], name: &str, quotes: &Quotes, cx: &Context) {
    cx.note(&cx.list(name, quotes).edits(edits));
    cx.note(&match edits.len() {
        0 => format!("{name}: nothing to mend\n"),
        n => format!("{name}: {}\n", plural(n, "edit")),
    });
}
