//! What every command is given beside its own arguments: the global options, and the way to standard error.
//!
//! It does not know the commands, nor what they read and write.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::{AutoStream, ColorChoice};
use clap::Args;

use crate::exit::Status;
use crate::render::{Folding, List, Quotes};
use crate::terminal;

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

/// Where text for people goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Standard output, whose colours a terminal may show.
    Stdout,
    File,
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
    /// Whether secrets are replaced in what is said; a command says so by [`Context::redact`].
    redacts: Arc<AtomicBool>,
}

impl Context {
    pub(crate) fn new(args: &GlobalArgs) -> Self {
        let color = ColorChoice::from(args.color);
        // What has no context of its own (clap, anstream's macros) follows the choice too.
        color.write_global();
        let color_err = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
        Context {
            verbose: args.verbose,
            quiet: args.quiet,
            color_err,
            color,
            redacts: Arc::default(),
        }
    }

    /// From here on secrets are replaced in all that is said, if `asked` (SE-96).
    pub(crate) fn redact(&self, asked: bool) {
        self.redacts.store(asked, Ordering::Relaxed);
    }

    /// Whether text that goes to a place is coloured.
    pub(crate) fn color_on(&self, place: Place) -> bool {
        match (self.color, place) {
            (ColorChoice::Auto, Place::Stdout) => {
                AutoStream::choice(&io::stdout()) != ColorChoice::Never
            }
            (ColorChoice::Auto, Place::File) => false,
            (choice, _) => choice != ColorChoice::Never,
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

    /// Text for people on standard error, in our colours. It is lost if standard error is closed.
    pub(crate) fn note(&self, text: &str) {
        let mut err = io::stderr().lock();
        let text = match self.redacts.load(Ordering::Relaxed) {
            true => &terminal::text(text).0,
            false => text,
        };
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
