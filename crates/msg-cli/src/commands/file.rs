//! `msg file SUB`: message files from the shell and from other programs (MF-48 to MF-56).
//!
//! Each subcommand is one function from a request to an answer, for a line of `--jsonl` and for a file
//! alike; what changes a file goes through the store of `msg-file`.
//!
//! ```text
//! {"text":"# %% Question…","options":{…}}   a line ┐
//! talk.msg.md and flags                     a file ┴─▶ Request ─▶ one function ─▶ Answer
//! ```

mod append;
mod fmt;
mod forms;
mod read;
mod request;

pub(super) use self::request::{failed, failed_by};
use super::Command;
pub(super) use crate::commands::file::append::Nonces;
pub(super) use crate::commands::file::append::say_if_below;
use crate::context::Context;
use crate::exit::{Failure, Status};

/// Read, check, format and append to message files (.msg.md).
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
#[command(after_help = "Examples:
  msg file history talk.msg.md
  msg file append talk.msg.md --body hi
  msg file fmt --check talk.msg.md")]
pub(crate) struct Args {
    #[command(subcommand)]
    sub: Sub,
}

#[derive(Debug, clap::Subcommand)]
enum Sub {
    /// Show the file as JSON: cells, agents, diagnostics.
    #[command(after_help = "Examples:
  msg file parse talk.msg.md")]
    Parse(read::Parse),
    /// Say what is odd about the file; exit status 1 if there are errors.
    #[command(after_help = "Examples:
  msg file check talk.msg.md --json")]
    Check(read::Check),
    /// Print the messages that a model gets.
    #[command(after_help = "Examples:
  msg file history talk.msg.md --agent critic")]
    History(read::History),
    /// List what is in the file.
    #[command(
        subcommand,
        after_help = "Examples:
  msg file list agents talk.msg.md"
    )]
    List(List),
    /// Put headings, definitions and gaps into canonical form; bodies stay.
    #[command(after_help = "Examples:
  msg file fmt talk.msg.md --write
  msg file fmt talk.msg.md --check")]
    Fmt(fmt::Fmt),
    /// Append a cell, or with --jsonl a cell or message a line; acknowledged when it is durable.
    #[command(after_help = "Examples:
  msg file append talk.msg.md --body 'What is in a?'
  msg file append talk.msg.md --type critic --kind output --body 'One line.'
  msg file append talk.msg.md --jsonl < cells.jsonl")]
    Append(append::Append),
    /// Record what running a code cell or a call gave.
    #[command(after_help = "Examples:
  msg file run-result talk.msg.md --of '#3' --stdout ok --exit-code 0")]
    RunResult(append::RunResult),
    /// Change what holds from here on.
    #[command(
        subcommand,
        after_help = "Examples:
  msg file set default critic talk.msg.md"
    )]
    Set(Set),
}

#[derive(Debug, clap::Subcommand)]
enum List {
    /// The agents that take part.
    #[command(after_help = "Examples:
  msg file list agents talk.msg.md --json")]
    Agents(read::Agents),
}

#[derive(Debug, clap::Subcommand)]
enum Set {
    /// The agent that answers from now on, by a `[set]` cell.
    #[command(after_help = "Examples:
  msg file set default critic talk.msg.md")]
    Default(append::SetDefault),
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        match self.sub {
            Sub::Parse(it) => it.run(cx),
            Sub::Check(it) => it.run(cx),
            Sub::History(it) => it.run(cx),
            Sub::List(List::Agents(it)) => it.run(cx),
            Sub::Fmt(it) => it.run(cx),
            Sub::Append(it) => it.run(cx),
            Sub::RunResult(it) => it.run(cx),
            Sub::Set(Set::Default(it)) => it.run(cx),
        }
    }
}
