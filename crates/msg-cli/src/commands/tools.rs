//! `msg tools`: model text in; thinking, text and tool calls out. And the way back: calls, results and the
//! instructions that teach a model the format.
//!
//! Reading and writing are `msg-document`'s; here are the flags and the text for people.

mod options;
mod outline;

use std::path::PathBuf;

use msg_core::Diagnostic;
use msg_document::{Format, Segmented, tools};
use msg_xml::{Dialects, ParseOptions};

use crate::commands::Command;
use crate::context::Context;
use crate::exit::{Failure, Status, refuse_if};
use crate::input::LimitArgs;
use crate::jsonl::{self, Answer, LineArgs};
use crate::output::{OutputArgs, PrettyArgs};
use crate::render;
use crate::sources::Sources;

/// Read model text: thinking, text and tool calls
///
/// The input is the text of one assistant message. With --jsonl each line is {"input":TEXT} or {"input_b64":BASE64}
/// with optional "options" (the options below, in snake case) and "stream_splits"; or one of {"call":…}, {"result":…},
/// {"result_text":…} and {"definitions":…}, which are written as text, or read from it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg tools answer.txt
  msg tools --json --schema tools.json answer.txt
  msg tools --dialects harmony answer.txt
  msg tools --dialects hermes,qwen --finish-reason length answer.txt")]
pub(crate) struct Args {
    /// The text: a path, or - for standard input.
    #[arg(value_name = "FILE")]
    input: Option<PathBuf>,
    #[command(flatten)]
    limit: LimitArgs,
    #[command(flatten)]
    read: options::ReadArgs,
    /// The JSON form.
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
        let is_lines = self.lines.asked()?;
        self.pretty.expect(self.json, "it needs --json")?;
        let sources = Sources::find(self.input.as_slice(), self.limit.max_bytes)?;
        let mut input = sources.open_one()?;
        let mut out = self.output.open(&sources)?;
        let base = self.read.load(self.limit.max_bytes, is_lines)?;
        if is_lines {
            input.expect_lines()?;
            let job = |_: u64, line: &[u8]| base.answer_line(line).map(Answer::from);
            let status =
                jsonl::run(cx, &self.lines, input, (&mut out, None), &jsonl::as_it_is, job)?;
            return out.finish().map(|()| status);
        }
        refuse_if(
            base.events && !self.json,
            "--events adds to the JSON form: give --json or --jsonl with it",
        )?;
        let bytes = input.read_all()?;
        say_what_it_is(cx, &input.name, &bytes);
        let res = tools(&bytes, &base);
        let members =
            base.read.schema.as_ref().map_or_else(Vec::new, |schema| res.parsed.check(schema));
        self.print(cx, &input.name, &bytes, res, members, out)
    }
}

/// What is told of foreign syntax is meant for a model; a person is named the option that reads it.
fn name_the_dialect(list: &mut [Diagnostic], bytes: &[u8]) {
    let Some(it) = list.iter_mut().find(|it| it.code.as_str() == "xml::foreign-tool-syntax") else {
        return;
    };
    let reads = |name: &&str| {
        let dialects = Dialects::by_names([*name]).expect("because it is one of the names");
        let read = ParseOptions::new().with_dialects(dialects);
        msg_xml::parse(bytes, None, &read).calls().next().is_some()
    };
    it.fix = Some(match Dialects::NAMES.into_iter().find(reads) {
        Some(name) => format!("this looks like {name}; use `--dialects {name}`").into(),
        None => "use `--dialects all` to read every dialect".into(),
    });
}

/// A conversation is read as one text too, which is seldom what was meant.
fn say_what_it_is(cx: &Context, name: &str, bytes: &[u8]) {
    let is_json =
        bytes.trim_ascii_start().starts_with(b"{") || bytes.trim_ascii_start().starts_with(b"[");
    let Some(format) = Format::recognise(bytes, name).ok().filter(|it| is_json && it.is_json())
    else {
        return;
    };
    if msg_json::validate(&String::from_utf8_lossy(bytes)).is_ok() && !cx.quiet {
        cx.note(&format!(
            "msg: {name} is a conversation ({format}), and is read here as the text of one answer; `msg check --calls xml` reads calls in its messages\n"
        ));
    }
}

impl Args {
    /// `members`, the reports of the schema's separate step, are for people only: `errors` has none of them.
    fn print(
        &self,
        cx: &Context,
        name: &str,
        bytes: &[u8],
        res: Segmented,
        members: Vec<Diagnostic>,
        mut out: crate::output::Output,
    ) -> Result<Status, Failure> {
        if self.json {
            out.write_json(res.to_json(), &self.pretty)?;
        } else {
            out.write(outline::segments(&res.parsed).as_bytes())?;
        }
        out.finish()?;
        let status = Status::of(res.is_clean());
        let mut list = res.parsed.diagnostics;
        list.extend(members);
        name_the_dialect(&mut list, bytes);
        if !self.json && !cx.quiet && !list.is_empty() {
            list.sort_by_key(|it| it.at.start);
            cx.note(&render::in_source(&list, name, bytes, cx.color_err));
        }
        Ok(status)
    }
}
