//! `msg cut-points`: where a conversation may be cut (CA-65).
//!
//! Where that is says `msg-chainast`.

use std::fmt::Write as _;

use msg_chainast::{ChainAst, ChainCheckOptions, CutPoint, ParseError, Profile};
use msg_core::{Diagnostic, Message};
use msg_document::{Document, ObjectWriter};
use serde::Serialize;

use super::Command;
use crate::context::Context;
use crate::documents::{AnswerArgs, Form, Lines};
use crate::exit::{Failure, Status};
use crate::input;
use crate::jsonl::Answer;
use crate::options::ChainArgs;
use crate::output::PrettyArgs;
use crate::render::{Quotes, count, plural};

/// Show before which messages a conversation may be cut.
///
/// What a cut leaves is a valid chain, and with --profile one that the provider accepts; the system message
/// stays in front. A cut that splits the current turn costs its signed reasoning. Exit status 1 if the
/// messages are not a valid chain.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg cut-points session.json
  msg cut-points --profile anthropic --json session.json")]
pub(crate) struct Args {
    #[command(flatten)]
    io: AnswerArgs,
    #[command(flatten)]
    chain: ChainArgs,
    /// Print `{"cut_points":[{"message","section","pair","splits_turn"}]}` instead of text.
    #[arg(long)]
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

impl Command for Args {
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
