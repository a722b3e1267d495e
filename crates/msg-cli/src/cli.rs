//! The command line as a whole: what all commands share, and the tree of them.
//!
//! The commands themselves are in `commands`, which also says how to add one.

use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};
use clap::{Args, Parser};

use crate::commands::Commands;
use crate::exit::{Failure, Status};
use crate::output::Output;
use crate::render::{Folding, List, Quotes};
use crate::terminal;
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

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// When to use colours; NO_COLOR is respected.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = When::Auto)]
    pub(crate) color: When,
    /// Say more on standard error, such as the format that was recognised.
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// No progress, no summaries: only data, and what went wrong.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

impl From<When> for ColorChoice {
    fn from(when: When) -> Self {
        match when {
            When::Auto => ColorChoice::Auto,
            When::Always => ColorChoice::Always,
            When::Never => ColorChoice::Never,
        }
    }
}

/// What every command is given beside its own arguments.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// `--verbose`.
    pub(crate) verbose: bool,
    /// `--quiet`.
    pub(crate) quiet: bool,
    /// Whether text on standard error is coloured.
    pub(crate) color_err: bool,
    color: ColorChoice,
}

impl Context {
    pub(crate) fn new(args: &GlobalArgs) -> Self {
        let color = ColorChoice::from(args.color);
        // What has no context of its own (clap, anstream's macros) follows the choice too.
        color.write_global();
        let color_err = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
        Context { verbose: args.verbose, quiet: args.quiet, color_err, color }
    }

    /// Whether text on `output` is coloured.
    pub(crate) fn color_for(&self, output: &Output) -> bool {
        match self.color {
            ColorChoice::Auto => {
                output.is_stdout() && AutoStream::choice(&io::stdout()) != ColorChoice::Never
            }
            choice => choice != ColorChoice::Never,
        }
    }

    /// Diagnostics about the document `name` for standard error: folded, unless `-v` asks for each.
    pub(crate) fn list<'a>(&self, name: &'a str, quotes: &'a Quotes) -> List<'a> {
        List { name, quotes, folding: self.folding(), color: self.color_err }
    }

    /// Whether diagnostics that are alike are folded.
    pub(crate) fn folding(&self) -> Folding {
        if self.verbose { Folding::Each } else { Folding::Alike }
    }

    /// Text for people on standard error, in our colours. It is lost if nobody listens there.
    pub(crate) fn note(&self, text: &str) {
        let mut err = io::stderr().lock();
        let text = terminal::visible_but_colours(text);
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }

    /// A line on standard error.
    pub(crate) fn say(&self, text: &str) {
        self.note(&format!("msg: {}\n", terminal::visible(text)));
    }

    /// A line on standard error that only `-v` asks for.
    pub(crate) fn detail(&self, text: impl FnOnce() -> String) {
        if self.verbose {
            self.say(&text());
        }
    }

    /// A closing line on standard error where there is something to say, unless `--quiet`.
    pub(crate) fn summary(&self, text: impl FnOnce() -> String, status: Status) {
        if !self.quiet && (self.verbose || status != Status::Clean) {
            self.say(&text());
        }
    }
}
