//! `msg check`: every problem of a conversation, in order.
//!
//! Changes nothing, and judges nothing itself: what is wrong says `msg-document`.

use msg_core::{Diagnostic, InputRules};
use msg_document::{CheckOptions, Checked, Document, ReadOptions, check};

use super::Command;
use crate::chain_args::{ChainArgs, RequestArgs};
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::formats;
use crate::input::{Input, InputArgs};
use crate::jsonl::{self, Answer, LineArgs};
use crate::output::{Output, OutputArgs, PrettyArgs, end_line};
use crate::render::{self, List, Quotes, plural};
use crate::sizes;

/// Show all problems of a conversation.
///
/// Calls without results, results without calls, ids used twice, roles out of order; with --profile
/// also what that provider rejects, with --messages also what is wrong with single messages.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg check session.json
  msg check --profile anthropic --request session.json
  msg check 'logs/**/*.json' --json
  msg check data.jsonl                       each line a conversation")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    chain: ChainArgs,
    #[command(flatten)]
    request: RequestArgs,
    /// Also check each message by itself: roles, empty content, misplaced parts, arguments.
    #[arg(long)]
    messages: bool,
    /// With --messages: refuse user texts of more than N characters.
    #[arg(long, value_name = "N", requires = "messages", value_parser = sizes::count)]
    max_chars: Option<usize>,
    /// Print `{"ok":…,"format":…,"messages":…,"diagnostics":[…]}` instead of text.
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
        self.pretty.expect(self.json, "it needs --json")?;
        let options = self.options()?;
        let sources = self.input.sources()?;
        let mut out = self.output.open(&sources)?;
        let status = sources.each(cx, |mut input| {
            let is_lines = self.input.is_lines(cx, &mut input, &self.lines)?;
            let named = |it: &Checked, name: &str| sources.headed_json(name, it.to_json());
            if is_lines && out.is_terminal() && !self.json {
                return self.show_lines(cx, input, &options, &mut out);
            }
            if is_lines {
                let name = input.name.clone();
                let job = |line: &[u8]| {
                    let checked = check(line, &options)?;
                    Ok(Answer::new(named(&checked, &name), status(&checked)))
                };
                return jsonl::run(cx, &self.lines, input, &mut out, None, job);
            }
            let mut document = formats::open(cx, &mut input, &self.input)?;
            document.say_who_made_it(options.read.made_by.as_ref());
            let checked = document.check(&options);
            if self.json {
                let mut json = self.pretty.laid_out(named(&checked, &input.name));
                end_line(&mut json);
                out.write(&json)?;
            } else {
                out.write_coloured(&sources.head(&input.name))?;
                self.show(cx, &input.name, &document, &checked.diagnostics, &mut out)?;
            }
            Ok(status(&checked))
        })?;
        out.finish()?;
        Ok(status)
    }
}

/// Nothing is never nothing wrong.
fn status(checked: &Checked) -> Status {
    Status::of(checked.ok && checked.messages > 0)
}

impl Args {
    fn options(&self) -> Result<CheckOptions, Failure> {
        Ok(CheckOptions {
            read: ReadOptions { made_by: self.request.maker(), ..self.input.of_a_line() },
            profile: self.request.ask(self.chain.profile(self.input.max_bytes())?)?,
            chain: msg_chainast::CheckOptions {
                request: self.request.is_request(),
                ..self.chain.check_options()
            },
            messages: self.messages.then(|| match self.max_chars {
                Some(max_chars) => InputRules { max_chars },
                None => InputRules::unlimited(),
            }),
        })
    }

    /// The lines of a document each that are not sound, for people.
    fn show_lines(
        &self,
        cx: &Context,
        input: Input,
        options: &CheckOptions,
        out: &mut Output,
    ) -> Result<Status, Failure> {
        let color = out.has_colour(cx);
        jsonl::run_for_people(cx, &self.lines, input, out, |name, line| {
            let mut document = Document::read(line, &options.read)?;
            document.say_who_made_it(options.read.made_by.as_ref());
            let checked = document.check(options);
            let status = status(&checked);
            if status == Status::Clean {
                return Ok(Answer::new(Vec::new(), status));
            }
            let found = &checked.diagnostics;
            let quotes = Quotes::of(document.messages(), found, cx.folding());
            let text = List { color, ..cx.list(name, &quotes) }.findings(found);
            Ok(Answer::new(text.into_bytes(), status))
        })
    }

    /// The text form.
    fn show(
        &self,
        cx: &Context,
        name: &str,
        document: &Document,
        found: &[Diagnostic],
        out: &mut Output,
    ) -> Result<(), Failure> {
        let quotes = Quotes::of(document.messages(), found, cx.folding()).and_lines(
            document.text(),
            found,
            cx.folding(),
        );
        let list = List { color: out.has_colour(cx), ..cx.list(name, &quotes) };
        let mut text = list.findings(found);
        text.push_str(&self.conclusion(name, document, found));
        out.write_coloured(&text)
    }

    /// The closing lines of the text form.
    fn conclusion(&self, name: &str, document: &Document, found: &[Diagnostic]) -> String {
        let head = format!("{name}: {}", plural(document.messages().len(), "message"));
        if found.is_empty() {
            return format!("{head}, nothing wrong\n");
        }
        let fixable = found.iter().filter(|it| it.fix.is_some()).count();
        let help = if self.open_would_do(document, found) {
            "help: only calls at the end are unanswered; --open allows them\n".to_owned()
        } else if fixable > 0 {
            let (repair, request) = (self.chain.repair_command(), self.request.command());
            format!("help: `{repair}{request}` mends {fixable} of {}\n", found.len())
        } else {
            String::new()
        };
        format!("{head}, {}\n{help}", render::count(found))
    }

    /// Whether all errors are calls at the end that nobody has answered yet (CA-92).
    fn open_would_do(&self, document: &Document, found: &[Diagnostic]) -> bool {
        let open = self.chain.check_options().with_open();
        let is_error = |it: &Diagnostic| it.is_error();
        // Nothing else is allowed by it, so that hardly ever a second check is made.
        let is_missing = |it: &Diagnostic| it.code.as_str() == "chain::missing-tool-result";
        found.iter().any(is_error)
            && found.iter().filter(|it| it.is_error()).all(is_missing)
            && !msg_chainast::check(document.messages(), None, &open).iter().any(is_error)
    }
}
