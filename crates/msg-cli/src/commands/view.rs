//! `msg view`: a conversation as HTML pages.
//!
//! ```text
//! msg view a.json > a.html               one page
//! msg view a.json -o a.html              a.html, a-2.html …: so many messages a page
//! msg view a.json b.jsonl -o folder      folder/a.html, folder/b.html
//! ```
//!
//! The contents of a page, and what it looks like, are `msg-view`'s.

mod place;
mod recorded;

use std::path::PathBuf;

use msg_core::Diagnostic;
use msg_document::{CheckOptions, Counter};
use msg_view::{Pages, TokenPrice, ViewOptions};

use self::place::Place;
use self::recorded::Known;
use super::Command;
use crate::chain_args::ChainArgs;
use crate::context::Context;
use crate::exit::{Failure, Status, refuse_if};
use crate::input;
use crate::input::{Input, InputArgs};
use crate::render;
use crate::sources::Sources;
use crate::terminal;
use crate::words;

/// So many messages are on a page, unless --page-size says otherwise.
const PAGE: usize = 500;

/// Write a conversation as self-contained HTML pages.
///
/// No script, no font, no network: files to look at, to keep or to send. Markdown is rendered, HTML of the
/// conversation is shown as text. Results are next to their calls, problems at the messages that they concern.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg view session.json -o page.html
  msg view session.json --browser
  msg view --role user --role assistant --price 3:15 session.json -o page.html
  msg view 'logs/*.json' -o pages/")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    chain: ChainArgs,
    /// Only the messages of this role; repeatable.
    #[arg(long, value_name = "ROLE", value_parser = words::role(), help_heading = "Page")]
    role: Vec<String>,
    /// Texts as they are, instead of rendered Markdown.
    #[arg(long, help_heading = "Page")]
    raw: bool,
    /// How many messages are on a page [default: 500 with -o, else all].
    #[arg(long, value_name = "N", value_parser = words::count_above_zero, help_heading = "Page")]
    page_size: Option<usize>,
    /// How tokens are counted [default: script].
    #[arg(long, value_name = "NAME", value_parser = words::counter(), help_heading = "Page")]
    counter: Option<Counter>,
    /// What a million tokens cost, in and out: each section is given its cost, nothing cached.
    #[arg(long, value_name = "IN:OUT", help_heading = "Page")]
    price: Option<TokenPrice>,
    /// Replace secrets in what is shown.
    #[arg(long, help_heading = "Page")]
    redact: bool,
    /// Write to FILE instead of standard output, further pages beside it; a FOLDER gets a page for each input.
    #[arg(short, long, value_name = "FILE|FOLDER", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Open the page in the browser ($BROWSER, or the system's); without -o it is in a temporary folder.
    #[arg(long, help_heading = "Output")]
    browser: bool,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        cx.redact(self.redact);
        let sources = self.input.sources()?;
        sources.expect_one("--browser", self.browser)?;
        let place = Place::new(self.output.as_deref(), self.browser, &sources)?;
        refuse_if(
            self.page_size.is_some() && !place.is_file(),
            "pages are files: add -o FILE to --page-size",
        )?;
        sources.each(cx, |input| self.document(cx, input, &place, &sources))
    }
}

impl Args {
    fn document(
        &self,
        cx: &Context,
        mut input: Input,
        place: &Place,
        sources: &Sources,
    ) -> Result<Status, Failure> {
        let profile = self.chain.profile(self.input.max_bytes())?;
        refuse_if(
            self.input.looks_like_lines(&mut input)?,
            format!(
                "{} is JSON lines, a document a line, and a page shows one: `sed -n 1p` takes one out",
                input.name
            ),
        )?;
        let path = place.of(&input)?;
        let bytes = input.read_all()?;
        let mut known = recorded::read(&bytes, &input.name);
        let mut document = input::read(cx, bytes, &input.name, &self.input)?;
        input::say_unread(cx, &document, &input.name);
        if self.redact {
            document.put_messages(terminal::messages(document.messages()));
            known.iter_mut().for_each(Known::redact);
        }
        let rules = CheckOptions { profile, ..CheckOptions::default() };
        let found = document.check_chain(&rules.with_chain(self.chain.check_options()));
        let messages = document.into_messages();
        let status = Status::of(!found.iter().any(Diagnostic::is_error));
        let name = if self.redact { terminal::text(&input.name).0 } else { input.name.clone() };
        let options = place::named(self.options(), path.as_deref()).with_title(name);
        let mut pages = Pages::new(&messages, &found, &options);
        if let Some(known) = known.filter(|it| it.messages.len() == messages.len()) {
            pages = pages.with_recorded(known.messages, known.whole);
        }
        for number in 0..pages.count() {
            let path = path.as_deref().map(|it| place::page(it, &pages, number));
            let mut out = place.open(path.as_deref(), sources)?;
            pages.write(number, |it| out.write(it.as_bytes()))?;
            out.finish()?;
        }
        cx.summary(
            || format!("{}: {}, shown in the page", input.name, render::count(&found)),
            status,
        );
        match path.filter(|_| self.browser) {
            Some(path) => place::open(&path).map(|()| status),
            None => Ok(status),
        }
    }

    fn options(&self) -> ViewOptions {
        let mut options = ViewOptions::default().with_roles(&self.role);
        options.raw = self.raw;
        options.counter = self.counter;
        options.price = self.price;
        options.page_size = self.page_size.or_else(|| self.is_file().then_some(PAGE));
        options
    }

    /// Whether there may be several pages.
    fn is_file(&self) -> bool {
        self.output.is_some() || self.browser
    }
}
