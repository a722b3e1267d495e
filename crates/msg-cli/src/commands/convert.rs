//! `msg convert`: a conversation from one format into another.
//!
//! What the other format cannot hold is reported, never silently lost; both are the libraries' work.

mod install;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use msg_chainast::Profile;
use msg_core::Diagnostic;
use msg_document::{
    Accept, ConvertOptions, Converted, Document, Format, convert, losses_as_errors,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::Command;
use crate::context::Context;
use crate::documents::{EditArgs, Lines, Opened, RowArgs};
use crate::exit::{Failure, Status, refuse_if};
use crate::input::Input;
use crate::jsonl::{self, Answer};
use crate::options::{Flags, unknown_profile};
use crate::output::{ReportArgs, end_line};
use crate::render::Quotes;
use crate::{input, render, words};

/// Convert a conversation between formats, and report what the target cannot hold.
///
/// Without --request only the conversation is converted, and the other members of the document are listed. A
/// conversion from a format to itself keeps the JSON value, the order of members and the spelling of numbers.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg convert --to anthropic --request --model claude-x --max-tokens 4096 request.json
  msg convert --to msgmd session.json -o talk.msg.md
  msg convert --to codex --cwd . session.jsonl -o rollout.jsonl")]
pub(crate) struct Args {
    #[command(flatten)]
    io: EditArgs,
    #[command(flatten)]
    rows: RowArgs,
    /// The format of the output.
    #[arg(help_heading = "Conversion", long, value_name = "FORMAT", value_parser = input::parser())]
    to: Format,
    /// Options of the reader and the writer as a JSON object, such as `{"layout":"canonical"}`.
    #[arg(help_heading = "Conversion", long, value_name = "JSON")]
    options: Option<String>,
    /// Repair the output for this provider, as `msg repair --profile` does; exit with status 1 if errors remain.
    #[arg(help_heading = "Conversion", long, value_name = "NAME", value_parser = words::profile(), hide_possible_values = true)]
    profile: Option<String>,
    /// Treat losses as errors: exit with status 1.
    #[arg(help_heading = "Conversion", long)]
    strict: bool,
    #[command(flatten)]
    carry: CarryArgs,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    report: ReportArgs,
}

#[derive(Debug, Clone, clap::Args, Serialize)]
#[command(next_help_heading = "Requests and responses")]
struct CarryArgs {
    /// Convert the whole request (tools, limits, temperature …), not only its conversation.
    #[arg(long)]
    request: bool,
    /// Convert a response into a response, with id, model, stop reason and usage.
    #[arg(long, conflicts_with = "request")]
    response: bool,
    /// With --request: the model to write; the name in the input belongs to another provider.
    #[arg(long, value_name = "NAME", requires = "request")]
    model: Option<String>,
    /// With --request: the token limit of the answer, if the target requires one and the input has none.
    #[arg(long, value_name = "N", requires = "request", value_parser = crate::words::count)]
    max_tokens: Option<usize>,
}

#[derive(Debug, Clone, clap::Args, Serialize)]
#[command(next_help_heading = "Sessions")]
struct SessionArgs {
    /// To an agent's session: keep or drop system texts and context that an agent injected.
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
    #[serde(skip)]
    redact: bool,
    /// From an agent's session: read the branch of this record instead of the one that a resume would take.
    #[arg(long, value_name = "ID", conflicts_with = "jsonl")]
    #[serde(skip)]
    leaf: Option<String>,
    /// To an agent's session: install it where the agent looks for it, and print the command that resumes it.
    #[arg(long, conflicts_with_all = ["jsonl", "output"])]
    #[serde(skip)]
    install: bool,
}

impl SessionArgs {
    /// Refuses options that only apply to agent sessions, for other targets.
    fn expect_session(&self, to: Format) -> Result<(), Failure> {
        let is_session = to.name().parse::<msg_session::Dialect>().is_ok();
        let given = [
            ("--context", self.context.is_some()),
            ("--cwd", self.cwd.is_some()),
            ("--session-id", self.session_id.is_some()),
        ];
        match given.into_iter().find(|it| it.1) {
            Some((flag, _)) if !is_session => {
                Err(Failure::Usage(format!("{flag} applies to agents' sessions only, not to {to}")))
            }
            _ => Ok(()),
        }
    }

    /// The options of these flags and defaults for the rest: the time, and for an installed session its place and id.
    fn complete(&self, mut options: msg_session::WriteOptions) -> msg_session::WriteOptions {
        options = options.with_now(crate::context::now());
        if self.install && self.session_id.is_none() {
            options.session_id = install::new_id();
        }
        if self.install && self.cwd.is_none() {
            let here = std::env::current_dir().unwrap_or_default();
            options.cwd = here.to_string_lossy().into_owned();
        }
        options
    }

    /// The output with secrets replaced, if requested (SE-96).
    fn redacted(&self, cx: &Context, text: Vec<u8>, is_json: bool) -> Vec<u8> {
        if !self.redact {
            return text;
        }
        let text = String::from_utf8_lossy(&text);
        let (text, count) = if is_json { render::json(&text) } else { render::text(&text) };
        cx.summary(|| format!("{count} secrets replaced"), Status::of(count == 0));
        text.into_bytes()
    }
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        cx.redact(self.session.redact);
        self.session.expect_session(self.to)?;
        let options = self.options()?;
        self.io.pretty.expect(self.to.is_json(), "a message file is none")?;
        let sources = self.io.sources(Some(self.to))?;
        let run = Run { cx, args: &self, options, left_behind: Mutex::default() };
        let lines = |it: Lines<'_>| run.lines(it);
        let document = |it: Opened<'_>| run.document(it);
        let to = (&sources, Some(self.to));
        let status =
            self.io.run(cx, to, (Some(&self.report), Some(&self.rows)), lines, document)?;
        let left_behind = run.left_behind.into_inner().unwrap_or_else(PoisonError::into_inner);
        say_left_behind(cx, &left_behind.names);
        Ok(status)
    }
}

/// What all inputs share.
struct Run<'a> {
    cx: &'a Context,
    args: &'a Args,
    options: ConvertOptions,
    /// The members left out, over all inputs.
    left_behind: Mutex<LeftBehind>,
}

/// Names of members, each once, in order of first occurrence.
#[derive(Default)]
struct LeftBehind {
    known: BTreeSet<String>,
    names: Vec<String>,
}

impl Extend<String> for LeftBehind {
    fn extend<I: IntoIterator<Item = String>>(&mut self, names: I) {
        for name in names {
            if self.known.insert(name.clone()) {
                self.names.push(name);
            }
        }
    }
}

impl Run<'_> {
    fn lines(&self, lines: Lines<'_>) -> Result<Status, Failure> {
        let (cx, args) = (self.cx, self.args);
        let from = args.io.input.from;
        refuse_if(
            !args.to.is_json() || from.is_some_and(|it| !it.is_json()),
            "--jsonl reads and writes JSON formats, not message files",
        )?;
        refuse_if(
            args.io.output.is_in_place() && from != Some(args.to),
            format!("--in-place keeps the format: add --from {} for JSON Lines", args.to),
        )?;
        lines.answer(|line| {
            let converted = convert(line, args.to, &self.options)?;
            let Converted { document, edits, left_behind, remaining } = converted;
            // A value over several lines is joined into one; several values do not form one line.
            let is_one = |it: &str| msg_json::validate(it).is_ok();
            if document.trim_ascii().contains(&b'\n')
                && !std::str::from_utf8(&document).is_ok_and(is_one)
            {
                let text =
                    format!("a document of {} is several lines here: convert it alone", args.to);
                return Err(msg_document::Refusal::bad_option(text));
            }
            self.leave_behind(left_behind.clone());
            let json = args.session.redacted(cx, document, true);
            let status = args.status(&edits).max(Status::of(remaining.is_empty()));
            Ok(Answer { edits, left_behind, remaining, ..Answer::new(json, status) })
        })
    }

    fn document(&self, opened: Opened<'_>) -> Result<Status, Failure> {
        let (cx, args) = (self.cx, self.args);
        let Opened { mut input, mut out, report, .. } = opened;
        let (mut document, text) = self.open(&mut input)?;
        let is_same = document.format() == args.to;
        refuse_if(
            args.io.output.is_in_place() && !is_same,
            format!("{} is {}: --in-place keeps the format", input.name, document.format()),
        )?;
        if document.format().is_session() {
            out.replaces_a_session();
        }
        let is_a_session = document.format().is_session() || args.to.is_session();
        // Turns become messages during the conversion.
        let has_none = document.messages().is_empty() && document.format().name() != "turns";
        if is_a_session && !is_same && has_none {
            let text =
                format!("{}: {} without messages: nothing to convert", input.name, document.what());
            return Err(Failure::Refused(text));
        }
        let converted = document.convert(args.to, &self.options);
        let mut converted = converted.map_err(|it| Failure::refused(it, &input.name))?;
        let text = text.as_deref().filter(|_| !is_same);
        if let Some(source) = document.source().or(text) {
            converted.account(source, document.format(), args.to, &self.options);
        }
        let Converted { document: mut text, mut edits, left_behind, remaining } = converted;
        let status = args.status(&edits).max(Status::of(remaining.is_empty()));
        let is_wanted = is_same && (report.is_some() || !self.cx.quiet);
        let rewrite = if is_wanted { document.rewrite(&text) } else { None };
        if !is_same {
            end_line(&mut text);
        }
        let laid_out = args.io.pretty.laid_out(text);
        let text = args.session.redacted(cx, laid_out, args.to.is_json());
        match args.session.install {
            true => {
                out.write(install::put(args.to, &self.options.write.session, &text)?.as_bytes())?;
            }
            false => out.write_document(&text)?,
        }
        if let Some(report) = report {
            let line = jsonl::report_line(&edits, &left_behind, &remaining, rewrite.as_ref());
            report.write(&render::printed(line, args.session.redact, true))?;
        } else {
            edits.extend(remaining);
            self.say(&input.name, &document, &edits);
            if let Some(rewrite) = rewrite.filter(|_| !self.cx.quiet) {
                self.cx.note(&format!("{}: prompt cache: {rewrite}\n", input.name));
            }
        }
        // Members of an agent's records are not part of the conversation, except whole lists and objects.
        let is_of_records = document.format().is_session() && document.format().has_records();
        let mut left_behind = left_behind;
        if is_of_records && !left_behind.is_empty() {
            let source = document.source().unwrap_or_default();
            let body: BTreeMap<String, &RawValue> =
                serde_json::from_slice(source).unwrap_or_default();
            let is_more = |it: &&RawValue| it.get().starts_with(['[', '{']);
            left_behind.retain(|name| body.get(name).is_some_and(is_more));
        }
        self.leave_behind(left_behind);
        args.io.output.finish(cx, out)?;
        Ok(status)
    }

    fn open(&self, input: &mut Input) -> Result<(Document, Option<Vec<u8>>), Failure> {
        let args = &self.args.io.input;
        let Some(leaf) = &self.args.session.leaf else {
            return input::open_unlowered(self.cx, input, args);
        };
        let mut along = args.clone();
        let line = install::along(leaf, input.read_all()?, &input.name, &mut along)?;
        let document = Document::read_unlowered(&line, &along.of_a_document(&input.name));
        let document = document.map_err(|it| Failure::document(it, &input.name, line))?;
        Ok((document, None))
    }

    /// Reports the losses.
    fn say(&self, name: &str, document: &Document, edits: &[Diagnostic]) {
        if self.cx.quiet || edits.is_empty() {
            return;
        }
        // For turns, positions refer to turns, which have no messages to quote.
        let quotes = match document.format().name() {
            "turns" => Quotes::default(),
            // A quote is truncated, and part of a secret would not be recognised.
            _ if self.args.session.redact => {
                Quotes::of(&render::messages(document.messages()), edits, self.cx.folding())
            }
            _ => Quotes::of(document.messages(), edits, self.cx.folding()).and_lines(
                document.text(),
                edits,
                self.cx.folding(),
            ),
        };
        self.cx.note(&self.cx.list(name, &quotes).edits(&document.located(edits)));
    }

    fn leave_behind(&self, names: Vec<String>) {
        if !names.is_empty() {
            self.left_behind.lock().unwrap_or_else(PoisonError::into_inner).extend(names);
        }
    }
}

impl Args {
    /// The status: losses are errors if requested.
    fn status(&self, edits: &[Diagnostic]) -> Status {
        Status::of(!self.strict || !losses_as_errors(&mut edits.to_vec()))
    }

    fn options(&self) -> Result<ConvertOptions, Failure> {
        let flags = Flags::of(&self.io.input).and(&self.rows).and(&self.carry).and(&self.session);
        let mut options: ConvertOptions = flags.options()?;
        options.read.accept = Accept::Json;
        options.strict = self.strict;
        options.profile = match self.profile.as_deref() {
            Some(name) => Some(Profile::named(name).ok_or_else(|| unknown_profile(name))?.clone()),
            None => None,
        };
        options.write.session = self.session.complete(options.write.session);
        let json = self.options.as_deref().unwrap_or("{}");
        options.with(json.as_bytes()).map_err(|it| Failure::Usage(it.to_string()))
    }
}

/// Members that show that a body is a request.
const OF_REQUESTS: [&str; 9] = [
    "generationConfig",
    "inferenceConfig",
    "instructions",
    "max_tokens",
    "model",
    "temperature",
    "toolConfig",
    "tool_choice",
    "tools",
];

/// Reports members outside the messages (AN-21).
fn say_left_behind(cx: &Context, names: &[String]) {
    if names.is_empty() || cx.quiet {
        return;
    }
    let is_request = names.iter().any(|it| OF_REQUESTS.contains(&&**it));
    let way = if is_request { " (--request converts a request)" } else { "" };
    let names = names.join(", ");
    cx.note(&format!("msg: members not converted{way}: {names}\n"));
}
