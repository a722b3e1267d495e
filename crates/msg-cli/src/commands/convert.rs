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
use crate::output::{end_line, OutputArgs, ReportArgs};
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
        let options = options.map_err(|it| Failure::Usage(it.message().into_owned()))?;
        let (named, to) = (self.input.from, self.to);
        if self.lines.jsonl && (named == Some(Format::Msgmd) || to == Format::Msgmd) {
            let text = "a message file has many lines: --jsonl takes and gives JSON formats";
            return Err(Failure::Usage(text.to_owned()));
        }
        let mut input = self.input.open()?;
        let mut out = self.output.open(&input)?;
        let report = self.report.open(&input, &out)?;
        if self.lines.jsonl {
            return jsonl::run(cx, &self.lines, input, out, report, move |line| {
                let format = named.unwrap_or_else(|| Format::recognise(line, ""));
                let mut document = Document::read_line(format, line)?;
                let mut json = Vec::with_capacity(line.len());
                let edits = convert(&mut document, to, &options, &mut json)?;
                Ok(Answer { json, edits, status: Status::Clean })
            });
        }
        let bytes = input.read_all()?;
        let format = cx.format(named, &bytes, &input.name);
        let mut document = match Document::read_as(format, &bytes, &input.name) {
            Ok(document) => document,
            Err(error) => return Err(Failure::document(*error, &input.name, bytes)),
        };
        // From here on only the messages take memory.
        drop(bytes);
        let mut text = Vec::new();
        let edits = convert(&mut document, to, &options, &mut text);
        let edits = edits.map_err(|it| Failure::Usage(it.message().into_owned()))?;
        end_line(&mut text);
        out.write(&text)?;
        out.finish()?;
        if let Some(mut report) = report {
            report.write(&jsonl::report_line(&edits))?;
            report.finish()?;
        } else if !cx.quiet && !edits.is_empty() {
            // About turns the positions are those of the turns, which have no messages to quote.
            let quotes = match document.format() {
                Format::Turns => Quotes::default(),
                _ => Quotes::of(document.messages(), &edits).and_lines(document.text(), &edits),
            };
            cx.note(&render::diagnostics(&edits, &input.name, &quotes, cx.color_err));
        }
        Ok(Status::Clean)
    }
}

/// Writes the document in `to` and returns what was lost or changed, the reader's notes first.
/// Fails only for the options of a document of turns.
fn convert(
    document: &mut Document,
    to: Format,
    options: &ConvertOptions,
    out: &mut Vec<u8>,
) -> Result<Vec<Diagnostic>, Box<Diagnostic>> {
    let own = document.own_options().map(|it| options.clone().with(it.text().as_bytes()));
    let own = own.transpose()?;
    let options = own.as_ref().unwrap_or(options);
    let mut edits = std::mem::take(&mut document.notes);
    if to != document.format() {
        edits.extend(document.lower(&options.lower));
    }
    let mut report = Report::default();
    document.convert(to, &options.write, out, &mut report);
    edits.extend(report.into_vec());
    Ok(edits)
}
