//! `msg cache`: where the prompt cache broke, why, and what it cost (CL-50).
//!
//! ```text
//! two bodies ─▶ msg_cache::compare
//! a log      ─▶ msg_cache::Ledger, a line at a time
//! a session  ─▶ sessions::usage ─▶ msg_cache::SessionLedger
//! ```

mod text;

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use msg_cache::{
    Error, Family, Ledger, LedgerOptions, Prices, RULES, Relation, SessionLedger, compare,
    providers,
};
use msg_chainast::Profile;
use msg_document::Format;
use msg_session::Dialect;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::Command;
use crate::context::Context;
use crate::exit::{Failure, Status, refuse_if};
use crate::input::{Input, LimitArgs, side_file};
use crate::output::{Output, json_line};
use crate::sessions::load;
use crate::words::did_you_mean;

/// Show where the prompt cache broke, why, and what it cost
///
/// Compares each request with the one before it, in the order in which the provider caches: tools, system, messages.
/// The input is two request bodies, a log of requests (JSON Lines), or a session whose agent records usage. Usage is
/// what was recorded. `--prices` replaces the built-in prices, `--rules` prints the caching rules. The exit status is
/// 1 if the cache broke or was missed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg cache turn-7.json turn-8.json
  msg cache requests.jsonl --json
  msg cache ~/.claude/projects/-work/3f2c.jsonl")]
pub(crate) struct Args {
    /// Two request bodies, or logs and sessions.
    #[arg(value_name = "FILE", required_unless_present = "rules")]
    files: Vec<PathBuf>,
    /// Compare the two requests in each line: {"a":REQUEST,"b":REQUEST}.
    #[arg(long)]
    pairs: bool,
    /// The API of the requests (anthropic, openai, responses, gemini, bedrock) or the agent of the session. Default:
    /// recognised.
    #[arg(long, value_name = "NAME")]
    from: Option<Source>,
    /// The provider whose caching rules apply: one of `--rules`, or a profile, which has those of OpenAI if it is not
    /// one of these. Default: by API, model and address.
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Prices in LiteLLM's format, instead of the built-in list.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Report misses of at least this many tokens.
    #[arg(long, value_name = "N", default_value_t = 2000)]
    min_missed: u64,
    /// Remember at most this many runs of a log.
    #[arg(long, value_name = "N", default_value_t = 1024)]
    runs: usize,
    /// Print the providers' caching rules and their sources.
    #[arg(long)]
    rules: bool,
    /// Print JSON: a line for each request, then the totals.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limit: LimitArgs,
}

/// The values of `--from`.
#[derive(Debug, Clone, Copy)]
enum Source {
    Requests(Family),
    Session(Dialect),
}

impl std::str::FromStr for Source {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let family = Family::named(name).map(Source::Requests);
        let session = || name.parse::<Dialect>().map(Source::Session);
        family.map_or_else(session, Ok).map_err(|_| {
            "expected anthropic, openai, responses, gemini, bedrock, claude-code or codex"
                .to_owned()
        })
    }
}

/// Refuses a name that is not one of a provider.
fn expect_provider(name: &str) -> Result<(), Failure> {
    if providers().any(|it| it == name) || Profile::named(name).is_some() {
        return Ok(());
    }
    let known: Vec<_> = providers().collect();
    let near = did_you_mean(name, known.iter().copied());
    let known = known.join(", ");
    Err(Failure::Usage(format!("no provider is called {name:?}, expected {known}{near}")))
}

/// Two requests on one line.
#[derive(Deserialize)]
struct Pair<'a> {
    #[serde(borrow)]
    a: &'a RawValue,
    #[serde(borrow)]
    b: &'a RawValue,
}

impl Command for Args {
    fn run(self, _: &Context) -> Result<Status, Failure> {
        let mut out = Output::stdout();
        if self.rules {
            out.write(RULES.as_bytes())?;
            out.finish()?;
            return Ok(Status::Clean);
        }
        let options = self.options()?;
        let mut report = Report { out, json: self.json, status: Status::Clean };
        match self.files.as_slice() {
            [one, other] if !self.pairs => {
                refuse_if(
                    one.as_os_str() == "-" && one == other,
                    "standard input (`-`) can be named only once",
                )?;
                let first = Input::open(Some(one), self.limit.max_bytes)?;
                match document(first)? {
                    Ok(text) => self.compare_two((one, &text), other, &options, &mut report)?,
                    Err(first) => {
                        self.run_input(first, &options, &mut report)?;
                        self.run_file(other, &options, &mut report)?;
                    }
                }
            }
            files => {
                for path in files {
                    self.run_file(path, &options, &mut report)?;
                }
            }
        }
        report.out.finish()?;
        Ok(report.status)
    }
}

impl Args {
    fn options(&self) -> Result<LedgerOptions, Failure> {
        let prices = self.prices.as_deref().map(|path| {
            let text = side_file(path, self.limit.max_bytes)?;
            Prices::read(text.as_bytes())
                .map_err(|it| Failure::Refused(format!("{}: {it} ({})", path.display(), it.code())))
        });
        let family = match self.from {
            Some(Source::Requests(family)) => Some(family),
            _ => None,
        };
        let provider = self.provider.clone();
        if let Some(name) = &provider {
            expect_provider(name)?;
        }
        let (min_missed, runs) = (self.min_missed, self.runs);
        Ok(LedgerOptions { family, provider, prices: prices.transpose()?, min_missed, runs })
    }

    fn compare_two(
        &self,
        (one, text): (&Path, &[u8]),
        other: &Path,
        options: &LedgerOptions,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let second = Input::open(Some(other), self.limit.max_bytes)?.read_all()?;
        let compared = compare(text, &second, &options.cache()).map_err(refused)?;
        report.note(compared.relation == Relation::Break || has_error(&compared.notes));
        let names = (one.display().to_string(), other.display().to_string());
        match self.json {
            true => report.out.write(&json_line(&compared)),
            false => report.out.write(text::pair(&names, &compared).as_bytes()),
        }
    }

    fn run_file(
        &self,
        path: &Path,
        options: &LedgerOptions,
        report: &mut Report,
    ) -> Result<(), Failure> {
        self.run_input(Input::open(Some(path), self.limit.max_bytes)?, options, report)
    }

    fn run_input(
        &self,
        mut input: Input,
        options: &LedgerOptions,
        report: &mut Report,
    ) -> Result<(), Failure> {
        if self.pairs {
            return self.run_pairs(input, options, report);
        }
        match self.dialect(&mut input)? {
            Some(dialect) => run_session(dialect, input, options, report),
            None => self.run_log(input, options, report),
        }
    }

    /// The agent that wrote a session, detected from its first lines.
    fn dialect(&self, input: &mut Input) -> Result<Option<Dialect>, Failure> {
        match self.from {
            Some(Source::Session(dialect)) => return Ok(Some(dialect)),
            Some(Source::Requests(_)) => return Ok(None),
            None => {}
        }
        let mut head = Vec::new();
        let read = (&mut input.reader).take(HEAD).read_to_end(&mut head);
        read.map_err(|source| Failure::read(&input.name, source))?;
        let end = memchr::memrchr(b'\n', &head).map_or(head.len(), |it| it + 1);
        let format = Format::recognise(&head[..end], &input.name).ok();
        let rest = std::mem::replace(&mut input.reader, Box::new(std::io::empty()));
        input.reader = Box::new(std::io::Cursor::new(head).chain(rest));
        let session = format.filter(|it| it.is_session());
        Ok(session.and_then(|it| it.name().parse().ok()))
    }

    fn run_pairs(
        &self,
        mut input: Input,
        options: &LedgerOptions,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let cache = options.cache();
        each_line(&mut input, |at, line| {
            let compared = serde_json::from_slice::<Pair<'_>>(line)
                .map_err(|err| Error::BadLine(format!("expected {{\"a\":…,\"b\":…}}: {err}")))
                .and_then(|it| compare(it.a.get().as_bytes(), it.b.get().as_bytes(), &cache));
            let failed = compared.as_ref().is_ok_and(|it| it.relation == Relation::Break);
            report.note(failed);
            match compared {
                Ok(it) if self.json => report.out.write(&json_line(&it)),
                Ok(it) => {
                    let names = (format!("line {at}, a"), format!("line {at}, b"));
                    report.out.write(text::pair(&names, &it).as_bytes())
                }
                Err(err) => report.bad_line(at, &err),
            }
        })
    }

    fn run_log(
        &self,
        mut input: Input,
        options: &LedgerOptions,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let mut ledger = Ledger::new(options.clone());
        let push = |ledger: &mut Ledger, at, line: &[u8]| {
            ledger.skip_to(at);
            ledger.push(line)
        };
        each_line(&mut input, |at, line| match push(&mut ledger, at, line) {
            Ok(row) => {
                let compared = row.comparison.as_ref();
                let broke = compared
                    .is_some_and(|it| it.relation == Relation::Break || has_error(&it.notes));
                report.note(broke || row.missed.is_some());
                match self.json {
                    true => report.out.write(&json_line(&row)),
                    false => report.out.write(text::row(&row).as_bytes()),
                }
            }
            Err(err) => report.bad_line(at, &err),
        })?;
        let totals = ledger.totals();
        match self.json {
            true => report.out.write(&json_line(&json!({ "totals": totals }))),
            false => report.out.write(text::totals(&input.name, &totals).as_bytes()),
        }
    }
}

/// How many bytes to inspect to recognise a session.
const HEAD: u64 = 256 * 1024;

/// The output, and the status so far.
struct Report {
    out: Output,
    json: bool,
    status: Status,
}

impl Report {
    fn note(&mut self, is_problem: bool) {
        self.status = self.status.max(Status::of(!is_problem));
    }

    fn bad_line(&mut self, at: u64, err: &Error) -> Result<(), Failure> {
        self.note(true);
        let (code, text) = (err.code(), err.to_string());
        match self.json {
            true => self.out.write(&json_line(&json!({"line":at,"error":code,"message":text}))),
            false => self.out.write(format!("line {at}  error[{code}]: {text}\n").as_bytes()),
        }
    }
}

fn run_session(
    dialect: Dialect,
    mut input: Input,
    options: &LedgerOptions,
    report: &mut Report,
) -> Result<(), Failure> {
    let provider = options.provider.as_deref().unwrap_or_else(|| load::provider(dialect));
    let mut ledger = SessionLedger::new(provider, options.clone());
    let (mut models, mut missed) = (Vec::new(), Vec::new());
    for it in load::responses(dialect, &input.read_all()?) {
        let row = ledger.push(it);
        report.note(row.missed.is_some());
        if report.json {
            report.out.write(&json_line(&row))?;
            continue;
        }
        models.extend(row.model.clone().filter(|it| !models.contains(it)));
        missed.extend(Some(row).filter(|it| it.missed.is_some()));
    }
    let totals = ledger.totals();
    if totals.requests == 0 && !matches!(dialect, Dialect::ClaudeCode | Dialect::Codex) {
        let text = format!(
            "{}: no usage of a response is recorded in it, or not in a way that is known of {dialect}",
            input.name
        );
        return Err(Failure::Refused(text));
    }
    match report.json {
        true => report.out.write(&json_line(&json!({ "totals": totals }))),
        false => {
            let said = text::session(&input.name, &models, &missed, &totals);
            report.out.write(said.as_bytes())
        }
    }
}

/// The text of an input with one JSON document; an input of lines is returned unread.
fn document(mut input: Input) -> Result<Result<Vec<u8>, Input>, Failure> {
    let mut text = Vec::new();
    let read = (&mut input.reader).take(input.limit.saturating_add(1)).read_to_end(&mut text);
    let n = read.map_err(|source| Failure::read(&input.name, source))? as u64;
    if n <= input.limit && serde_json::from_slice::<serde::de::IgnoredAny>(&text).is_ok() {
        return Ok(Ok(text));
    }
    match &input.path {
        // A log is not held in memory while it is read.
        Some(path) => Input::open(Some(path), input.limit).map(Err),
        None => {
            let rest = std::mem::replace(&mut input.reader, Box::new(std::io::empty()));
            input.reader = Box::new(std::io::Cursor::new(text).chain(rest));
            Ok(Err(input))
        }
    }
}

/// Passes on each non-blank line with its number, from 1; holds one line in memory.
fn each_line(
    input: &mut Input,
    mut take: impl FnMut(u64, &[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let limit = input.limit;
    let mut reader = BufReader::new(&mut input.reader);
    let mut line = Vec::new();
    for at in 1.. {
        line.clear();
        let read = (&mut reader).take(limit.saturating_add(1)).read_until(b'\n', &mut line);
        match read.map_err(|source| Failure::read(&input.name, source))? {
            0 => break,
            n if n as u64 > limit => return Err(Failure::too_large(&input.name, limit)),
            _ if line.trim_ascii().is_empty() => {}
            _ => take(at, line.trim_ascii())?,
        }
    }
    Ok(())
}

fn has_error(notes: &[&'static str]) -> bool {
    notes.iter().any(|it| matches!(*it, "cache::too-many-breakpoints" | "cache::ttl-order"))
}

fn refused(err: Error) -> Failure {
    Failure::Refused(format!("{err} ({})", err.code()))
}
