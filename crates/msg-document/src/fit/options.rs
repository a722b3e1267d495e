//! The options of `fit` and `stats`, from the command line and from a line's `options`.
//!
//! ```text
//! {"from":"openai","budget":8000,"preset":"window","counter":"o200k"}     members, as they are written
//!  └ read          └ limit       └ cut             └ count                groups, as Rust has them
//! ```
//!
//! Names and values only; `fitter` gives them their meaning.

use std::collections::BTreeMap;

use msg_compact::{OnFailure, Pin, Reserve, Unit};
use msg_core::RawJson;
use msg_formats::{CallForms, FieldPath, Format, JoinedPaths, ReadOptions, Refusal, RowFields};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::fit::{Counter, no_tool, tools_of};
use crate::json::may_have_member;
use crate::options::paths;
use crate::options::read;

/// Options of a compaction.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(from = "FitMembers")]
pub struct FitOptions {
    /// How the document is read.
    pub read: ReadOptions,
    /// How tokens are counted.
    pub count: CountOptions,
    /// The limit.
    pub limit: FitLimit,
    /// What is cut, in which order.
    pub cut: FitCut,
    /// The provider whose rules the result must follow.
    pub profile: Option<String>,
    /// Repair the chain first.
    pub repair: bool,
    /// Accept unanswered calls at the end.
    pub open: bool,
    /// Return what was reached even if it does not fit.
    pub best_effort: bool,
    /// Whether losses other than cuts are errors.
    pub strict: bool,
    /// Return the records of the compaction.
    pub records: bool,
    /// The session that the records name.
    pub session: String,
    /// Return the plan.
    pub plan: bool,
    /// Apply this plan instead.
    pub apply: Option<RawJson>,
    /// Undo this plan instead.
    pub undo: Option<RawJson>,
}

/// Options of statistics.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(from = "FitMembers")]
pub struct StatsOptions {
    /// How the document is read.
    pub read: ReadOptions,
    /// How tokens are counted.
    pub count: CountOptions,
    /// How many parts are listed.
    pub top: Option<usize>,
}

/// How tokens are counted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CountOptions {
    /// The counter [default: that of the preset, which is `script`].
    pub counter: Option<Counter>,
    /// The tool definitions that every request has [default: those of the document].
    pub tools: Option<Vec<RawJson>>,
    /// A reported usage to calibrate the counter by.
    pub usage: Option<ReportedUsage>,
}

/// The limit of a history.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FitLimit {
    /// The limit, in `unit`.
    pub budget: Option<i64>,
    /// The unit of the limit [default: tokens].
    pub unit: Option<Unit>,
    /// What to keep free of the limit.
    pub reserve: Option<Reserve>,
    /// Compact only above this percentage of the usable budget.
    pub trigger: Option<u64>,
    /// Compact down to this percentage of the usable budget, or to the depth that costs least.
    pub target: Option<FitTarget>,
    /// The prices of a prompt cache, as `READ:WRITE` in shares of the input price, or the name of a provider. They
    /// determine the target.
    pub cache: Option<String>,
    /// The minimum that stays if cache prices determine the target [default: an eighth of the budget].
    pub keep: Option<u64>,
    /// Whether the prompt cache has expired: compact from three quarters of the usable budget on.
    pub cold: bool,
}

/// What is cut, and in which order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FitCut {
    /// A preset: `balanced` (the default), `pentagi`, `wolo`, `forge`, `window`.
    pub preset: Option<String>,
    /// Options of the preset.
    pub config: Map<String, Value>,
    /// Policies to run instead of a preset.
    pub policies: Option<Vec<Value>>,
    /// What must stay: `first-user`, `contains:TEXT`, `tool:NAME`. Replaces the default,
    /// `first-user`.
    pub pin: Option<Vec<Pin>>,
    /// The number of bytes to which the outputs of a tool are cut first.
    pub tool_caps: BTreeMap<String, u64>,
    /// When a summary fails: keep the messages, or replace them with a digest.
    pub on_failure: Option<OnFailure>,
    /// Summarisers for repeatable tests.
    pub test_summarizer: Option<Vec<String>>,
}

/// How far a history is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitTarget {
    /// To this percentage of the usable budget.
    Percent(u64),
    /// To the depth that costs least with a prompt cache (CL-61).
    Cache,
}

impl std::str::FromStr for FitTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "cache" => Ok(FitTarget::Cache),
            text => text.parse().map(FitTarget::Percent).map_err(|_| NO_TARGET.to_owned()),
        }
    }
}

const NO_TARGET: &str = "expected a percentage or `cache`";

impl<'de> Deserialize<'de> for FitTarget {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a percentage or `cache`")]
        enum Stored {
            Percent(u64),
            Name(String),
        }
        match Stored::deserialize(from)? {
            Stored::Percent(percent) => Ok(FitTarget::Percent(percent)),
            Stored::Name(name) => name.parse().map_err(serde::de::Error::custom),
        }
    }
}

impl Serialize for FitTarget {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            FitTarget::Percent(percent) => serializer.serialize_u64(*percent),
            FitTarget::Cache => serializer.serialize_str("cache"),
        }
    }
}

/// Prompt tokens that a provider reported for the first messages.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportedUsage {
    /// The number of messages.
    pub messages: usize,
    /// Their prompt tokens.
    pub prompt_tokens: u64,
}

/// A text, or a list of texts.
fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Texts {
        None,
        One(String),
        Many(Vec<String>),
    }
    Ok(match Texts::deserialize(from)? {
        Texts::None => None,
        Texts::One(one) => Some(vec![one]),
        Texts::Many(many) => Some(many),
    })
}

impl FitOptions {
    msg_core::setters! {
        new;
        /// Sets how the document is read.
        with_read(read: ReadOptions);
        /// Sets the limit, in the unit.
        with_budget(budget: i64) limit.budget = Some(budget);
        /// Sets the counter.
        with_counter(counter: Counter) count.counter = Some(counter);
        /// Sets the preset.
        with_preset(preset: impl Into<String>) cut.preset = Some(preset.into());
        /// Keeps the result valid for this provider.
        with_profile(profile: impl Into<String>) profile = Some(profile.into());
    }

    /// Takes the tool definitions from a request body, unless they are set.
    #[must_use]
    pub fn for_document(mut self, json: &[u8]) -> Self {
        self.count = self.count.for_document(json).unwrap_or(self.count);
        self
    }

    /// The options of a line: its own `options`, and these for members that it lacks. `None` if it has no `options`.
    ///
    /// Fails for options that are not understood.
    pub(crate) fn of_line(&self, json: &[u8]) -> Result<Option<FitOptions>, Refusal> {
        Ok(own(json, &self.read)?.map(|it| it.over(self)))
    }
}

impl From<FitMembers> for FitOptions {
    fn from(members: FitMembers) -> Self {
        let read = members.read();
        members.over(&FitOptions::default().with_read(read))
    }
}

impl StatsOptions {
    msg_core::setters! {
        new;
        /// Sets how the document is read.
        with_read(read: ReadOptions);
        /// Sets the counter.
        with_counter(counter: Counter) count.counter = Some(counter);
        /// Sets how many of the largest parts are listed.
        with_top(top: usize) top = Some(top);
    }

    /// Takes the tool definitions from a request body, unless they are set.
    #[must_use]
    pub fn for_document(mut self, json: &[u8]) -> Self {
        self.count = self.count.for_document(json).unwrap_or(self.count);
        self
    }

    /// As [`FitOptions::of_line`].
    pub(crate) fn of_line(&self, json: &[u8]) -> Result<Option<StatsOptions>, Refusal> {
        let own = own(json, &self.read)?;
        Ok(own.map(|it| StatsOptions {
            read: it.read_over(&self.read),
            top: it.top.or(self.top),
            count: it.count_over(&self.count),
        }))
    }
}

impl From<FitMembers> for StatsOptions {
    fn from(it: FitMembers) -> Self {
        let (read, top) = (it.read(), it.top);
        StatsOptions { read, top, count: it.count_over(&CountOptions::default()) }
    }
}

impl CountOptions {
    /// The index of the first value that is not a tool definition, neither a function nor a provider's own tool.
    /// Such values are not counted.
    ///
    /// ```
    /// use msg_document::CountOptions;
    ///
    /// let tools = [r#"{"name":"search"}"#, "7"].map(|it| it.parse().expect("because it is JSON"));
    /// assert_eq!(CountOptions::no_tool(&tools), Some(1));
    /// ```
    pub fn no_tool(tools: &[RawJson]) -> Option<usize> {
        no_tool(tools)
    }

    /// These options with the tools of a request body; `None` if tools are set or the body has none.
    pub(crate) fn for_document(&self, json: &[u8]) -> Option<CountOptions> {
        let tools = self.tools.is_none().then(|| tools_of(json)).flatten()?;
        Some(CountOptions { tools: Some(tools), ..self.clone() })
    }
}

/// The options in a line, if it has any. Fails for unknown options and invalid values.
fn own(json: &[u8], read: &ReadOptions) -> Result<Option<FitMembers>, Refusal> {
    #[derive(Deserialize)]
    struct Envelope {
        #[serde(default)]
        options: Option<RawJson>,
    }
    // The reader of the document gives a better error for a line that is too large or not an object.
    let is_read = read.expect_size(json).is_ok();
    if !is_read
        || !may_have_member(json, "\"options\"")
        || json.trim_ascii_start().first() != Some(&b'{')
    {
        return Ok(None);
    }
    let Ok(Envelope { options: Some(options) }) = serde_json::from_slice(json) else {
        return Ok(None);
    };
    let bad = |it| Refusal::bad_option(format!("options are not understood: {it}"));
    options.parse().map(Some).map_err(bad)
}

/// The members of the options of `fit` and `stats`: a line's `options` may be for either.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FitMembers {
    /// The format of the document; recognised if not given.
    from: Option<Format>,
    /// The members of a row that hold a conversation each.
    #[serde(deserialize_with = "paths")]
    field: Vec<FieldPath>,
    /// The members of a row that hold a request and its answer.
    #[serde(deserialize_with = "paths")]
    join: Vec<JoinedPaths>,
    /// Where its calls are.
    calls: Option<CallForms>,
    /// The most bytes that it may have.
    max_bytes: Option<u64>,
    /// The limit, in `unit`.
    budget: Option<i64>,
    /// What the limit counts: `tokens` (the default) or `bytes`.
    unit: Option<Unit>,
    /// What to keep free of the limit: a number, or a percentage as a text.
    reserve: Option<Reserve>,
    /// Compact only above this percentage of what is usable.
    trigger: Option<u64>,
    /// Compact down to this percentage of what is usable, or as deep as costs least (`cache`).
    target: Option<FitTarget>,
    /// The prices of a prompt cache, `READ:WRITE` as shares of the input price, or a provider's; chooses the target.
    cache: Option<String>,
    /// The least that stays where the target is chosen by the prices of a cache; an eighth of the budget if not
    /// given.
    keep: Option<u64>,
    /// The entries of the prompt cache have expired: compact from three quarters of what is usable on.
    cold: bool,
    /// How tokens are counted; the preset's way (`script`) if not given.
    counter: Option<Counter>,
    /// The tool definitions that every request offers.
    tools: Option<Vec<RawJson>>,
    /// A reported usage to calibrate the counter by.
    usage: Option<ReportedUsage>,
    /// What to do, in which order: `balanced` (the default), `pentagi`, `wolo`, `forge`, `window`.
    preset: Option<String>,
    /// Options of the preset.
    config: Map<String, Value>,
    /// Policies to run instead of a preset.
    policies: Option<Vec<Value>>,
    /// What stays: `first-user`, `contains:TEXT`, `tool:NAME`; replaces `first-user`.
    pin: Option<Vec<Pin>>,
    /// Bytes to which the outputs of a tool are cut first.
    tool_caps: BTreeMap<String, u64>,
    /// Keep to what this provider accepts.
    profile: Option<String>,
    /// Repair the chain first.
    repair: bool,
    /// Accept unanswered calls at the end.
    open: bool,
    /// When a summary fails: `keep` or `digest`.
    on_failure: Option<OnFailure>,
    /// Give what was reached even if it does not fit.
    best_effort: bool,
    /// Whether what is lost, and not cut, is an error.
    strict: bool,
    /// Summarisers that make tests repeatable.
    #[serde(deserialize_with = "one_or_many")]
    test_summarizer: Option<Vec<String>>,
    /// Give the records of the compaction.
    records: bool,
    /// Give the plan.
    plan: bool,
    /// Apply this plan instead.
    apply: Option<RawJson>,
    /// Undo this plan instead.
    undo: Option<RawJson>,
    /// How many parts `stats` lists.
    top: Option<usize>,
}

impl FitMembers {
    /// How a document is read.
    fn read(&self) -> ReadOptions {
        read(self.from, self.calls, self.max_bytes)
            .with_fields(RowFields::of(self.field.clone(), self.join.clone()))
    }

    /// The read options: these over `other`. The caller decides where a row has its conversation and how much is read.
    fn read_over(&self, other: &ReadOptions) -> ReadOptions {
        let read = other.clone().with_from(self.from.or(other.from));
        let calls = self.calls.unwrap_or(read.calls);
        read.with_calls(calls)
    }

    /// These options over the others.
    fn count_over(self, other: &CountOptions) -> CountOptions {
        CountOptions {
            counter: self.counter.or(other.counter),
            tools: self.tools.or_else(|| other.tools.clone()),
            usage: self.usage.or(other.usage),
        }
    }

    /// These options over the defaults.
    fn over(self, defaults: &FitOptions) -> FitOptions {
        let other = defaults.clone();
        let (limit, cut) = (other.limit, other.cut);
        FitOptions {
            read: self.read_over(&defaults.read),
            limit: FitLimit {
                budget: self.budget.or(limit.budget),
                unit: self.unit.or(limit.unit),
                reserve: self.reserve.or(limit.reserve),
                trigger: self.trigger.or(limit.trigger),
                target: self.target.or(limit.target),
                cache: self.cache.or(limit.cache),
                keep: self.keep.or(limit.keep),
                cold: self.cold || limit.cold,
            },
            cut: FitCut {
                preset: self.preset.or(cut.preset),
                config: if self.config.is_empty() { cut.config } else { self.config },
                policies: self.policies.or(cut.policies),
                pin: self.pin.or(cut.pin),
                tool_caps: if self.tool_caps.is_empty() { cut.tool_caps } else { self.tool_caps },
                on_failure: self.on_failure.or(cut.on_failure),
                test_summarizer: self.test_summarizer.or(cut.test_summarizer),
            },
            count: CountOptions {
                counter: self.counter.or(other.count.counter),
                tools: self.tools.or(other.count.tools),
                usage: self.usage.or(other.count.usage),
            },
            profile: self.profile.or(other.profile),
            repair: self.repair || other.repair,
            open: self.open || other.open,
            best_effort: self.best_effort || other.best_effort,
            strict: self.strict || other.strict,
            records: self.records || other.records,
            session: other.session,
            plan: self.plan || other.plan,
            apply: self.apply.or(other.apply),
            undo: self.undo.or(other.undo),
        }
    }
}
