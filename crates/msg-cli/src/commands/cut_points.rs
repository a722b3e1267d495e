//! `msg cut-points`: where a conversation may be cut (CA-65).
//!
//! Where that is says `msg-chainast`.

use std::fmt::Write as _;

use msg_chainast::{ChainAst, CheckOptions, CutPoint, ParseError, Profile};
use msg_core::Diagnostic;
use msg_document::{Document, ObjectWriter};
use serde::Serialize;

use super::Command;
use crate::chain_args::ChainArgs;
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::formats;
use crate::input::InputArgs;
use crate::jsonl::{self, Answer, LineArgs};
use crate::output::{OutputArgs, PrettyArgs, end_line};
use crate::render::{Quotes, count, plural};

/// Show before which messages a conversation may be cut.
///
/// What a cut leaves is a valid chain, and with --profile one that the provider accepts; the system message
/// stays in front. A cut that splits the current turn costs its signed reasoning. Exit status 1 if the
/// messages are no chain.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg cut-points session.json
  msg cut-points --profile anthropic --json session.json")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    chain: ChainArgs,
    /// Print `{"cut_points":[{"message","section","pair","splits_turn"}]}` instead of text.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    output: OutputArgs,
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

/// The places, or why the messages are no chain.
type Found = Result<Vec<Point>, Vec<Diagnostic>>;

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        self.pretty.expect(self.json, "it needs --json")?;
        let profile = self.chain.profile(self.input.max_bytes())?;
        let sources = self.input.sources()?;
        let mut out = self.output.open(&sources)?;
        let read = self.input.of_a_line();
        let status = sources.each(cx, |mut input| {
            let json = |it: &Found, name: &str| sources.headed_json(name, to_json(it));
            if self.input.is_lines(cx, &mut input, &self.lines)? {
                let name = input.name.clone();
                let job = |line: &[u8]| {
                    let found = self.find(Document::read(line, &read)?, profile.as_ref());
                    Ok(Answer::new(json(&found, &name), Status::of(found.is_ok())))
                };
                return jsonl::run(cx, &self.lines, input, &mut out, None, job);
            }
            let document = formats::open(cx, &mut input, &self.input)?;
            let status = formats::emptiness(cx, &document, &input.name);
            let messages = document.messages().to_vec();
            let found = self.find(document, profile.as_ref());
            let status = status.max(Status::of(found.is_ok()));
            if self.json {
                let mut text = self.pretty.laid_out(json(&found, &input.name));
                end_line(&mut text);
                out.write(&text)?;
                return Ok(status);
            }
            match &found {
                Ok(points) => out.write((sources.head(&input.name) + &for_people(points)).as_bytes())?,
                Err(found) => {
                    cx.note(&cx.list(&input.name, &Quotes::of(&messages, found, cx.folding())).findings(found));
                    let help = "help: `msg repair` mends the chain, --open allows unanswered calls at the end";
                    cx.note(&format!("{}: no chain, {}\n{help}\n", input.name, count(found)));
                }
            }
            Ok(status)
        })?;
        out.finish()?;
        Ok(status)
    }
}

impl Args {
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

fn errors(error: ParseError, options: &CheckOptions) -> Vec<Diagnostic> {
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
