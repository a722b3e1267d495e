//! `msg convert`: a conversation from one format into another.
//!
//! What the other format cannot hold is reported, never silently lost; both are the libraries' work.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use msg_document::{Carry, ConvertOptions, Converted, Format, convert};

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
/// From a format to itself the JSON value stays the same, order of members and spelling of numbers
/// included; only `human` and `ai` are written `user` and `assistant` (reported), duplicate members
/// once, and halves of characters as U+FFFD. Of a request the conversation is converted: what stays
/// behind is named, --request takes it along.
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
    /// Carry the whole request (tools, limits, temperature …), not only its conversation.
    #[arg(long)]
    request: bool,
    /// With --request: the model to ask; the name in the input is of another provider.
    #[arg(long, value_name = "NAME", requires = "request")]
    model: Option<String>,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    report: ReportArgs,
}

#[derive(Debug, Clone, clap::Args)]
struct SessionArgs {
    /// To an agent's session: whether system texts and context that an agent injected go along: keep or drop.
    #[arg(long, value_name = "WHAT", value_parser = ["keep", "drop"])]
    context: Option<String>,
    /// To an agent's session: the folder that it works in.
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<String>,
    /// To an agent's session: its id.
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,
    /// Replace secrets in the output by `[redacted:RULE]`.
    #[arg(long)]
    redact: bool,
}

impl SessionArgs {
    fn options(&self) -> msg_session::WriteOptions {
        let mut res = msg_session::WriteOptions::default().with_now(crate::clock::now());
        if self.context.as_deref() == Some("keep") {
            res.context = msg_session::Context::Keep;
        }
        if let Some(cwd) = &self.cwd {
            res.cwd.clone_from(cwd);
        }
        if let Some(id) = &self.session_id {
            res.session_id.clone_from(id);
        }
        res
    }

    /// The output without secrets, if they are to be replaced (SE-96).
    fn redacted(&self, cx: &Context, text: Vec<u8>) -> Vec<u8> {
        if !self.redact {
            return text;
        }
        let (text, count) = crate::redact::text(&String::from_utf8_lossy(&text));
        cx.summary(|| format!("{count} secrets replaced"), Status::of(count == 0));
        text.into_bytes()
    }
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let mut options = self.options()?;
        options.write.session = self.session.options();
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
            let stayed = Mutex::new(BTreeSet::new());
            let status = jsonl::run(cx, &self.lines, input, out, report, |line| {
                let Converted { document, edits, left_behind } = convert(line, to, &options)?;
                if !left_behind.is_empty() {
                    stayed.lock().unwrap_or_else(PoisonError::into_inner).extend(left_behind);
                }
                let json = self.session.redacted(cx, document);
                Ok(Answer { json, edits, status: Status::Clean })
            })?;
            let stayed = stayed.into_inner().unwrap_or_else(PoisonError::into_inner);
            say_left_behind(cx, &stayed.into_iter().collect::<Vec<_>>());
            return Ok(status);
        }
        let bytes = input.read_all()?;
        let mut document = formats::read_unlowered(cx, bytes, &input.name, &self.input)?;
        let converted = document.convert(to, &options);
        let converted = converted.map_err(|it| Failure::refused(it, &input.name))?;
        let Converted { document: mut text, edits, left_behind } = converted;
        end_line(&mut text);
        let text = self.session.redacted(cx, text);
        out.write(&text)?;
        out.finish()?;
        if let Some(mut report) = report {
            report.write(&jsonl::report_line(&edits))?;
            report.finish()?;
        } else if !cx.quiet && !edits.is_empty() {
            // About turns the positions are those of the turns, which have no messages to quote.
            let quotes = match document.format().name() {
                "turns" => Quotes::default(),
                _ => Quotes::of(document.messages(), &edits, cx.folding())
                    .and_lines(document.text(), &edits, cx.folding()),
            };
            cx.note(&cx.list(&input.name, &quotes).findings(&edits));
        }
        say_left_behind(cx, &left_behind);
        Ok(Status::Clean)
    }
}

impl Args {
    fn options(&self) -> Result<ConvertOptions, Failure> {
        let options = match &self.options {
            Some(json) => ConvertOptions::default().with(json.as_bytes()),
            None => Ok(ConvertOptions::default()),
        };
        let options = options.map_err(|it| Failure::Usage(it.to_string()))?;
        let carry = match self.request {
            true => Carry::Request { model: self.model.clone() },
            false => Carry::Conversation,
        };
        Ok(options.with_carry(carry))
    }
}

/// Members that are no part of the messages are no part of the report either (AN-21).
fn say_left_behind(cx: &Context, names: &[String]) {
    if names.is_empty() || cx.quiet {
        return;
    }
    let names = names.join(", ");
    cx.note(&format!("msg: these members stay behind (--request carries a request): {names}\n"));
}
