//! `msg completions SHELL`: shell completions, from the same table as the parser.
//!
//! Man pages and `docs/cli.md` come from `msg reference`.

use clap::CommandFactory;
use clap_complete::Shell;

use super::Command;
use crate::cli::Cli;
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::output::Output;

/// Print completions for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg completions bash > ~/.local/share/bash-completion/completions/msg
  msg completions zsh > ~/.zfunc/_msg
  msg completions fish > ~/.config/fish/completions/msg.fish")]
pub(crate) struct Args {
    /// The shell that reads them.
    shell: Shell,
}

impl Command for Args {
    fn run(self, _: &Context) -> Result<Status, Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "msg", &mut text);
        let mut out = Output::stdout();
        out.write(&text)?;
        out.finish()?;
        Ok(Status::Clean)
    }
}
