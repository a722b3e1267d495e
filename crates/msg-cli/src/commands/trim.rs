//! Messages taken out of a document, with the options of LangChain's functions of these names: `msg trim` keeps the
//! first or last that fit, without summaries; `msg filter` those of some roles, names or tools, or of a range.
//!
//! Where to cut says `msg-document`.

use msg_document::{Counter, FilterOptions, Refusal, Strategy, TrimOptions};
use serde::Serialize;

use super::Command;
use crate::context::Context;
use crate::documents::EditArgs;
use crate::exit::{Failure, Status, refuse_if};
use crate::options::Flags;
use crate::render::plural;
use crate::selecting::Selected;
use crate::{selecting, words};

/// Cut a conversation to its last or first messages that fit, without summaries.
///
/// The options are those of LangChain's trim_messages; a call always keeps its results. Exit status 1, and
/// nothing is printed, if no message fits. With --jsonl a line may bring "options" with the flags below, in
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
    /// Keep whole lines of the message at the cut, where all of it does not fit.
    #[arg(long)]
    allow_partial: bool,
    /// How tokens are counted [default: script].
    #[arg(long, value_name = "NAME", value_parser = words::counter())]
    counter: Option<Counter>,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        selecting::run(cx, &self.io, |document, line| {
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
// Which messages belong together says `msg-document`.

/// Keep some messages: those of a role, a name, a tool or a range.
///
/// Of several kinds of marks a message must fit each; of one kind that is repeated, one is enough. A call and
/// its results stay or go together. With --jsonl a line may bring "options" with the flags below, in snake
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
    /// Messages whose author is called so; repeatable.
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// Messages that call this tool, or hold its results; repeatable.
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
        refuse_if(
            options.others && is_all,
            "--not keeps what the other flags do not name: add --role, --name, --tool or --range",
        )?;
        selecting::run(cx, &self.io, |document, line| {
            let options = Flags::of(&self.what).options_of_line(line)?;
            let before = document.messages().len();
            let after = document.filter(&options);
            let said = format!("kept {after} of {}", plural(before, "message"));
            // A file is never emptied; on the way to a pipe none is an answer.
            let is_refused = after == 0 && before > 0 && self.io.output.is_in_place();
            Ok(Selected { said, status: Status::of(!is_refused), is_refused })
        })
    }
}
