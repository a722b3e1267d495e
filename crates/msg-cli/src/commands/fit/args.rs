//! The flags of `fit`, and those about counting that `stats` has too.

use std::path::{Path, PathBuf};

use msg_core::RawJson;
use msg_document::{CountOptions, Counter, FitTarget, ReportedUsage};
use serde::Serialize;
use serde_json::Value;

use crate::exit::Failure;
use crate::input::side_file;
use crate::options::as_object;
use crate::{sizes, words};

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
    #[arg(help_heading = "Budget", long, value_name = "N", allow_negative_numbers = true, value_parser = sizes::signed)]
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
    #[arg(help_heading = "Budget", long, value_name = "N", value_parser = sizes::size)]
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
    /// Mend the chain first.
    #[arg(help_heading = "What is accepted", long)]
    repair: bool,
    /// Accept unanswered calls at the end.
    #[arg(help_heading = "What is accepted", long)]
    open: bool,
    /// When a summary fails: keep what it was to replace, or put a digest there [default: the preset's].
    #[arg(help_heading = "What is cut", long, value_name = "HOW", value_parser = ["keep", "digest"])]
    on_failure: Option<String>,
    /// Print what was reached even if it does not fit.
    #[arg(help_heading = "What is accepted", long)]
    best_effort: bool,
    /// Take what is lost, and not cut, for an error: exit status 1.
    #[arg(help_heading = "What is accepted", long)]
    strict: bool,
    /// A summariser for tests: fixed:TEXT, len, hash, echo:N, digest, error, fail-on:TEXT.
    #[arg(help_heading = "What is cut", long, value_name = "S", hide_short_help = true)]
    test_summarizer: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub(super) count: CountArgs,
}

impl CountArgs {
    /// The tools of the file that is named; it may have so many bytes.
    pub(crate) fn read_tools(&self, max_bytes: u64) -> Result<Option<Vec<RawJson>>, Failure> {
        self.tools.as_deref().map(|it| read_tools(it, max_bytes)).transpose()
    }
}

fn pair(text: &str) -> Result<(&str, &str), String> {
    text.split_once('=').ok_or_else(|| "expected NAME=VALUE".to_owned())
}

/// A number, a boolean or a list where the text is one, else the text.
fn setting(text: &str) -> Result<(String, Value), String> {
    let (name, value) = pair(text)?;
    Ok((name.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| value.into())))
}

fn cap(text: &str) -> Result<(String, u64), String> {
    let (tool, bytes) = pair(text)?;
    Ok((tool.to_owned(), sizes::size(bytes)?))
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
