//! `msg filter`: the messages of some roles, names or tools, or of a range.
//!
//! Which messages belong together says `msg-document`.

use msg_document::FilterOptions;
use serde::Serialize;

use super::Command;
use crate::context::Context;
use crate::documents::EditArgs;
use crate::exit::{Failure, Status, refuse_if};
use crate::options::Flags;
use crate::render::plural;
use crate::selecting::{self, Selected};
use crate::words;

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
pub(crate) struct Args {
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

impl Command for Args {
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
            Ok(Selected { said, status: Status::Clean, is_refused: false })
        })
    }
}
