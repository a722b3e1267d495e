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
//! 2. Add one line to the `commands!` table below. The module, the variant and the dispatch come
//!    from it.
//! 3. Say what its JSON form is in `docs/cli.md`, and add cases to `tests/it`.
//!
//! A command that answers documents writes one function `&[u8] -> Result<Answer, Box<Diagnostic>>` and
//! hands it to `jsonl::run`; for a single document it calls the same function and prints the answer
//! or, without `--json`, text for people. Data goes to an `Output`, everything else to
//! `Context::note`; exit codes are `exit::Status`.

use crate::context::Context;
use crate::exit::{Failure, Status};

/// What a command does once its arguments are parsed.
pub(crate) trait Command {
    /// Runs to the end. The status says what was found, the failure why it was given up.
    fn run(self, cx: &Context) -> Result<Status, Failure>;
}

/// `module: Variant` for each command, in the order of `msg --help`.
macro_rules! commands {
    ($($(#[$meta:meta])* $module:ident: $variant:ident,)*) => {
        $(mod $module;)*

        /// One variant a command.
        #[derive(Debug, clap::Subcommand)]
        #[expect(clippy::large_enum_variant, reason = "there is one, once a run")]
        pub(crate) enum Commands {
            $($(#[$meta])* $variant($module::Args),)*
        }

        impl Commands {
            /// Runs the command that was named.
            pub(crate) fn run(self, cx: &Context) -> Result<Status, Failure> {
                match self {
                    $(Commands::$variant(args) => args.run(cx),)*
                }
            }
        }
    };
}

commands! {
    check: Check,
    repair: Repair,
    ast: Ast,
    convert: Convert,
    fit: Fit,
    trim: Trim,
    filter: Filter,
    cut_points: CutPoints,
    transcript: Transcript,
    stats: Stats,
    tools: Tools,
    stream: Stream,
    file: File,
    chat: Chat,
    doctor: Doctor,
    list: List,
    find: Find,
    view: View,
    profiles: Profiles,
    schema: Schema,
    completions: Completions,
    #[command(hide = true)]
    reference: Reference,
}
