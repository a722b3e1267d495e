//! A conversation to read: `msg view` writes HTML pages for people, `msg transcript` text or XML for the prompt of a model that is
//! to summarise it.
//!
//! ```text
//! msg view a.json > a.html               one page
//! msg view a.json -o a.html              a.html, a-2.html …: so many messages a page
//! msg view a.json b.jsonl -o folder      folder/a.html, folder/b.html
//! ```
//!
//! `msg-view` makes the pages. They go to standard output, a file and its neighbours, a folder, or a temporary folder
//! for a browser. They show what a session recorded for each message: times, models, usage and cost, as in `msg stats`
//! and `msg cache`.
//!
//! ```text
//! record 3  user       09:00:00                    message 1   09:00:00
//! record 4  assistant  09:00:12, usage of the call message 2   09:00:12, 12 s, read 12,000 …
//! ```

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    process::{self, Stdio},
};

use msg_cache::{LedgerOptions, SessionLedger};
use msg_core::{Diagnostic, Role, rfc3339};
use msg_document::{
    CheckOptions, Counter, Document, Format, ObjectWriter, TranscriptOptions, transcript,
};
use msg_session::{Blob, Dialect, Session, SessionOptions, View};
use msg_view::{Pages, Recorded, TokenPrice, ViewOptions};
use serde::{Deserialize, Serialize};

use super::Command;
use crate::context::{Context, is_folder};
use crate::documents::{AnswerArgs, Form, Lines};
use crate::exit::{Failure, Status, refuse_if};
use crate::input::{Input, InputArgs, Sources};
use crate::jsonl::Answer;
use crate::options::{ChainArgs, Flags};
use crate::output::Output;
use crate::sessions::load::{provider, responses};
use crate::{input, render, words};

/// The default of --page-size: messages per page.
const PAGE: usize = 500;

/// Write a conversation as self-contained HTML pages.
///
/// A page needs no script, no font and no network. Markdown is rendered; HTML in the conversation is shown as text.
/// Results are shown next to their calls, problems at their messages.
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
    /// Show only messages of this role; repeatable.
    #[arg(long, value_name = "ROLE", value_parser = words::role(), help_heading = "Page")]
    role: Vec<String>,
    /// Show texts as they are, instead of rendered Markdown.
    #[arg(long, help_heading = "Page")]
    raw: bool,
    /// The number of messages per page [default: 500 with -o, else all].
    #[arg(long, value_name = "N", value_parser = words::count_above_zero, help_heading = "Page")]
    page_size: Option<usize>,
    /// How tokens are counted [default: script].
    #[arg(long, value_name = "NAME", value_parser = words::counter(), help_heading = "Page")]
    counter: Option<Counter>,
    /// The prices of a million input and output tokens; show the cost of each section, without a cache.
    #[arg(long, value_name = "IN:OUT", help_heading = "Page")]
    price: Option<TokenPrice>,
    /// Replace secrets in what is shown.
    #[arg(long, help_heading = "Page")]
    redact: bool,
    /// Write to FILE instead of standard output, further pages beside it; a FOLDER gets a page for each input.
    #[arg(short, long, value_name = "FILE|FOLDER", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Open the page in the browser ($BROWSER, or the system's); without -o it is written to a temporary folder.
    #[arg(long, help_heading = "Output")]
    browser: bool,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        cx.redact(self.redact);
        let sources = self.input.sources()?;
        sources.expect_one("--browser", self.browser)?;
        let place = Place::new(self.output.as_deref(), self.browser, &sources)?;
        refuse_if(self.page_size.is_some() && !place.is_file(), "--page-size needs -o FILE")?;
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
        let mut known = read(&bytes, &input.name);
        let mut document = input::read(cx, bytes, &input.name, &self.input)?;
        input::say_unread(cx, &document, &input.name);
        if self.redact {
            document.put_messages(render::messages(document.messages()));
            known.iter_mut().for_each(Known::redact);
        }
        let rules = CheckOptions { profile, ..CheckOptions::default() };
        let found = document.check_chain(&rules.with_chain(self.chain.check_options()));
        let messages = document.into_messages();
        let status = Status::of(!found.iter().any(Diagnostic::is_error));
        let name = if self.redact { render::text(&input.name).0 } else { input.name.clone() };
        let options = named(self.options(), path.as_deref()).with_title(name);
        let mut pages = Pages::new(&messages, &found, &options);
        if let Some(known) = known.filter(|it| it.messages.len() == messages.len()) {
            pages = pages.with_recorded(known.messages, known.whole);
        }
        for number in 0..pages.count() {
            let path = path.as_deref().map(|it| page(it, &pages, number));
            let mut out = place.open(path.as_deref(), sources)?;
            pages.write(number, |it| out.write(it.as_bytes()))?;
            out.finish()?;
        }
        cx.summary(
            || format!("{}: {}, shown in the page", input.name, render::count(&found)),
            status,
        );
        match path.filter(|_| self.browser) {
            Some(path) => open(&path).map(|()| status),
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

/// Where pages are written.
enum Place {
    Stdout,
    /// The first page; further ones are next to it.
    File(PathBuf),
    /// One page per input, named after it.
    Folder(PathBuf),
}

impl Place {
    /// The place in `output`, or a temporary one for a browser. Fails for several inputs without a folder.
    fn new(output: Option<&Path>, browser: bool, sources: &Sources) -> Result<Self, Failure> {
        match output.filter(|it| it.as_os_str() != "-") {
            Some(path) if !sources.is_one() || is_folder(path) => {
                Ok(Place::Folder(path.to_owned()))
            }
            Some(path) => Ok(Place::File(path.to_owned())),
            None if browser => Ok(Place::Folder(temporary()?)),
            None if sources.is_one() => Ok(Place::Stdout),
            None => {
                Err(Failure::Usage("several inputs need -o FOLDER: a page for each".to_owned()))
            }
        }
    }

    /// Whether there may be several pages.
    fn is_file(&self) -> bool {
        !matches!(self, Place::Stdout)
    }

    /// The first page of an input, if it is a file.
    fn of(&self, input: &Input) -> Result<Option<PathBuf>, Failure> {
        let folder = match self {
            Place::Stdout => return Ok(None),
            Place::File(path) => return Ok(Some(path.clone())),
            Place::Folder(folder) => folder,
        };
        std::fs::create_dir_all(folder).map_err(|it| Failure::write_file(folder, it))?;
        let name = input.path.as_deref().and_then(Path::file_stem);
        let name = name.map_or_else(|| "page".into(), |it| it.to_string_lossy());
        Ok(Some(folder.join(format!("{name}.html"))))
    }

    /// Opens a page.
    fn open(&self, path: Option<&Path>, sources: &Sources) -> Result<Output, Failure> {
        path.map_or_else(|| Ok(Output::stdout()), |it| Output::file(it, sources))
    }
}

/// The options of pages whose first one is this file.
fn named(options: ViewOptions, path: Option<&Path>) -> ViewOptions {
    match path.and_then(Path::file_name) {
        Some(name) => options.with_file(name.to_string_lossy()),
        None => options,
    }
}

/// The file of a page: the first, or one next to it.
fn page(first: &Path, pages: &Pages<'_>, number: usize) -> PathBuf {
    match number {
        0 => first.to_owned(),
        number => first.with_file_name(pages.file_name(number)),
    }
}

/// A folder that is kept: a browser opens the page after this program has ended.
fn temporary() -> Result<PathBuf, Failure> {
    let folder = tempfile::Builder::new().prefix("msg-view-").tempdir();
    folder.map(tempfile::TempDir::keep).map_err(|it| Failure::write("a temporary folder", it))
}

// Opens a page in the user's browser.

/// Opens the file with `$BROWSER`, or else with the system's opener. Prints the place of the page if that fails.
fn open(page: &Path) -> Result<(), Failure> {
    let mut command = command();
    let status = command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).status();
    let why = match status {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    let program = command.get_program().display();
    Err(Failure::Refused(format!(
        "no browser opened ({program}: {why}): set BROWSER, or open {} yourself",
        page.display()
    )))
}

fn command() -> process::Command {
    if let Some(program) = std::env::var_os("BROWSER").filter(|it| !it.is_empty()) {
        return process::Command::new(program);
    }
    if cfg!(target_os = "macos") {
        return process::Command::new("open");
    }
    if cfg!(windows) {
        return process::Command::new("explorer");
    }
    process::Command::new("xdg-open")
}

/// The records for each message, and for all responses together.
struct Known {
    messages: Vec<Recorded>,
    whole: Recorded,
}

impl Known {
    /// Removes secrets from the names of models.
    fn redact(&mut self) {
        for it in self.messages.iter_mut().chain([&mut self.whole]) {
            it.model = it.model.take().map(|it| render::text(&it).0);
        }
    }
}

/// The records of a session of JSON lines or one document; `None` if it is not a session or cannot be read.
fn read(bytes: &[u8], name: &str) -> Option<Known> {
    let format = Format::recognise(bytes, name).ok().filter(|it| it.is_session())?;
    let dialect: Dialect = format.name().parse().ok()?;
    let session = Session::new(dialect, vec![Blob::new(name, bytes)]);
    let view = session.read(&SessionOptions::default()).ok()?;
    let mut messages = timed(&view, bytes);
    let places = places(&view);
    let mut whole = Recorded::default();
    let mut ledger = SessionLedger::new(provider(dialect), LedgerOptions::default());
    for response in responses(dialect, bytes) {
        let (record, time) = (response.record, response.time.clone());
        let is_main = response.chain.is_empty();
        let row = ledger.push(response);
        let used = Recorded {
            model: row.model,
            responses: 1,
            read: row.usage.read,
            written: row.usage.written(),
            new: row.usage.input,
            output: row.usage.output,
            cost: row.cost,
            ..Recorded::default()
        };
        whole.add(&used);
        let place = places.get(&record).copied().or_else(|| {
            // Some agents record usage after the answer, in a record of its own.
            let counts_later = is_main && dialect != Dialect::ClaudeCode;
            counts_later.then(|| answer_before(&view, record)).flatten()
        });
        if let Some(message) = place.and_then(|it| messages.get_mut(it)) {
            message.add(&used);
            message.time = message.time.take().or(time.filter(|it| rfc3339(it).is_some()));
        }
    }
    whole.seconds = messages.iter().filter_map(|it| it.seconds).reduce(|one, it| one + it);
    Some(Known { messages, whole })
}

/// The message of each record number, from 1.
fn places(view: &View) -> HashMap<u64, usize> {
    let of_message = |(at, origins): (usize, &Vec<msg_session::PartOrigin>)| {
        origins.iter().map(move |it| (u64::from(it.record) + 1, at)).collect::<Vec<_>>()
    };
    view.origins.iter().enumerate().flat_map(of_message).collect()
}

/// The last model answer that began before a record.
fn answer_before(view: &View, record: u64) -> Option<usize> {
    let began = |it: &Vec<msg_session::PartOrigin>| {
        it.first().is_some_and(|it| u64::from(it.record) + 1 < record)
    };
    (0..view.messages.len()).rev().find(|it| {
        view.messages[*it].role == Role::Assistant && view.origins.get(*it).is_some_and(began)
    })
}

/// Each message with the time of its first record, and the seconds since the message before.
fn timed(view: &View, bytes: &[u8]) -> Vec<Recorded> {
    #[derive(Deserialize)]
    struct Line {
        timestamp: Option<serde_json::Value>,
    }
    let time = |line: &[u8]| {
        let time = serde_json::from_slice::<Line>(line).ok()?.timestamp?;
        time.as_str().map(str::to_owned)
    };
    let times: Vec<Option<String>> = bytes.split(|it| *it == b'\n').map(time).collect();
    let mut before: Option<f64> = None;
    let mut res = Vec::with_capacity(view.messages.len());
    for at in 0..view.messages.len() {
        let record = view.origins.get(at).and_then(|it| it.first()).map(|it| it.record as usize);
        let time = record.and_then(|it| times.get(it).cloned().flatten());
        let now = time.as_deref().and_then(rfc3339);
        let time = time.filter(|_| now.is_some());
        // The time before a user message is not part of the conversation's duration.
        let message = &view.messages[at];
        let is_answer = message.role != Role::User || message.tool_results().next().is_some();
        let since = now.zip(before).map(|(now, before)| (now - before).max(0.0));
        let seconds = since.filter(|_| is_answer);
        before = now.or(before);
        res.push(Recorded { time, seconds, ..Recorded::default() });
    }
    res
}

/// Write a conversation as text or XML, for the prompt of a summariser.
///
/// Each message has a line [ROLE NAME], then its texts, calls as name(arguments) and results as name: … Reasoning is
/// left out. With --jsonl each line is answered by {"transcript":TEXT}, and may bring "options" with
/// the flags below, in snake case.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg transcript session.json
  msg transcript --form xml --max-bytes-per-result 2k session.json -o prompt.xml")]
pub(crate) struct TranscriptArgs {
    #[command(flatten)]
    io: AnswerArgs,
    #[command(flatten)]
    how: HowArgs,
}

#[derive(Debug, Clone, Default, clap::Args, Serialize)]
#[command(next_help_heading = "Transcript")]
struct HowArgs {
    /// text, or xml: elements `message` with `text`, `call` and `result`, escaped [default: text].
    #[arg(long, value_name = "FORM", value_parser = ["text", "xml"])]
    form: Option<String>,
    /// Cut tool results after so many bytes (k, M).
    #[arg(long, value_name = "N", value_parser = words::count)]
    max_bytes_per_result: Option<usize>,
}

impl Command for TranscriptArgs {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let options: TranscriptOptions = Flags::of(&self.how).options()?;
        let read = self.io.input.of_a_line();
        let lines = |it: Lines<'_>| {
            it.answer(|line| {
                let options = Flags::of(&self.how).options_of_line(line)?;
                let messages = Document::read(line, &read)?.into_messages();
                let text = transcript(&messages, &options);
                let json = ObjectWriter::new().with("transcript", &text).finish();
                Ok(Answer::new(json, Status::of(!messages.is_empty())))
            })
        };
        self.io.run(cx, (Form::Text, None), lines, |mut input, sources, out| {
            let document = input::open(cx, &mut input, &self.io.input)?;
            let status = input::say_unread(cx, &document, &input.name);
            let text = transcript(document.messages(), &options);
            out.write((sources.head(&input.name) + &text).as_bytes())?;
            Ok(status)
        })
    }
}
