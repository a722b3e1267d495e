//! `msg convert`: a conversation from one format into another.
//!
//! What the other format cannot hold is reported, never silently lost; both are the libraries' work.

mod options;

use msg_core::{Diagnostic, Report};

use self::options::ConvertOptions;
use super::Command;
use crate::cli::Context;
use crate::document::Document;
use crate::exit::{Failure, Status};
use crate::format::Format;
use crate::input::InputArgs;
use crate::jsonl::{self, Answer, LineArgs};
use crate::output::{OutputArgs, ReportArgs};
use crate::render::{self, Quotes};

/// Convert a conversation between formats; what the target cannot hold is reported.
///
/// From a format to itself nothing changes: the same JSON value, order of members and spelling of
/// numbers included.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// The format of the output.
    #[arg(long, value_name = "FORMAT")]
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
        let options = options.map_err(|it| Failure::Usage(it.message))?;
        let (named, to) = (self.input.from, self.to);
        let mut input = self.input.open()?;
        let mut out = self.output.open(&input)?;
        let report = self.report.open(&input, &out)?;
        if self.lines.jsonl {
            return jsonl::run(cx, &self.lines, input, out, report, move |line| {
                let mut document = Document::read(named, line)?;
                let mut json = Vec::with_capacity(line.len());
                let edits = convert(&mut document, to, &options, &mut json);
                Ok(Answer { json, edits, status: Status::Clean })
            });
        }
        let mut document = Document::open(cx, &mut input, named)?;
        let mut text = Vec::new();
        let edits = convert(&mut document, to, &options, &mut text);
        text.push(b'\n');
        out.write(&text)?;
        out.finish()?;
        if let Some(mut report) = report {
            report.write(&jsonl::report_line(&edits))?;
            report.finish()?;
        } else if !cx.quiet && !edits.is_empty() {
            let quotes = Quotes::of(document.messages(), &edits);
            cx.note(&render::diagnostics(&edits, &input.name, &quotes, cx.color_err));
        }
        Ok(Status::Clean)
    }
}

/// Writes the document in `to` and returns what was lost or changed, the reader's notes first.
fn convert(
    document: &mut Document,
    to: Format,
    options: &ConvertOptions,
    out: &mut Vec<u8>,
) -> Vec<Diagnostic> {
    let mut edits = std::mem::take(&mut document.notes);
    let mut report = Report::default();
    document.convert(to, &options.write, out, &mut report);
    edits.extend(report.into_vec());
    edits
}
