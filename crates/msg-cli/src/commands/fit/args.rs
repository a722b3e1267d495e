//! The options of `fit` and `stats` as arguments.

use std::path::{Path, PathBuf};

use clap::builder::TypedValueParser;
use msg_core::RawJson;
use serde_json::{Map, Value};

use msg_document::{Counter, FitOptions, Usage};

use crate::exit::Failure;
use crate::input::side_file;
use crate::{sizes, words};

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Counting")]
pub(crate) struct CountArgs {
    /// How tokens are counted [default: script, or the preset's].
    #[arg(long, value_name = "NAME", value_parser = words::counter().map(known_counter))]
    counter: Option<Counter>,
    /// Count the tool definitions in FILE (a JSON list) instead of those of the request body.
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Calibrate by a reported usage: so many prompt tokens for the first K messages.
    #[arg(long, value_name = "K:TOKENS")]
    usage: Option<String>,
}

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Compaction")]
pub(crate) struct FitArgs {
    /// The limit, in tokens (k, M) unless --unit says otherwise.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = sizes::signed)]
    budget: Option<i64>,
    /// What the limit counts [default: tokens].
    #[arg(long, value_name = "UNIT", value_parser = ["tokens", "bytes"])]
    unit: Option<String>,
    /// What to keep free of the limit, as a number or a percentage.
    #[arg(long, value_name = "N|P%")]
    reserve: Option<String>,
    /// Compact only above this percentage of what is usable.
    #[arg(long, value_name = "P")]
    trigger: Option<u64>,
    /// Compact down to this percentage of what is usable.
    #[arg(long, value_name = "P")]
    target: Option<u64>,
    /// What to do, in which order [default: balanced].
    #[arg(long, value_name = "NAME", conflicts_with = "policies", value_parser = words::preset())]
    preset: Option<String>,
    /// An option of the preset; repeatable.
    #[arg(long, value_name = "K=V")]
    config: Vec<String>,
    /// The policies to run instead of a preset, as a JSON list.
    #[arg(long, value_name = "JSON")]
    policies: Option<String>,
    /// What stays: first-user, contains:TEXT, tool:NAME; repeatable, replaces first-user.
    #[arg(long, value_name = "PIN", value_parser = words::pin(), hide_possible_values = true)]
    pin: Vec<String>,
    /// Cut outputs of TOOL (`*`: of all others) to so many bytes first; repeatable.
    #[arg(long, value_name = "TOOL=BYTES")]
    tool_cap: Vec<String>,
    /// Keep to what this provider accepts; `msg profiles` lists them.
    #[arg(long, value_name = "NAME", value_parser = words::profile(), hide_possible_values = true)]
    profile: Option<String>,
    /// Mend the chain first.
    #[arg(long)]
    repair: bool,
    /// Accept unanswered calls at the end.
    #[arg(long)]
    open: bool,
    /// When a summary fails: keep what it was to replace, or put a digest there [default: the preset's].
    #[arg(long, value_name = "HOW", value_parser = ["keep", "digest"])]
    on_failure: Option<String>,
    /// Print what was reached even if it does not fit.
    #[arg(long)]
    best_effort: bool,
    /// A summariser for tests: fixed:TEXT, len, hash, echo:N, digest, error, fail-on:TEXT.
    #[arg(long, value_name = "S", hide_short_help = true)]
    test_summarizer: Vec<String>,
    #[command(flatten)]
    count: CountArgs,
}

/// The counter of a name that is one of the known.
pub(crate) fn known_counter(name: String) -> Counter {
    name.parse().expect("because the parser lets the names of counters through")
}

impl CountArgs {
    /// What they say, as options; a file that they name may have so many bytes.
    pub(crate) fn options(&self, max_bytes: u64) -> Result<FitOptions, Failure> {
        Ok(FitOptions {
            counter: self.counter,
            tools: self.tools.as_deref().map(|it| read_tools(it, max_bytes)).transpose()?,
            usage: self.usage.as_deref().map(read_usage).transpose()?,
            ..FitOptions::default()
        })
    }
}

impl FitArgs {
    /// What they say, as options; a file that they name may have so many bytes.
    pub(crate) fn options(&self, max_bytes: u64) -> Result<FitOptions, Failure> {
        let policies = self.policies.as_deref().map(|it| {
            serde_json::from_str(it)
                .map_err(|it| Failure::Usage(format!("--policies is no JSON list: {it}")))
        });
        Ok(FitOptions {
            budget: self.budget,
            unit: self.unit.clone(),
            reserve: self.reserve.clone().map(Value::String),
            trigger: self.trigger,
            target: self.target,
            preset: self.preset.clone(),
            config: pairs("--config", &self.config)?
                .map(|(k, v)| (k.to_owned(), scalar(v)))
                .collect::<Map<_, _>>(),
            policies: policies.transpose()?,
            pin: (!self.pin.is_empty()).then(|| self.pin.clone()),
            tool_caps: pairs("--tool-cap", &self.tool_cap)?
                .map(|(k, v)| number("--tool-cap", v).map(|v| (k.to_owned(), v)))
                .collect::<Result<_, _>>()?,
            profile: self.profile.clone(),
            repair: self.repair,
            open: self.open,
            on_failure: self.on_failure.clone(),
            best_effort: self.best_effort,
            test_summarizer: Some(self.test_summarizer.clone()),
            ..self.count.options(max_bytes)?
        })
    }
}

/// `K=V` pairs; refuses what has no `=`.
fn pairs<'a>(
    option: &str,
    texts: &'a [String],
) -> Result<impl Iterator<Item = (&'a str, &'a str)>, Failure> {
    if let Some(bad) = texts.iter().find(|it| !it.contains('=')) {
        return Err(Failure::Usage(format!("found {option} {bad}, expected NAME=VALUE")));
    }
    Ok(texts.iter().filter_map(|it| it.split_once('=')))
}

/// A number, a boolean or a list where the text is one, else the text.
fn scalar(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn number(option: &str, text: &str) -> Result<u64, Failure> {
    sizes::size(text).map_err(|_| {
        Failure::Usage(format!("found {option} NAME={text}, expected a number of bytes"))
    })
}

fn read_usage(text: &str) -> Result<Usage, Failure> {
    let read = text.split_once(':').and_then(|(messages, tokens)| {
        Some(Usage { messages: messages.parse().ok()?, prompt_tokens: tokens.parse().ok()? })
    });
    read.ok_or_else(|| Failure::Usage(format!("found --usage {text}, expected MESSAGES:TOKENS")))
}

fn read_tools(path: &Path, max_bytes: u64) -> Result<Vec<RawJson>, Failure> {
    let text = side_file(path, max_bytes)?;
    let none = |it: String| {
        Failure::Usage(format!("{} is no JSON list of tool definitions: {it}", path.display()))
    };
    let tools: Vec<RawJson> = serde_json::from_str(&text).map_err(|it| none(it.to_string()))?;
    match FitOptions::no_tool(&tools) {
        Some(number) => Err(none(format!("the value at {number} has neither a name nor a type"))),
        None => Ok(tools),
    }
}
