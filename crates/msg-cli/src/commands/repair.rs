//! `msg repair`: the mended conversation, in the format it came in, and what was changed.
//!
//! What is mended, and how, is `msg-chainast`'s business; nothing here decides anything.

use msg_core::Diagnostic;
use msg_document::{Accept, Document, RepairOptions, Repaired, losses_as_errors, repair};

use super::Command;
use crate::chain_args::{ChainArgs, RepairArgs, RequestArgs};
use crate::context::Context;
use crate::documents::RowArgs;
use crate::documents::{EditArgs, Lines, Opened};
use crate::exit::{Failure, Status};
use crate::input;
use crate::jsonl::{self, Answer};
use crate::options::Flags;
use crate::output::ReportArgs;
use crate::render::{Quotes, plural};

/// Mend a conversation with the smallest edits, and list them.
///
/// Prints the mended conversation in its own format, and the list of edits on standard error or to
/// --report. Sound parts keep their bytes. Exits with status 1 if errors remain, which are listed.
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
    #[arg(long, conflicts_with_all = ["jsonl", "report"])]
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

    /// What is lost is an error where that was asked.
    fn loss(&self, edits: &mut [Diagnostic]) -> Status {
        Status::of(!self.strict || !losses_as_errors(edits))
    }

    /// The mended document. What was changed has been said then, and what of the source is not in it.
    fn mend(
        &self,
        cx: &Context,
        Opened { input, out, report, .. }: &mut Opened<'_>,
        options: &RepairOptions,
    ) -> Result<(Vec<u8>, Status), Failure> {
        let mut document = input::open_to_write(cx, input, &self.io.input)?;
        let is_json = document.format().is_json();
        self.io.pretty.expect(is_json, "a message file is none")?;
        if document.format().is_session() {
            out.replaces_a_session();
        }
        document.say_who_made_it(options.read.made_by.as_ref());
        let status = input::emptiness(cx, &document, &input.name);
        // Edits name the roles of the messages that they touch; only people need that.
        let quotes = match self.json || cx.quiet || report.is_some() {
            true => Quotes::default(),
            false => Quotes::roles(document.messages()),
        };
        let mut edits = document.repair(options);
        document.expect_writer().map_err(|it| Failure::refused(it, &input.name))?;
        let remaining = document.remaining(options);
        let status = status.max(Status::of(remaining.is_empty()));
        let unchanged = document.source().filter(|_| edits.is_empty()).map(<[u8]>::to_vec);
        let text = unchanged.unwrap_or_else(|| document.written());
        if !edits.is_empty() {
            edits.extend(document.lost(&text, &edits));
        }
        let status = status.max(self.loss(&mut edits));
        let is_said = self.json || report.is_some() || !cx.quiet;
        let rewrite = if is_said && !edits.is_empty() { document.rewrite(&text) } else { None };
        if let Some(report) = report {
            report.write(&jsonl::report_line(&edits, &[], &remaining, rewrite.as_ref()))?;
        } else if self.json {
            cx.note(&String::from_utf8_lossy(&jsonl::report_line(
                &edits,
                &[],
                &remaining,
                rewrite.as_ref(),
            )));
        } else if !cx.quiet {
            if remaining.is_empty() || !edits.is_empty() {
                explain(&document.located(&edits), &input.name, &quotes, cx);
            }
            explain_remaining(&remaining, &document, &input.name, cx);
            if let Some(rewrite) = rewrite {
                cx.note(&format!("{}: prompt cache: {rewrite}\n", input.name));
            }
        }
        Ok((if is_json { self.io.pretty.laid_out(text) } else { text }, status))
    }
}

/// The errors that stay.
fn explain_remaining(remaining: &[Diagnostic], document: &Document, name: &str, cx: &Context) {
    if remaining.is_empty() {
        return;
    }
    let quotes = Quotes::of(document.messages(), remaining, cx.folding());
    cx.note(&cx.list(name, &quotes).findings(remaining));
    let left = plural(remaining.len(), "error");
    let verb = if remaining.len() == 1 { "remains" } else { "remain" };
    cx.note(&format!("{name}: {left} {verb} that cannot be mended automatically\n"));
}

fn explain(edits: &[Diagnostic], name: &str, quotes: &Quotes, cx: &Context) {
    cx.note(&cx.list(name, quotes).edits(edits));
    cx.note(&match edits.len() {
        0 => format!("{name}: nothing to mend\n"),
        n => format!("{name}: {}\n", plural(n, "edit")),
    });
}
