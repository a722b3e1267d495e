//! `msg view`: a conversation as one HTML page.

mod page;

use msg_core::Diagnostic;

use super::Command;
use crate::chain_args::ChainArgs;
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::formats;
use crate::input::InputArgs;
use crate::output::OutputArgs;
use crate::render;

/// Write a conversation as a self-contained HTML page.
///
/// No script, no font, no network: one file to look at, to keep or to send. Problems stand beside
/// the messages that they concern.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg view session.json -o page.html")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    chain: ChainArgs,
    #[command(flatten)]
    output: OutputArgs,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let profile = self.chain.profile(self.input.max_bytes())?;
        let sources = self.input.sources()?;
        let mut input = sources.open_one()?;
        if self.input.looks_like_lines(&mut input)? {
            let text = format!("{} is JSON lines, a document a line, and a page shows one: `sed -n 1p` takes one out", input.name);
            return Err(Failure::Usage(text));
        }
        let mut out = self.output.open(&sources)?;
        let messages = formats::open(cx, &mut input, &self.input)?.into_messages();
        let options = self.chain.check_options();
        let found = msg_chainast::check(&messages, profile.as_ref(), &options);
        page::page(&input.name, &messages, &found, |it| out.write(it.as_bytes()))?;
        out.finish()?;
        let status = Status::of(!found.iter().any(Diagnostic::is_error));
        cx.summary(|| format!("{}: {}, shown in the page", input.name, render::count(&found)), status);
        Ok(status)
    }
}
