//! Removes messages from a document, with the options of LangChain's functions of these names. `msg trim` keeps the
//! first or last messages that fit, without summaries; `msg filter` those with given roles, names or tools, or in a
//! range. The document is written in its own format. `msg cut-points` lists where a conversation may be cut (CA-65).
//!
//! `msg-document` and `msg-chainast` decide where to cut.

use std::{
    fmt::Write as _,
    sync::{Mutex, PoisonError},
};

use msg_chainast::{ChainAst, ChainCheckOptions, CutPoint, ParseError, Profile};
use msg_core::{Code, Diagnostic, Message};
use msg_document::{
    Counter, Document, FilterOptions, ObjectWriter, Refusal, Strategy, TrimOptions, without_options,
};
use serde::Serialize;

use super::Command;
use crate::context::Context;
use crate::documents::{AnswerArgs, EditArgs, Form, Lines, Opened};
use crate::exit::{Failure, Status, refuse_if};
use crate::jsonl::Answer;
use crate::options::{ChainArgs, Flags};
use crate::output::PrettyArgs;
use crate::render::{Quotes, count, plural};
use crate::{input, words};

/// Cut a conversation to its last or first messages that fit, without summaries.
///
/// The options are those of LangChain's trim_messages; a call keeps its results. If no message fits, nothing is
/// printed and the exit status is 1. With --jsonl a line may bring "options" with the flags below, in
/// snake case.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg trim --max-tokens 4k --include-system --start-on user session.json
  msg trim --max-tokens 4k --strategy first --end-on assistant session.json
  msg trim --max-tokens 500 --allow-partial --counter o200k session.json")]
pub(crate) struct Args {
    #[command(flatten)]
    how: HowArgs,
    #[command(flatten)]
    io: EditArgs,
}

#[derive(Debug, Clone, Default, clap::Args, Serialize)]
#[command(next_help_heading = "How to cut")]
struct HowArgs {
    /// The limit, in tokens (k, M).
    #[arg(long, value_name = "N", value_parser = words::size)]
    max_tokens: Option<u64>,
    /// Which messages stay: the last or the first that fit [default: last].
    #[arg(long, value_name = "WHICH", value_parser = ["last", "first"])]
    strategy: Option<String>,
    /// With strategy last: begin with a message of this role; repeatable.
    #[arg(long, value_name = "ROLE", value_delimiter = ',', value_parser = words::role())]
    start_on: Vec<String>,
    /// End with a message of this role; repeatable.
    #[arg(long, value_name = "ROLE", value_delimiter = ',', value_parser = words::role())]
    end_on: Vec<String>,
    /// With strategy last: keep the system message at the beginning.
    #[arg(long)]
    include_system: bool,
    /// Keep whole lines of the message at the cut if not all of it fits.
    #[arg(long)]
    allow_partial: bool,
    /// How tokens are counted [default: script].
    #[arg(long, value_name = "NAME", value_parser = words::counter())]
    counter: Option<Counter>,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        run(cx, &self.io, |document, line| {
            let options: TrimOptions = Flags::of(&self.how).options_of_line(line)?;
            expect_a_limit(&options)?;
            let before = document.messages().len();
            let tokens = document.trim(&options);
            let after = document.messages().len();
            let is_refused = after == 0 && before > 0;
            let limit = plural(options.max_tokens, "token");
            let said = match is_refused {
                true => format!(
                    "no message fits into {limit}: a larger --max-tokens, or --allow-partial, may"
                ),
                false => format!(
                    "kept {after} of {}, {}",
                    plural(before, "message"),
                    plural(tokens, "token")
                ),
            };
            Ok(Selected { said, status: Status::of(!is_refused), is_refused })
        })
    }
}

fn expect_a_limit(options: &TrimOptions) -> Result<(), Refusal> {
    let is_about_the_start = options.include_system || !options.start_on.is_empty();
    let text = if options.max_tokens == 0 {
        "no limit: set one with --max-tokens N (`max_tokens`)"
    } else if options.strategy == Strategy::First && is_about_the_start {
        "--start-on and --include-system are for strategy last: the first messages stay as they are"
    } else {
        return Ok(());
    };
    Err(Refusal::bad_option(text))
}

// `msg filter`: the messages of some roles, names or tools, or of a range.
//
// `msg-document` decides which messages belong together.

/// Keep some messages: those of a role, a name, a tool or a range.
///
/// A message must match every kind of option given; of a repeated option, one match is enough. A call and its results
/// stay or go together. With --jsonl a line may bring "options" with the flags below, in snake
/// case.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg filter --role user --role assistant session.json
  msg filter --tool bash --not session.json         all but the calls of bash and their results
  msg filter --range 10.. session.json --in-place   drop the first ten messages")]
pub(crate) struct FilterArgs {
    #[command(flatten)]
    what: WhatArgs,
    #[command(flatten)]
    io: EditArgs,
}

#[derive(Debug, Clone, Default, clap::Args, Serialize)]
#[command(next_help_heading = "What stays")]
struct WhatArgs {
    /// Messages of this role: system, developer, user, assistant, tool; repeatable.
    #[arg(long, value_name = "ROLE", value_delimiter = ',', value_parser = words::role())]
    role: Vec<String>,
    /// Messages whose author has this name; repeatable.
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// Messages that call this tool or contain its results; repeatable.
    #[arg(long, value_name = "NAME")]
    tool: Vec<String>,
    /// Messages A to B-1, from 0; either may be left out.
    #[arg(long, value_name = "A..B")]
    range: Option<String>,
    /// All other messages.
    #[arg(long)]
    not: bool,
}

impl Command for FilterArgs {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let options: FilterOptions = Flags::of(&self.what).options()?;
        let is_all = FilterOptions { others: false, ..options.clone() } == FilterOptions::default();
        refuse_if(options.others && is_all, "--not needs --role, --name, --tool or --range")?;
        run(cx, &self.io, |document, line| {
            let options = Flags::of(&self.what).options_of_line(line)?;
            let before = document.messages().len();
            let after = document.filter(&options);
            let said = format!("kept {after} of {}", plural(before, "message"));
            // A file is never emptied; for a pipe, an empty list is a valid answer.
            let is_refused = after == 0 && before > 0 && self.io.output.is_in_place();
            Ok(Selected { said, status: Status::of(!is_refused), is_refused })
        })
    }
}

/// The result for one document.
pub(crate) struct Selected {
    /// A sentence about it for people.
    pub(crate) said: String,
    pub(crate) status: Status,
    /// Whether nothing is written and the file is unchanged.
    pub(crate) is_refused: bool,
}

/// Removes messages from each input with `select`, which also gets the line, for its options.
pub(crate) fn run(
    cx: &Context,
    args: &EditArgs,
    select: impl Fn(&mut Document, &[u8]) -> Result<Selected, Refusal> + Sync,
) -> Result<Status, Failure> {
    let sources = args.sources(None)?;
    let read = args.input.of_a_line();
    let lines = |it: Lines<'_>| {
        let (name, lost) = (it.name().to_owned(), Mutex::new(Lost::default()));
        let status = it.answer_numbered(|number, line| {
            let own = without_options(line);
            let mut document = Document::read(&own, &read)?;
            document.set_source(own.into_owned());
            let status = select(&mut document, line)?.status;
            document.expect_writer()?;
            let text = document.written();
            let of_line = document.lost_by_cut(&text);
            if !of_line.is_empty() {
                lost.lock().unwrap_or_else(PoisonError::into_inner).add(number, of_line);
            }
            Ok(Answer::new(text, status))
        })?;
        let lost = lost.into_inner().unwrap_or_else(PoisonError::into_inner).into_list();
        say(cx, &name, &lost);
        Ok(status)
    };
    let document = |it: Opened<'_>| one(cx, args, it, &select);
    args.run(cx, (&sources, None), (None, None), lines, document)
}

/// How many lost values to report for line input; of the others, only the number.
const SAID: usize = 1000;

/// Values of lines that are left out without being cut.
#[derive(Default)]
struct Lost {
    said: Vec<Diagnostic>,
    more: usize,
}

impl Lost {
    fn add(&mut self, line: Option<u64>, lost: Vec<Diagnostic>) {
        for mut it in lost {
            it.at.line = line.and_then(|it| usize::try_from(it).ok());
            match self.said.len() < SAID {
                true => self.said.push(it),
                false => self.more += 1,
            }
        }
    }

    /// In line order.
    fn into_list(mut self) -> Vec<Diagnostic> {
        self.said.sort_by_key(|it| it.at.line);
        if self.more > 0 {
            let text = format!("{} more values are left out", self.more);
            self.said.push(Diagnostic::warning(Code::new("convert::lost-value"), text));
        }
        self.said
    }
}

fn one(
    cx: &Context,
    args: &EditArgs,
    Opened { mut input, mut out, sources, .. }: Opened<'_>,
    select: &impl Fn(&mut Document, &[u8]) -> Result<Selected, Refusal>,
) -> Result<Status, Failure> {
    let mut document = input::open_to_write(cx, &mut input, &args.input)?;
    let is_json = document.format().is_json();
    args.pretty.expect(is_json, "a message file is none")?;
    if document.format().is_session() {
        out.replaces_a_session();
    }
    let status = input::say_unread(cx, &document, &input.name);
    let selected = select(&mut document, b"");
    let selected = selected.and_then(|it| document.expect_writer().map(|()| it));
    let selected = selected.map_err(|it| Failure::refused(it, &input.name))?;
    let status = selected.status.max(status);
    if !cx.quiet || selected.is_refused {
        let name = if sources.is_one() { String::new() } else { format!("{}: ", input.name) };
        cx.note(&format!("{name}{}\n", selected.said));
    }
    if selected.is_refused {
        return Ok(status);
    }
    let text = document.written();
    let lost = document.lost_by_cut(&text);
    say(cx, &input.name, &lost);
    out.write_document(&if is_json { args.pretty.laid_out(text) } else { text })?;
    args.output.finish(cx, out)?;
    Ok(status)
}

/// Reports what is left out.
fn say(cx: &Context, name: &str, left_out: &[Diagnostic]) {
    if !cx.quiet {
        cx.note(&cx.list(name, &Quotes::default()).edits(left_out));
    }
}

/// List the places where a conversation may be cut.
///
/// The messages after a cut are a valid chain, with --profile one that the provider accepts; the system message stays
/// in front. A cut that splits the current turn loses its signed reasoning. The exit status is 1 if the messages are
/// not a valid chain.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg cut-points session.json
  msg cut-points --profile anthropic --json session.json")]
pub(crate) struct CutPointsArgs {
    #[command(flatten)]
    io: AnswerArgs,
    #[command(flatten)]
    chain: ChainArgs,
    /// Print `{"cut_points":[{"message","section","pair","splits_turn"}]}` instead of text.
    #[arg(help_heading = "Output", long)]
    json: bool,
    #[command(flatten)]
    pretty: PrettyArgs,
}

/// The JSON form of a place; `pair` is null before a section.
#[derive(Serialize)]
struct Point {
    message: usize,
    section: usize,
    pair: Option<usize>,
    splits_turn: bool,
}

impl Point {
    fn of(it: CutPoint, document: &Document) -> Self {
        Point {
            message: document.place(it.message_index()),
            section: it.section(),
            pair: it.pair(),
            splits_turn: it.splits_turn(),
        }
    }
}

/// The places, or why the messages are not a valid chain.
type Found = Result<Vec<Point>, Vec<Diagnostic>>;

impl Command for CutPointsArgs {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        self.pretty.expect(self.json, "it needs --json")?;
        let profile = self.chain.profile(self.io.input.max_bytes())?;
        let read = self.io.input.of_a_line();
        let lines = |it: Lines<'_>| {
            it.answer(|line| {
                let found = self.find(Document::read(line, &read)?, profile.as_ref());
                Ok(Answer::new(to_json(&found), Status::of(found.is_ok())))
            })
        };
        self.io.run(cx, (Form::of(self.json), None), lines, |mut input, sources, out| {
            let document = input::open(cx, &mut input, &self.io.input)?;
            let status = input::say_unread(cx, &document, &input.name);
            let messages = document.messages().to_vec();
            let found = self.find(document, profile.as_ref());
            let status = status.max(Status::of(found.is_ok()));
            if self.json {
                let json = sources.headed_json(&input.name, to_json(&found));
                out.write_json(json, &self.pretty)?;
                return Ok(status);
            }
            match &found {
                Ok(points) => {
                    out.write((sources.head(&input.name) + &for_people(points)).as_bytes())?;
                }
                Err(found) => no_chain(cx, &input.name, &messages, found),
            }
            Ok(status)
        })
    }
}

/// Says why the messages are not a valid chain.
fn no_chain(cx: &Context, name: &str, messages: &[Message], found: &[Diagnostic]) {
    cx.note(&cx.list(name, &Quotes::of(messages, found, cx.folding())).findings(found));
    let help = "help: `msg repair` mends the chain, --open allows unanswered calls at the end";
    cx.note(&format!("{name}: no chain, {}\n{help}\n", count(found)));
}

impl CutPointsArgs {
    fn find(&self, mut document: Document, profile: Option<&Profile>) -> Found {
        let messages = document.take_for_tree();
        let open = self.chain.check_options();
        let chain = if self.chain.open {
            ChainAst::parse_open(messages)
        } else {
            ChainAst::parse(messages)
        };
        match chain {
            Ok(chain) => Ok(chain.cut_points(profile).map(|it| Point::of(it, &document)).collect()),
            Err(error) => {
                let mut found = errors(error, &open);
                found.iter_mut().for_each(|it| document.place_finding(it));
                Err(found)
            }
        }
    }
}

fn errors(error: ParseError, options: &ChainCheckOptions) -> Vec<Diagnostic> {
    let found = error.diagnostics().to_vec();
    match found.is_empty() {
        true => msg_chainast::check(&error.into_messages(), None, options),
        false => found,
    }
}

fn to_json(found: &Found) -> Vec<u8> {
    match found {
        Ok(points) => ObjectWriter::new().with("cut_points", points).finish(),
        Err(found) => {
            ObjectWriter::new().with("cut_points", &[(); 0]).with("diagnostics", found).finish()
        }
    }
}

fn for_people(points: &[Point]) -> String {
    let mut res = String::new();
    for it in points {
        let pair = it.pair.map_or_else(String::new, |it| format!(", pair {it}"));
        let splits = if it.splits_turn { ", splits the current turn" } else { "" };
        let _ =
            writeln!(res, "before message {}: section {}{pair}{splits}", it.message, it.section);
    }
    let _ = writeln!(res, "{}", plural(points.len(), "cut point"));
    res
}
