//! The command line as a whole: the global options and the tree of commands.
//!
//! The commands themselves are in `commands`, which also says how to add one; what they share is `context`.

use clap::Parser;

use crate::commands::Commands;
use crate::context::{Context, GlobalArgs};
use crate::exit::{Failure, Status};
use crate::output::Output;
use crate::{explain, words};

/// Check, repair, convert, fit and read LLM conversations.
#[derive(Debug, Parser)]
#[command(
    name = "msg",
    bin_name = "msg",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
#[command(after_help = "Examples:\n  \
                        msg check session.json             what is wrong with it\n  \
                        msg repair session.json -o b.json  mend it, and say what was changed\n  \
                        msg --explain chain::missing-tool-result\n\n\
                        Exit status: 0 nothing wrong, 1 errors found in the conversation, 2 not done,\n\
                        130 a chat was interrupted.\n\
                        Every command says more with --help; the whole is in docs/cli.md.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    /// Say what a diagnostic means, with an example before and after.
    #[arg(long, value_name = "CODE", value_parser = words::code(), hide_possible_values = true)]
    explain: Option<String>,
    #[command(subcommand)]
    command: Option<Commands>,
}

impl Cli {
    /// Does what was asked.
    pub(crate) fn run(self, cx: &Context) -> Result<Status, Failure> {
        match (self.explain, self.command) {
            (None, Some(command)) => command.run(cx),
            (Some(code), None) => {
                let mut out = Output::stdout();
                out.write(explain::explain(&code)?.as_bytes())?;
                out.finish().map(|()| Status::Clean)
            }
            (Some(_), Some(_)) => Err(Failure::Usage("--explain takes no command".to_owned())),
            (None, None) => Err(Failure::Usage("no command: `msg --help` lists them".to_owned())),
        }
    }
}
