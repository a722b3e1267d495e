//! The commands, one file each.
//!
//! ```text
//! msg check session.json --json    Args ─▶ options of msg_document ─▶ its answer ─▶ Output, Status
//! ```
//!
//! # How to add a command
//!
//! 1. Write `src/commands/NAME.rs` with `pub(crate) struct Args` (derive [`clap::Args`], its doc
//!    comment is the help text) and implement [`Command`] for it. Flatten what is shared:
//!    `InputArgs`, `OutputArgs`, `LineArgs`. Structs to flatten carry no doc comment, since clap
//!    would put it in the place of yours.
//! 2. Add its module, its variant and its arm below.
//! 3. Say what its JSON form is in `docs/cli.md`, and add cases to `tests/it`.
//!
//! A command that answers documents writes one function `&[u8] -> Result<Answer, Box<Diagnostic>>` and
//! hands it to `jsonl::run`; for a single document it calls the same function and prints the answer
//! or, without `--json`, text for people. Data goes to an `Output`, everything else to
//! `Context::note`; exit codes are `exit::Status`.

mod ast;
mod cache;
mod chat;
mod check;
mod convert;
mod cut_points;
mod dataset;
mod doctor;
mod file;
mod find;
mod fit;
mod list;
mod profiles;
mod reference;
mod repair;
mod stats;
mod stream;
mod tools;
mod transcript;
mod trim;
mod view;

use crate::context::Context;
use crate::exit::{Failure, Status};

/// What a command does once its arguments are parsed.
pub(crate) trait Command {
    /// Runs to the end. The status says what was found, the failure why it was given up.
    fn run(self, cx: &Context) -> Result<Status, Failure>;
}

/// One variant a command, in the order of `msg --help`.
#[derive(Debug, clap::Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one, once a run")]
pub(crate) enum Commands {
    Check(check::Args),
    Repair(repair::Args),
    Ast(ast::Args),
    Convert(convert::Args),
    Fit(fit::Args),
    Trim(trim::Args),
    Filter(trim::FilterArgs),
    CutPoints(cut_points::Args),
    Transcript(transcript::Args),
    Stats(stats::Args),
    Tools(tools::Args),
    Stream(stream::Args),
    File(file::Args),
    Chat(chat::Args),
    Doctor(doctor::Args),
    List(list::Args),
    Find(find::Args),
    Dataset(dataset::Args),
    View(view::Args),
    Cache(cache::Args),
    Profiles(profiles::Args),
    Schema(reference::SchemaArgs),
    Completions(reference::CompletionsArgs),
    #[command(hide = true)]
    Reference(reference::Args),
}

impl Commands {
    /// Runs the command that was named.
    pub(crate) fn run(self, cx: &Context) -> Result<Status, Failure> {
        match self {
            Commands::Check(it) => it.run(cx),
            Commands::Repair(it) => it.run(cx),
            Commands::Ast(it) => it.run(cx),
            Commands::Convert(it) => it.run(cx),
            Commands::Fit(it) => it.run(cx),
            Commands::Trim(it) => it.run(cx),
            Commands::Filter(it) => it.run(cx),
            Commands::CutPoints(it) => it.run(cx),
            Commands::Transcript(it) => it.run(cx),
            Commands::Stats(it) => it.run(cx),
            Commands::Tools(it) => it.run(cx),
            Commands::Stream(it) => it.run(cx),
            Commands::File(it) => it.run(cx),
            Commands::Chat(it) => it.run(cx),
            Commands::Doctor(it) => it.run(cx),
            Commands::List(it) => it.run(cx),
            Commands::Find(it) => it.run(cx),
            Commands::Dataset(it) => it.run(cx),
            Commands::View(it) => it.run(cx),
            Commands::Cache(it) => it.run(cx),
            Commands::Profiles(it) => it.run(cx),
            Commands::Schema(it) => it.run(cx),
            Commands::Completions(it) => it.run(cx),
            Commands::Reference(it) => it.run(cx),
        }
    }
}
