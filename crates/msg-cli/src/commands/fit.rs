//! `msg fit`: compacts a conversation until it fits a budget (CP-70).
//!
//! `msg-compact` decides what is cut; this file chooses who writes the summaries.
//!
//! ```text
//! document ─▶ Fitter ─▶ requests for summaries ─▶ endpoint (or a digest) ─▶ fitted document, plan, records
//! ```

mod run;

use std::path::{Path, PathBuf};
use std::time::Duration;

use msg_core::RawJson;
use msg_document::{
    CountOptions, Counter, Digest, FitOptions, FitTarget, Goal, ReportedUsage, Summarizer,
};
use serde::Serialize;
use serde_json::Value;

use self::run::Run;
use super::Command;
use crate::commands::fit::run::Endpoint;
use crate::context::Context;
use crate::documents::{EditArgs, Lines, Opened, RowArgs};
use crate::exit::{Failure, Status, refuse_if};
use crate::input::{Sources, side_file};
use crate::options::{Flags, as_object};
use crate::words;

/// Compact a conversation until it fits a budget, and report what was cut.
///
/// Summaries are digests made without a model, unless --summarizer names an endpoint. If the conversation cannot fit,
/// the exit status is 1, and nothing is printed without --json or --best-effort.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg fit --budget 8k session.json -o smaller.json
  msg fit --budget 100k --counter o200k --pin tool:plan session.json
  msg fit --budget 8k --plan plan.json session.json > smaller.json
  msg fit --budget 100k --in-session ~/.claude/projects/p/s.jsonl")]
pub(crate) struct Args {
    #[command(flatten)]
    io: EditArgs,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    fit: FitArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    files: FileArgs,
    /// Print the result as JSON: whether it fits, before and after, edits, messages.
    #[arg(help_heading = "Output", long)]
    json: bool,
    /// Compact an agent's session in its own file, with the agent's own kind of record; keep a backup.
    #[arg(help_heading = "Output", long, conflicts_with_all = ["jsonl", "json", "output", "in_place", "pretty", "plan", "apply", "undo", "records", "best_effort"])]
    in_session: bool,
    /// Change nothing; print the summary requests of the first step as JSON Lines, or with --in-session the lines to
    /// append.
    #[arg(help_heading = "Output", long, conflicts_with_all = ["jsonl", "json", "plan", "records", "summarizer", "best_effort"])]
    dry_run: bool,
}

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Plan and records")]
struct FileArgs {
    /// Write the plan to FILE; `--apply` repeats it on the grown conversation, `--undo` undoes it.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Apply the plan in FILE instead of compacting.
    #[arg(long, value_name = "FILE", conflicts_with_all = OTHER_THAN_A_PLAN, conflicts_with = "undo")]
    apply: Option<PathBuf>,
    /// Undo the plan in FILE instead of compacting.
    #[arg(long, value_name = "FILE", conflicts_with_all = OTHER_THAN_A_PLAN)]
    undo: Option<PathBuf>,
    /// Write the records of the compaction to FILE, one JSON object per line.
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,
    /// The session that the records name.
    #[arg(
        long,
        value_name = "ID",
        default_value = "",
        hide_default_value = true,
        requires = "records"
    )]
    session: String,
}

/// Options that do not apply to an existing plan.
const OTHER_THAN_A_PLAN: [&str; 31] = [
    "jsonl",
    "plan",
    "records",
    "dry_run",
    "summarizer",
    "budget",
    "counter",
    "tools",
    "usage",
    "unit",
    "reserve",
    "trigger",
    "target",
    "cache",
    "keep",
    "cold",
    "preset",
    "config",
    "policies",
    "pin",
    "tool_cap",
    "profile",
    "repair",
    "open",
    "on_failure",
    "best_effort",
    "strict",
    "test_summarizer",
    "session",
    "requests",
    "timeout",
];

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Who summarises")]
struct ModelArgs {
    /// Ask this OpenAI-compatible endpoint for summaries; the key is read from OPENAI_API_KEY.
    #[arg(long, value_name = "URL", requires = "model")]
    summarizer: Option<String>,
    /// The model to ask.
    #[arg(long, value_name = "M", requires = "summarizer")]
    model: Option<String>,
    /// How many summaries to request at once.
    #[arg(long, value_name = "N", default_value_t = 4, requires = "summarizer")]
    requests: usize,
    /// The time limit of one summary, in seconds.
    #[arg(long, value_name = "S", default_value_t = 120, requires = "summarizer")]
    timeout: u64,
}

impl ModelArgs {
    fn endpoint(&self) -> Result<Option<Endpoint>, Failure> {
        let Some((url, model)) = self.summarizer.as_ref().zip(self.model.as_ref()) else {
            return Ok(None);
        };
        let timeout = Duration::from_secs(self.timeout.max(1));
        Endpoint::new(url, model, self.requests.max(1), timeout).map(Some)
    }
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let options = self.options()?;
        let endpoint = self.model.endpoint()?;
        let summarizer = endpoint.as_ref().map_or(&Digest as &dyn Summarizer, |it| it);
        let sources = self.io.input.sources()?;
        if self.in_session {
            return self.in_session(cx, &sources, options, summarizer);
        }
        self.expect_room(&sources)?;
        let run = Run { cx, args: &self, summarizer };
        let (lines, one) =
            (|it: Lines<'_>| run.lines(it, &options), |it: Opened<'_>| run.document(it, &options));
        self.io.run(cx, (&sources, None), (None, Some(&self.rows)), lines, one)
    }
}

impl Args {
    fn options(&self) -> Result<FitOptions, Failure> {
        let flags = Flags::of(&self.io.input).and(&self.rows).and(&self.fit);
        let mut options: FitOptions = flags.options()?;
        options.count.tools = self.fit.count.read_tools(self.io.input.max_bytes())?;
        options.records = self.files.records.is_some();
        options.plan = self.files.plan.is_some();
        options.session.clone_from(&self.files.session);
        Ok(options)
    }

    fn in_session(
        &self,
        cx: &Context,
        sources: &Sources,
        options: FitOptions,
        summarizer: &dyn Summarizer,
    ) -> Result<Status, Failure> {
        sources.expect_one("--in-session", true)?;
        let path = sources.files().next();
        let path = path.ok_or_else(|| Failure::Usage("--in-session needs a session".to_owned()))?;
        let from = self.io.input.from.map(|it| it.name().parse()).transpose();
        let from = from.map_err(|it: msg_session::Error| Failure::Usage(it.to_string()))?;
        run::run(cx, path, from, self.dry_run, options, summarizer)
    }

    /// Refuses options that cannot be combined with several inputs, or in place.
    fn expect_room(&self, sources: &Sources) -> Result<(), Failure> {
        for (option, file) in self.files.all() {
            sources.expect_one(option, file.is_some())?;
        }
        refuse_if(
            self.io.output.is_in_place() && (self.json || self.dry_run),
            "--in-place cannot be combined with --json or --dry-run",
        )?;
        // The JSON form is one answer per line, which needs no separate files.
        match self.json && !self.io.output.names_a_file() {
            true => Ok(()),
            false => self.io.output.expect_room(sources, None),
        }
    }

    /// Refuses options about one document.
    fn expect_no_files(&self) -> Result<(), Failure> {
        let has_files = self.files.all().iter().any(|it| it.1.is_some());
        if !has_files && !self.dry_run && !self.io.output.is_in_place() {
            return Ok(());
        }
        let text = "lines are answered in JSON: they take no --in-place, --plan, --apply, --undo, \
                    --records and --dry-run; `options` of a line hold plans";
        Err(Failure::Usage(text.to_owned()))
    }
}

impl FileArgs {
    fn all(&self) -> [(&'static str, &Option<PathBuf>); 4] {
        [
            ("--plan", &self.plan),
            ("--records", &self.records),
            ("--apply", &self.apply),
            ("--undo", &self.undo),
        ]
    }

    fn goal(&self) -> Option<(Goal, &Path)> {
        let apply = self.apply.as_deref().map(|it| (Goal::Apply, it));
        apply.or(self.undo.as_deref().map(|it| (Goal::Undo, it)))
    }
}

// The flags of `fit`, and those about counting that it shares with `stats`.

#[derive(Debug, Clone, clap::Args, Serialize)]
#[command(next_help_heading = "Counting")]
pub(crate) struct CountArgs {
    /// How tokens are counted [default: script, or the preset's].
    #[arg(long, value_name = "NAME", value_parser = words::counter())]
    counter: Option<Counter>,
    /// Count the tool definitions in FILE (a JSON list) instead of those of the request body.
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    tools: Option<PathBuf>,
    /// Calibrate by a reported usage: so many prompt tokens for the first K messages.
    #[arg(long, value_name = "K:TOKENS", value_parser = usage)]
    usage: Option<ReportedUsage>,
}

#[derive(Debug, Clone, clap::Args, Serialize)]
#[command(next_help_heading = "Compaction")]
pub(crate) struct FitArgs {
    /// The limit, in tokens (k, M) unless --unit says otherwise.
    #[arg(help_heading = "Budget", long, value_name = "N", allow_negative_numbers = true, value_parser = words::signed)]
    budget: Option<i64>,
    /// What the limit counts [default: tokens].
    #[arg(help_heading = "Budget", long, value_name = "UNIT", value_parser = ["tokens", "bytes"])]
    unit: Option<String>,
    /// What to keep free of the limit, as a number or a percentage.
    #[arg(help_heading = "Budget", long, value_name = "N|P%")]
    reserve: Option<String>,
    /// Compact only above this percentage of what is usable.
    #[arg(help_heading = "Budget", long, value_name = "P")]
    trigger: Option<u64>,
    /// Compact down to this percentage of what is usable, or as deep as costs least (`cache`).
    #[arg(help_heading = "Budget", long, value_name = "P|cache")]
    target: Option<FitTarget>,
    /// Choose how deep to cut by the prices of a prompt cache, as shares of the input price or those of a provider
    /// [default: 0.1:1.25].
    #[arg(help_heading = "Budget", long, value_name = "READ:WRITE|PROVIDER", num_args = 0..=1, require_equals = true, default_missing_value = "0.1:1.25")]
    cache: Option<String>,
    /// With --cache, keep at least this much [default: an eighth of the budget].
    #[arg(help_heading = "Budget", long, value_name = "N", value_parser = words::size)]
    keep: Option<u64>,
    /// Compact from three quarters of the budget on: the prompt cache has expired anyway.
    #[arg(help_heading = "Budget", long)]
    cold: bool,
    /// What to do, in which order [default: balanced].
    #[arg(help_heading = "What is cut", long, value_name = "NAME", conflicts_with = "policies", value_parser = words::preset())]
    preset: Option<String>,
    /// An option of the preset; repeatable.
    #[arg(help_heading = "What is cut", long, value_name = "K=V", value_parser = setting)]
    #[serde(serialize_with = "as_object")]
    config: Vec<(String, Value)>,
    /// The policies to run instead of a preset, as a JSON list.
    #[arg(help_heading = "What is cut", long, value_name = "JSON", value_parser = json)]
    policies: Option<Value>,
    /// What stays: first-user, contains:TEXT, tool:NAME; repeatable, replaces first-user.
    #[arg(help_heading = "What is cut", long, value_name = "PIN", value_parser = words::pin(), hide_possible_values = true)]
    pin: Vec<String>,
    /// Cut outputs of TOOL (`*`: of all others) to so many bytes first; repeatable.
    #[arg(help_heading = "What is cut", long, value_name = "TOOL=BYTES", value_parser = cap)]
    #[serde(rename = "tool_caps", serialize_with = "as_object")]
    tool_cap: Vec<(String, u64)>,
    /// Keep to what this provider accepts; `msg profiles` lists them.
    #[arg(help_heading = "What is accepted", long, value_name = "NAME", value_parser = words::profile(), hide_possible_values = true)]
    profile: Option<String>,
    /// Repair the chain first.
    #[arg(help_heading = "What is accepted", long)]
    repair: bool,
    /// Accept unanswered calls at the end.
    #[arg(help_heading = "What is accepted", long)]
    open: bool,
    /// When a summary fails: keep the messages, or replace them with a digest [default: the preset's].
    #[arg(help_heading = "What is cut", long, value_name = "HOW", value_parser = ["keep", "digest"])]
    on_failure: Option<String>,
    /// Print what was reached even if it does not fit.
    #[arg(help_heading = "What is accepted", long)]
    best_effort: bool,
    /// Treat losses other than cuts as errors: exit with status 1.
    #[arg(help_heading = "What is accepted", long)]
    strict: bool,
    /// A summariser for tests: fixed:TEXT, len, hash, echo:N, digest, error, fail-on:TEXT.
    #[arg(help_heading = "What is cut", long, value_name = "S", hide_short_help = true)]
    test_summarizer: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    count: CountArgs,
}

impl CountArgs {
    /// The tools in the named file, which may have up to `max_bytes`.
    pub(crate) fn read_tools(&self, max_bytes: u64) -> Result<Option<Vec<RawJson>>, Failure> {
        self.tools.as_deref().map(|it| read_tools(it, max_bytes)).transpose()
    }
}

fn pair(text: &str) -> Result<(&str, &str), String> {
    text.split_once('=').ok_or_else(|| "expected NAME=VALUE".to_owned())
}

/// A number, boolean or list if the text is one, otherwise the text.
fn setting(text: &str) -> Result<(String, Value), String> {
    let (name, value) = pair(text)?;
    Ok((name.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| value.into())))
}

fn cap(text: &str) -> Result<(String, u64), String> {
    let (tool, bytes) = pair(text)?;
    Ok((tool.to_owned(), words::size(bytes)?))
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|it| format!("not JSON: {it}"))
}

fn usage(text: &str) -> Result<ReportedUsage, String> {
    let read = text.split_once(':').and_then(|(messages, tokens)| {
        Some(ReportedUsage {
            messages: messages.parse().ok()?,
            prompt_tokens: tokens.parse().ok()?,
        })
    });
    read.ok_or_else(|| "expected MESSAGES:TOKENS".to_owned())
}

fn read_tools(path: &Path, max_bytes: u64) -> Result<Vec<RawJson>, Failure> {
    let text = side_file(path, max_bytes)?;
    let none = |it: String| {
        Failure::Usage(format!("{} is not a JSON list of tool definitions: {it}", path.display()))
    };
    let tools: Vec<RawJson> = serde_json::from_str(&text).map_err(|it| none(it.to_string()))?;
    match CountOptions::no_tool(&tools) {
        Some(number) => Err(none(format!("the value at {number} has neither a name nor a type"))),
        None => Ok(tools),
    }
}
