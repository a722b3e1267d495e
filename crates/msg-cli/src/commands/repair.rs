//! `msg repair`: the mended conversation, in the format it came in, and what was changed.
//!
//! `msg-chainast` decides what is repaired and how; this file contains no such decision.

use msg_core::{Diagnostic, Message};
use msg_document::{
    Accept, Document, ReadOptions, RepairOptions, Repaired, losses_as_errors, repair,
};

use super::Command;
use crate::context::Context;
use crate::documents::{EditArgs, Lines, Opened, RowArgs};
use crate::exit::{Failure, Status};
use crate::input;
use crate::jsonl::{self, Answer};
use crate::options::{ChainArgs, Flags, RepairArgs, RequestArgs};
use crate::output::ReportArgs;
use crate::render::{Quotes, plural};

/// Repair a conversation with the smallest edits, and list them.
///
/// Prints the repaired conversation in its own format, and the edits on standard error or in --report. Bytes
/// that no edit names stay the same. Exits with status 1 if errors remain, and lists them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg repair session.json -o mended.json
  msg repair --profile mistral *.json --in-place
  msg repair --jsonl --report edits.jsonl < data.jsonl > mended.jsonl")]
pub(crate) struct Args {
    #[command(flatten)]
    io: EditArgs,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    chain: ChainArgs,
    #[command(flatten)]
    repair: RepairArgs,
    #[command(flatten)]
    request: RequestArgs,
    /// Treat losses as errors: exit with status 1.
    #[arg(long)]
    strict: bool,
    /// Print the edits on standard error as one JSON line, `{"edits":[…]}`.
    #[arg(help_heading = "Output", long, conflicts_with_all = ["jsonl", "report"])]
    json: bool,
    #[command(flatten)]
    report: ReportArgs,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let options = self.options()?;
        let sources = self.io.sources(None)?;
        let lines = |it: Lines<'_>| {
            it.answer(|line| {
                let Repaired { document, mut edits, messages, remaining, .. } =
                    repair(line, &options)?;
                let status = Status::of(messages > 0 && remaining.is_empty());
                let status = status.max(self.loss(&mut edits));
                let rewrite = match self.report.is_given() && !edits.is_empty() {
                    true => options.read.from.and_then(|it| it.rewrite(line, &document)),
                    false => None,
                };
                Ok(Answer { edits, remaining, rewrite, ..Answer::new(document, status) })
            })
        };
        let document = |mut it: Opened<'_>| {
            let (text, status) = self.mend(cx, &mut it, &options)?;
            it.out.write_document(&text)?;
            self.io.output.finish(cx, it.out)?;
            Ok(status)
        };
        self.io.run(cx, (&sources, None), (Some(&self.report), Some(&self.rows)), lines, document)
    }
}

impl Args {
    fn options(&self) -> Result<RepairOptions, Failure> {
        let flags = Flags::of(&self.io.input)
            .and(&self.rows)
            .and(&self.chain)
            .and(&self.repair)
            .and(&self.request);
        let mut options: RepairOptions = flags.options()?;
        options.read.accept = Accept::Json;
        options.strict = self.strict;
        if let Some(it) = self.request.ask(self.chain.profile(self.io.input.max_bytes())?)? {
            options.chain = options.chain.with_profile(&it);
        }
        Ok(options)
    }

    /// Losses are errors if requested.
    fn loss(&self, edits: &mut [Diagnostic]) -> Status {
        Status::of(!self.strict || !losses_as_errors(edits))
    }

    /// The repaired document. Its edits have been printed, with what the output lacks of the source.
    fn mend(
        &self,
        cx: &Context,
        Opened { input, out, report, .. }: &mut Opened<'_>,
        options: &RepairOptions,
    ) -> Result<(Vec<u8>, Status), Failure> {
        let (bytes, name) = (input.read_all()?, &input.name);
        let read = self.io.input.of_a_document(name);
        let read = read.with_made_by(options.read.made_by.clone());
        let Repaired { document, format, messages, mut edits, remaining, .. } =
            match repair(&bytes, &options.clone().with_read(read.clone())) {
                Ok(repaired) => repaired,
                Err(it) if it.is_bad_option() => return Err(Failure::refused(it, name)),
                Err(it) => return Err(Failure::document(it, name, bytes)),
            };
        input::say_format(cx, format, name, self.io.input.from);
        self.io.pretty.expect(format.is_json(), "a message file is none")?;
        if format.is_session() {
            out.replaces_a_session();
        }
        let mut status = self.loss(&mut edits).max(Status::of(remaining.is_empty()));
        if messages == 0 {
            status = status.max(input::say_unread(cx, &whole(&bytes, &read, name)?, name));
        }
        let is_said = self.json || report.is_some() || !cx.quiet;
        let is_changed = is_said && !edits.is_empty();
        let rewrite = if is_changed { format.rewrite(&bytes, &document) } else { None };
        let line = || jsonl::report_line(&edits, &[], &remaining, rewrite.as_ref());
        if let Some(report) = report {
            report.write(&line())?;
        } else if self.json {
            cx.note(&String::from_utf8_lossy(&line()));
        } else if !cx.quiet {
            if remaining.is_empty() || !edits.is_empty() {
                explain(edits, (&bytes, &read), name, cx)?;
            }
            if !remaining.is_empty() {
                let read = read.with_from(Some(format));
                // If it cannot be read again, the output itself is what remains.
                let mended = Document::read(&document, &read).ok();
                let messages = mended.as_ref().map(Document::messages).unwrap_or_default();
                explain_remaining(&remaining, messages, name, cx);
            }
            if let Some(rewrite) = rewrite {
                cx.note(&format!("{name}: prompt cache: {rewrite}\n"));
            }
        }
        Ok((if format.is_json() { self.io.pretty.laid_out(document) } else { document }, status))
    }
}

/// A document that was read before, with its messages, which the text output quotes.
fn whole(bytes: &[u8], read: &ReadOptions, name: &str) -> Result<Document, Failure> {
    Document::read(bytes, read).map_err(|it| Failure::document(it, name, bytes.to_vec()))
}

/// Lists the errors that remain in the repaired document.
fn explain_remaining(remaining: &[Diagnostic], messages: &[Message], name: &str, cx: &Context) {
    let quotes = Quotes::of(messages, remaining, cx.folding());
    cx.note(&cx.list(name, &quotes).findings(remaining));
    let left = plural(remaining.len(), "error");
    let verb = if remaining.len() == 1 { "remains" } else { "remain" };
    cx.note(&format!("{name}: {left} {verb} that cannot be mended automatically\n"));
}

/// The edits, each with the role of its message and its place in the source.
fn explain(
    mut edits: Vec<Diagnostic>,
    (bytes, read): (&[u8], &ReadOptions),
    name: &str,
    cx: &Context,
) -> Result<(), Failure> {
    if edits.is_empty() {
        cx.note(&format!("{name}: nothing to mend\n"));
        return Ok(());
    }
    let document = whole(bytes, read, name)?;
    document.locate(bytes, &mut edits);
    cx.note(&cx.list(name, &Quotes::roles(document.messages())).edits(&edits));
    cx.note(&format!("{name}: {}\n", plural(edits.len(), "edit")));
    Ok(())
}
