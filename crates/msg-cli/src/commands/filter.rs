//! `msg filter`: the messages of some roles, names or tools, or of a range.
//!
//! Which messages belong together says `msg-document`.

use std::ops::Range;

use msg_core::Role;
use msg_document::FilterOptions;
use serde::{Deserialize, Serialize};

use super::Command;
use crate::context::Context;
use crate::editing::{Edited, EditingArgs};
use crate::exit::{Failure, Status};
use crate::line_options;
use crate::render::plural;

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
    editing: EditingArgs,
}

#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "What stays")]
struct WhatArgs {
    /// Messages of this role: system, developer, user, assistant, tool; repeatable.
    #[arg(long, value_name = "ROLE", value_delimiter = ',', value_parser = crate::words::role())]
    role: Vec<String>,
    /// Messages whose author is called so; repeatable.
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// Messages that call this tool, or hold its results; repeatable.
    #[arg(long, value_name = "NAME")]
    tool: Vec<String>,
    /// Messages A to B-1, from 0; either may be left out.
    #[arg(long, value_name = "A..B", value_parser = range)]
    range: Option<String>,
    /// All other messages.
    #[arg(long)]
    not: bool,
}

impl WhatArgs {
    fn options(&self) -> Result<FilterOptions, String> {
        Ok(FilterOptions {
            roles: self.role.iter().map(|it| Role::from(it.as_str())).collect(),
            names: self.name.clone(),
            tools: self.tool.clone(),
            range: self.range.as_deref().map(bounds).transpose()?,
            others: self.not,
        })
    }

    fn is_empty(&self) -> bool {
        self.role.is_empty() && self.name.is_empty() && self.tool.is_empty() && self.range.is_none()
    }
}

/// A range that is understood, as it was written.
fn range(text: &str) -> Result<String, String> {
    bounds(text).map(|_| text.to_owned())
}

fn bounds(text: &str) -> Result<Range<usize>, String> {
    let expected = || format!("expected A..B, such as 2..5 or 10.., and found {text}");
    let (start, end) = text.split_once("..").ok_or_else(expected)?;
    let number = |it: &str, default: usize| match it {
        "" => Ok(default),
        _ => it.parse().map_err(|_| expected()),
    };
    let (start, end) = (number(start, 0)?, number(end, usize::MAX)?);
    if start > end { Err(expected()) } else { Ok(start..end) }
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        if self.what.is_empty() && self.what.not {
            let text = "--not keeps what the other flags do not name: add --role, --name, --tool or --range";
            return Err(Failure::Usage(text.to_owned()));
        }
        self.editing.run(cx, |document, line| {
            let what = line_options::of_line(&self.what, line)?;
            let options = what.options().map_err(msg_document::Refusal::bad_option)?;
            let before = document.messages().len();
            let after = document.filter(&options);
            let said = format!("kept {after} of {}", plural(before, "message"));
            Ok(Edited { said, status: Status::Clean, is_refused: false })
        })
    }
}
