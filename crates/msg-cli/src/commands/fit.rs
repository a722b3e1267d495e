//! `msg fit`: compacts a conversation until it fits a budget (CP-70).
//!
//! `msg-compact` decides what is cut; who writes the summaries is decided here.
//!
//! ```text
//! document ─▶ Fitter ─▶ requests for summaries ─▶ endpoint (or a digest) ─▶ fitted document, plan, records
//! ```

pub(super) mod args;
mod in_session;
mod run;

use std::path::{Path, PathBuf};
use std::time::Duration;

use msg_document::{Digest, FitOptions, Goal, Summarizer};

use self::args::FitArgs;
use self::run::Run;
use super::Command;
use crate::commands::fit::in_session::Endpoint;
use crate::context::Context;
use crate::documents::RowArgs;
use crate::documents::{EditArgs, Lines, Opened};
use crate::exit::{Failure, Status, refuse_if};
use crate::options::Flags;
use crate::sources::Sources;

/// Compact a conversation until it fits a budget; print it, report what was cut.
///
/// Summaries are digests made without a model, unless --summarizer names an endpoint. Exit status 1
/// if it does not fit; nothing is printed then without --json or --best-effort.
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
    #[arg(long)]
    json: bool,
    /// Compact the session of an agent in its own file, by the agent's own record, after making a backup.
    #[arg(long, conflicts_with_all = ["jsonl", "json", "output", "in_place", "pretty", "plan", "apply", "undo", "records", "best_effort"])]
    in_session: bool,
    /// Print the requests of the first step as JSON lines, and do nothing; with --in-session the lines that
    /// would be appended.
    #[arg(long, conflicts_with_all = ["jsonl", "json", "plan", "records", "summarizer", "best_effort"])]
    dry_run: bool,
}

#[derive(Debug, Clone, clap::Args)]
struct FileArgs {
    /// Write the plan to FILE: it can be applied to the grown conversation, and undone.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Apply the plan in FILE instead of compacting.
    #[arg(long, value_name = "FILE", conflicts_with_all = OTHER_THAN_A_PLAN, conflicts_with = "undo")]
    apply: Option<PathBuf>,
    /// Undo the plan in FILE instead of compacting.
    #[arg(long, value_name = "FILE", conflicts_with_all = OTHER_THAN_A_PLAN)]
    undo: Option<PathBuf>,
    /// Write the records of the compaction to FILE, a line of JSON each.
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

/// What a plan that is there has no use for.
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
    /// How many summaries are asked for at once.
    #[arg(long, value_name = "N", default_value_t = 4, requires = "summarizer")]
    requests: usize,
    /// How long one summary may take, in seconds.
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
        in_session::run(cx, path, from, self.dry_run, options, summarizer)
    }

    /// Refuses what cannot go together with several inputs, or in place.
    fn expect_room(&self, sources: &Sources) -> Result<(), Failure> {
        for (option, file) in self.files.all() {
            sources.expect_one(option, file.is_some())?;
        }
        refuse_if(
            self.io.output.is_in_place() && (self.json || self.dry_run),
            "--in-place replaces a conversation by what fits: it takes no --json and no --dry-run",
        )?;
        // The JSON form is an answer a line, which needs no file each.
        match self.json && !self.io.output.names_a_file() {
            true => Ok(()),
            false => self.io.output.expect_room(sources, None),
        }
    }

    /// Refuses what is about one document.
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
