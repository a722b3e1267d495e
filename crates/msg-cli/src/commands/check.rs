//! `msg check`: every problem of a conversation, in order.
//!
//! Changes nothing, and judges nothing itself: what is wrong says `msg-document`.

mod log;

use msg_core::Diagnostic;
use msg_document::{Accept, CheckOptions, Checked, Document, Refusal, check};
use serde::Serialize;

use self::log::{Log, LogForm};
use super::Command;
use crate::context::Context;
use crate::documents::{AnswerArgs, Form, Lines, RowArgs};
use crate::exit::{Failure, Status};
use crate::input::{Input, Sources};
use crate::jsonl::Answer;
use crate::options::{ChainArgs, Flags, RequestArgs};
use crate::output::{Output, PrettyArgs};
use crate::render::{self, Folding, List, Quotes, plural};
use crate::{input, words};

/// List all problems of a conversation.
///
/// Finds calls without results, results without calls, duplicate ids and roles out of order. With --profile it also
/// reports what that provider refuses, with --messages problems of single messages.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg check session.json
  msg check --profile anthropic --request session.json
  msg check 'logs/**/*.json'                 problems only, and a total
  msg check 'logs/**/*.json' --statistics    how often each problem occurs
  msg check --format github 'logs/*.json'    annotations of a pull request; sarif for code scanning
  msg check data.jsonl                       each line a conversation")]
pub(crate) struct Args {
    #[command(flatten)]
    io: AnswerArgs,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    chain: ChainArgs,
    #[command(flatten)]
    request: RequestArgs,
    #[command(flatten)]
    how: MessageArgs,
    /// Print `{"ok":…,"format":…,"messages":…,"diagnostics":[…]}`; the same as --format json.
    #[arg(help_heading = "Output", long, conflicts_with = "format")]
    json: bool,
    /// The output format [default: text; json for JSON Lines that do not go to a terminal].
    #[arg(help_heading = "Output", long, value_name = "FORM")]
    format: Option<LogForm>,
    /// Print the number of findings by code instead of each finding.
    #[arg(help_heading = "Output", long, conflicts_with_all = ["json", "format"])]
    statistics: bool,
    #[command(flatten)]
    pretty: PrettyArgs,
}

#[derive(Debug, clap::Args, Serialize)]
struct MessageArgs {
    /// Also check each message by itself: roles, empty content, misplaced parts, arguments.
    #[arg(long)]
    messages: bool,
    /// With --messages: report user texts of more than N characters.
    #[arg(long, value_name = "N", requires = "messages", value_parser = words::count)]
    max_chars: Option<usize>,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let is_json = self.json || self.format.is_some_and(LogForm::is_json);
        self.pretty.expect(is_json, "it needs --json")?;
        let options = self.options()?;
        let log = Log::new(self.format, self.statistics);
        let lines = |it: Lines<'_>| {
            if log.gathers() {
                let name = it.name().to_owned();
                return it.show(|number, line| {
                    // A line that cannot be read is a result in the log like any other.
                    let (text, status) = match checked_line(number, line, &options) {
                        Ok(checked) => (log.take(&name, &checked), status(&checked)),
                        Err(it) => {
                            let it = it.at_column_in(line).at_line(number);
                            (log.refuse(&name, it.diagnostic()), Status::Failed)
                        }
                    };
                    Ok(Answer::new(text.into_bytes(), status))
                });
            }
            let is_text = self.format.is_some() || it.out.is_terminal() || it.is_row();
            match !is_json && is_text {
                true => show_lines(cx, it, &options),
                false => it.answer_numbered(|number, line| {
                    let checked = checked_line(number, line, &options)?;
                    log.take("", &checked);
                    Ok(Answer::new(checked.to_json(), status(&checked)))
                }),
            }
        };
        let document = |mut input: Input, sources: &Sources, out: &mut Output| {
            // Some provider rules and all places need the text.
            let mut document = match input::open_to_write(cx, &mut input, &self.io.input) {
                Err(Failure::Document(bad)) if log.gathers() => {
                    out.write(log.refuse(&bad.name, &bad.diagnostic).as_bytes())?;
                    return Ok(Status::Failed);
                }
                opened => opened?,
            };
            document.say_who_made_it(options.read.made_by.as_ref());
            let checked = document.check(&options);
            let text = log.take(&input.name, &checked);
            if is_json {
                let json = sources.headed_json(&input.name, checked.to_json());
                out.write_json(json, &self.pretty)?;
            } else if log.gathers() {
                out.write(text.as_bytes())?;
            } else {
                let is_sound = status(&checked) == Status::Clean && checked.diagnostics.is_empty();
                if is_sound && (cx.quiet || !sources.is_one()) {
                    return Ok(Status::Clean);
                }
                // Each finding names its file.
                if !cx.quiet {
                    out.write_coloured(&sources.head(&input.name))?;
                }
                self.show(cx, &input.name, &document, &checked.diagnostics, out)?;
            }
            Ok(status(&checked))
        };
        let end = |sources: &Sources, out: &mut Output| {
            let total = !is_json && !cx.quiet && !sources.is_one();
            out.write(log.end(total).as_bytes())
        };
        let how = (Form::of(is_json), Some(&self.rows));
        self.io.run_to_end(cx, how, lines, document, end)
    }
}

/// The answer for a line; the places of its findings are the line of the file and the column.
fn checked_line(
    number: Option<u64>,
    line: &[u8],
    options: &CheckOptions,
) -> Result<Checked, Refusal> {
    let mut checked = check(line, options)?;
    // The fast check gives findings without places.
    let has_places = checked.diagnostics.iter().all(|it| it.at.line.is_some());
    if !has_places
        && options.read.fields.is_empty()
        && let Ok(document) = Document::read(line, &options.read)
    {
        document.locate(line, &mut checked.diagnostics);
    }
    if let Some(number) = number.and_then(|it| usize::try_from(it).ok()) {
        checked.diagnostics.iter_mut().for_each(|it| it.at.line = Some(number));
    }
    Ok(checked)
}

/// Shows the lines whose document has problems.
fn show_lines(cx: &Context, lines: Lines<'_>, options: &CheckOptions) -> Result<Status, Failure> {
    let (color, is_row) = (lines.out.has_colour(cx), lines.is_row());
    let name = lines.name().to_owned();
    lines.show(|number, line| {
        let checked = checked_line(number, line, options)?;
        let status = status(&checked);
        if status == Status::Clean && !is_row {
            return Ok(Answer::new(Vec::new(), status));
        }
        let (found, n_folded) = folded(cx, &checked.diagnostics);
        let found = &found[..];
        // Findings are shown with their messages, except for a row.
        let is_quoted = !is_row && !found.is_empty();
        let document = is_quoted.then(|| Document::read(line, &options.read).ok()).flatten();
        let messages = document.as_ref().map_or(&[][..], Document::messages);
        let quotes = Quotes::of(messages, found, cx.folding());
        let mut text = List { color, ..cx.list(&name, &quotes) }.findings(found);
        if is_row {
            let found = match found.is_empty() {
                true => "nothing wrong".to_owned(),
                false => counted(found, n_folded),
            };
            let n = plural(checked.messages, "message");
            text.push_str(&format!("{name}: row with {} messages, {n}, {found}\n", checked.format));
        }
        Ok(Answer::new(text.into_bytes(), status))
    })
}

/// The findings to show: each problem once, or all with `-v`; and the number left out.
fn folded(cx: &Context, found: &[Diagnostic]) -> (Vec<Diagnostic>, usize) {
    match cx.folding() {
        Folding::Each => (found.to_vec(), 0),
        Folding::Alike => render::causes(found),
    }
}

/// `2 errors, 1 warning`, and the number of repeated findings.
fn counted(found: &[Diagnostic], n_folded: usize) -> String {
    let more = match n_folded {
        0 => String::new(),
        n => format!(" ({n} more about the same; -v shows each)"),
    };
    render::count(found) + &more
}

/// A document without messages is never reported as valid.
fn status(checked: &Checked) -> Status {
    Status::of(checked.ok && checked.messages > 0)
}

impl Args {
    fn options(&self) -> Result<CheckOptions, Failure> {
        let flags = Flags::of(&self.io.input)
            .and(&self.rows)
            .and(&self.chain)
            .and(&self.request)
            .and(&self.how);
        let mut options: CheckOptions = flags.options()?;
        options.read.accept = Accept::Json;
        options.profile = self.request.ask(self.chain.profile(self.io.input.max_bytes())?)?;
        Ok(options)
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
        let (found, n_folded) = folded(cx, found);
        let found = &found[..];
        let quotes = Quotes::of(document.messages(), found, cx.folding()).and_lines(
            document.text(),
            found,
            cx.folding(),
        );
        let list = List { color: out.has_colour(cx), ..cx.list(name, &quotes) };
        let mut text = list.findings(found);
        if !cx.quiet {
            text.push_str(&self.conclusion(name, document, (found, n_folded)));
        }
        out.write_coloured(&text)
    }

    /// The closing lines of the text form.
    fn conclusion(
        &self,
        name: &str,
        document: &Document,
        (found, n_folded): (&[Diagnostic], usize),
    ) -> String {
        let head = format!(
            "{name}: {}, {}",
            document.what(),
            plural(document.messages().len(), "message")
        );
        if found.is_empty() {
            return format!("{head}, nothing wrong{}\n", self.what_is_left(document));
        }
        let help = if self.open_would_do(document, found) {
            "help: only calls at the end are unanswered; --open allows them\n".to_owned()
        } else {
            self.what_mends(found)
        };
        format!("{head}, {}\n{help}", counted(found, n_folded))
    }

    /// The commands that repair the findings: a store has another one than messages, and warnings need `--all`.
    fn what_mends(&self, found: &[Diagnostic]) -> String {
        let is_of_store = |it: &&Diagnostic| it.code.as_str().starts_with("session::");
        // A body of another API is converted; its finding says how.
        let is_mended = |it: &&Diagnostic| it.fix.is_some() && it.code != "profile::other-format";
        let (of_store, others): (Vec<_>, Vec<_>) =
            found.iter().filter(is_mended).partition(is_of_store);
        let repair = self.chain.repair_command() + &self.request.command();
        let has_profile = self.chain.has_profile();
        let is_always_mended = |it: &&&Diagnostic| {
            it.is_error() || !has_profile && it.code.as_str().starts_with("chain::")
        };
        let n_always = others.iter().filter(is_always_mended).count();
        let n_all = if others.len() > n_always { others.len() } else { 0 };
        let repair_all = format!("{repair} --all");
        let of_store = ("msg doctor --fix", of_store.len());
        let commands = [(&*repair, n_always), (&*repair_all, n_all), of_store];
        let lines = commands.iter().filter(|it| it.1 > 0).map(|(command, n_mended)| {
            format!("help: `{command}` mends {n_mended} of {}\n", found.len())
        });
        lines.collect()
    }

    /// The part of a request that was not checked.
    fn what_is_left(&self, document: &Document) -> &'static str {
        match document.head() {
            Some(_) if self.request.is_asked() => "",
            Some(_) if self.chain.has_profile() => {
                " (messages only; --request also checks tools and settings)"
            }
            Some(_) => " (messages only; --profile NAME --request also checks tools and settings)",
            None => "",
        }
    }

    /// Whether all errors are unanswered calls at the end (CA-92).
    fn open_would_do(&self, document: &Document, found: &[Diagnostic]) -> bool {
        let open = self.chain.check_options().with_open();
        let is_error = |it: &Diagnostic| it.is_error();
        // The option allows nothing else, so a second check is rarely needed.
        let is_missing = |it: &Diagnostic| it.code.as_str() == "chain::missing-tool-result";
        found.iter().any(is_error)
            && found.iter().filter(|it| it.is_error()).all(is_missing)
            && !msg_chainast::check(document.messages(), None, &open).iter().any(is_error)
    }
}
