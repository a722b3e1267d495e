//! `msg convert`: a conversation from one format into another.
//!
//! What the other format cannot hold is reported, never silently lost; both are the libraries' work.

use msg_document::{ConvertOptions, Converted, Format, convert};

use super::Command;
use crate::cli::Context;
use crate::exit::{Failure, Status};
use crate::formats;
use crate::input::InputArgs;
use crate::jsonl::{self, Answer, LineArgs};
use crate::output::{end_line, OutputArgs, ReportArgs};
use crate::render::Quotes;

/// Convert a conversation between formats; what the target cannot hold is reported.
///
/// From a format to itself nothing changes: the same JSON value, order of members and spelling of
/// numbers included.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// The format of the output.
    #[arg(long, value_name = "FORMAT", value_parser = formats::parser())]
    to: Format,
    /// Options of both sides as a JSON object, such as `{"layout":"canonical"}`.
    #[arg(long, value_name = "JSON")]
    options: Option<String>,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    report: ReportArgs,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let options = match &self.options {
            Some(json) => ConvertOptions::default().with(json.as_bytes()),
            None => Ok(ConvertOptions::default()),
        };
        let options = options.map_err(|it| Failure::Usage(it.to_string()))?;
        let (named, to) = (self.input.from, self.to);
        let is_json = to.is_json() && named.is_none_or(Format::is_json);
        if self.lines.jsonl && !is_json {
            let text = "a message file has many lines: --jsonl takes and gives JSON formats";
            return Err(Failure::Usage(text.to_owned()));
        }
        let mut input = self.input.open()?;
        let mut out = self.output.open(&input)?;
        let report = self.report.open(&input, &out)?;
        if self.lines.jsonl {
            let options = options.with_read(self.input.of_a_line());
            return jsonl::run(cx, &self.lines, input, out, report, move |line| {
                let Converted { document, edits } = convert(line, to, &options)?;
                Ok(Answer { json: document, edits, status: Status::Clean })
            });
        }
        let bytes = input.read_all()?;
        let mut document = formats::read_unlowered(cx, bytes, &input.name, named)?;
        let mut text = Vec::new();
        let edits = document.convert(to, &options, &mut text);
        let edits = edits.map_err(|it| Failure::Usage(it.to_string()))?;
        end_line(&mut text);
        out.write(&text)?;
        out.finish()?;
        if let Some(mut report) = report {
            report.write(&jsonl::report_line(&edits))?;
            report.finish()?;
        } else if !cx.quiet && !edits.is_empty() {
            // About turns the positions are those of the turns, which have no messages to quote.
            let quotes = match document.format().name() {
                "turns" => Quotes::default(),
                _ => Quotes::of(document.messages(), &edits).and_lines(document.text(), &edits),
            };
            cx.note(&cx.list(&input.name, &quotes).findings(&edits));
        }
        Ok(Status::Clean)
    }
}
