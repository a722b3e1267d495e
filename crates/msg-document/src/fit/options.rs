//! The options of `fit` and `stats`, from the command line and from a line's `options`.
//!
//! Names and values only; `fitter` gives them their meaning.

use std::borrow::Cow;
use std::collections::BTreeMap;

use msg_compact::{OnFailure, Pin, Reserve, Unit};
use msg_core::RawJson;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::fields::{FieldPath, JoinedPaths, RowFields, paths};
use crate::fit::Counter;
use crate::fit::{no_tool, tools_of};
use crate::format::Format;
use crate::json::may_have_member;
use crate::read_options::{Accept, ReadOptions};
use crate::refusal::Refusal;
use crate::text_calls::CallForms;

/// What is asked of a compaction.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FitOptions {
    /// The format of the document; recognised if not given.
    pub from: Option<Format>,
    /// The members of a row that hold a conversation each.
    #[serde(deserialize_with = "paths")]
    pub field: Vec<FieldPath>,
    /// The members of a row that hold a request and its answer.
    #[serde(deserialize_with = "paths")]
    pub join: Vec<JoinedPaths>,
    /// Where its calls are.
    pub calls: Option<CallForms>,
    /// The most bytes that it may have.
    pub max_bytes: Option<u64>,
    /// The limit, in `unit`.
    pub budget: Option<i64>,
    /// What the limit counts: `tokens` (the default) or `bytes`.
    pub unit: Option<Unit>,
    /// What to keep free of the limit: a number, or a percentage as a text.
    pub reserve: Option<Reserve>,
    /// Compact only above this percentage of what is usable.
    pub trigger: Option<u64>,
    /// Compact down to this percentage of what is usable, or as deep as costs least (`cache`).
    pub target: Option<FitTarget>,
    /// The prices of a prompt cache, `READ:WRITE` as shares of the input price, or a provider's; chooses the target.
    pub cache: Option<String>,
    /// The least that stays where the target is chosen by the prices of a cache; an eighth of the budget if not given.
    pub keep: Option<u64>,
    /// The entries of the prompt cache have expired: compact from three quarters of what is usable on.
    pub cold: bool,
    /// How tokens are counted; the preset's way (`script`) if not given.
    pub counter: Option<Counter>,
    /// The tool definitions that every request offers.
    pub tools: Option<Vec<RawJson>>,
    /// A reported usage to calibrate the counter by.
    pub usage: Option<ReportedUsage>,
    /// What to do, in which order: `balanced` (the default), `pentagi`, `wolo`, `forge`, `window`.
    pub preset: Option<String>,
    /// Options of the preset.
    pub config: Map<String, Value>,
    /// Policies to run instead of a preset.
    pub policies: Option<Vec<Value>>,
    /// What stays: `first-user`, `contains:TEXT`, `tool:NAME`; replaces `first-user`.
    pub pin: Option<Vec<Pin>>,
    /// Bytes to which the outputs of a tool are cut first.
    pub tool_caps: BTreeMap<String, u64>,
    /// Keep to what this provider accepts.
    pub profile: Option<String>,
    /// Mend the chain first.
    pub repair: bool,
    /// Accept unanswered calls at the end.
    pub open: bool,
    /// When a summary fails: `keep` or `digest`.
    pub on_failure: Option<OnFailure>,
    /// Give what was reached even if it does not fit.
    pub best_effort: bool,
    /// Whether what is lost, and not cut, is an error.
    pub strict: bool,
    /// Summarisers that make tests repeatable.
    #[serde(deserialize_with = "one_or_many")]
    pub test_summarizer: Option<Vec<String>>,
    /// Give the records of the compaction.
    pub records: bool,
    /// Give the plan.
    pub plan: bool,
    /// Apply this plan instead.
    pub apply: Option<RawJson>,
    /// Undo this plan instead.
    pub undo: Option<RawJson>,
    /// How many parts `stats` lists.
    pub top: Option<usize>,
    /// The session that the records name.
    #[serde(skip)]
    pub session: String,
    /// Which formats it may be in.
    #[serde(skip)]
    pub accept: Accept,
}

/// How far a history is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitTarget {
    /// To this percentage of what is usable.
    Percent(u64),
    /// As deep as costs least at a provider with a prompt cache (CL-61).
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
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportedUsage {
    /// How many messages.
    pub messages: usize,
    /// What they cost.
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
    /// The first of some values that is not a tool definition, neither a function nor a tool of a provider's own:
    /// counting leaves it out.
    ///
    /// ```
    /// use msg_document::FitOptions;
    ///
    /// let tools = [r#"{"name":"search"}"#, "7"].map(|it| it.parse().expect("because it is JSON"));
    /// assert_eq!(FitOptions::no_tool(&tools), Some(1));
    /// ```
    pub fn no_tool(tools: &[RawJson]) -> Option<usize> {
        no_tool(tools)
    }

    /// The limit is this many, in the unit.
    #[must_use]
    pub fn with_budget(mut self, budget: i64) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Tokens are counted so.
    #[must_use]
    pub fn with_counter(mut self, counter: Counter) -> Self {
        self.counter = Some(counter);
        self
    }

    /// This is done, in its order.
    #[must_use]
    pub fn with_preset(mut self, preset: impl Into<String>) -> Self {
        self.preset = Some(preset.into());
        self
    }

    /// The result is one that this provider accepts.
    #[must_use]
    pub fn with_profile(mut self, profile: impl Into<String>) -> Self {
        self.profile = Some(profile.into());
        self
    }

    /// How the document is read.
    pub(crate) fn read(&self) -> ReadOptions {
        let read = ReadOptions::default().with_from(self.from).with_accept(self.accept);
        let fields = RowFields::of(self.field.clone(), self.join.clone());
        let read = read.with_calls(self.calls.unwrap_or_default()).with_fields(fields);
        match self.max_bytes {
            Some(max_bytes) => read.with_max_bytes(max_bytes),
            None => read,
        }
    }

    /// These options for one document: with the tools of its request body, unless others are given.
    pub fn for_document(&self, json: &[u8]) -> Cow<'_, FitOptions> {
        let own = || tools_of(json).map(|it| FitOptions { tools: Some(it), ..self.clone() });
        self.tools.is_none().then(own).flatten().map_or(Cow::Borrowed(self), Cow::Owned)
    }

    /// As these, but where a line brings `options` of its own those, member by member; none if it brings
    /// none.
    ///
    /// Fails for options that are not understood.
    pub(crate) fn of_line(&self, json: &[u8]) -> Result<Option<FitOptions>, Refusal> {
        #[derive(Deserialize)]
        struct Envelope {
            #[serde(default)]
            options: Option<RawJson>,
        }
        // The reader of the document refuses what is too large or not an object, with a
        // better place.
        let is_read = self.read().expect_size(json).is_ok();
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
        let own: FitOptions = options.parse().map_err(bad)?;
        Ok(Some(own.over(self)))
    }

    /// These options, and the others where these say nothing.
    fn over(self, defaults: &FitOptions) -> FitOptions {
        let other = defaults.clone();
        FitOptions {
            from: self.from.or(other.from),
            // Where the conversation is in a row is not for the row to say.
            field: other.field,
            join: other.join,
            calls: self.calls.or(other.calls),
            // How much is read is for the caller to say, not for the document.
            max_bytes: other.max_bytes,
            accept: other.accept,
            budget: self.budget.or(other.budget),
            unit: self.unit.or(other.unit),
            reserve: self.reserve.or(other.reserve),
            trigger: self.trigger.or(other.trigger),
            target: self.target.or(other.target),
            cache: self.cache.or(other.cache),
            keep: self.keep.or(other.keep),
            cold: self.cold || other.cold,
            counter: self.counter.or(other.counter),
            tools: self.tools.or(other.tools),
            usage: self.usage.or(other.usage),
            preset: self.preset.or(other.preset),
            config: if self.config.is_empty() { other.config } else { self.config },
            policies: self.policies.or(other.policies),
            pin: self.pin.or(other.pin),
            tool_caps: if self.tool_caps.is_empty() { other.tool_caps } else { self.tool_caps },
            profile: self.profile.or(other.profile),
            repair: self.repair || other.repair,
            open: self.open || other.open,
            on_failure: self.on_failure.or(other.on_failure),
            best_effort: self.best_effort || other.best_effort,
            strict: self.strict || other.strict,
            test_summarizer: self.test_summarizer.or(other.test_summarizer),
            records: self.records || other.records,
            plan: self.plan || other.plan,
            apply: self.apply.or(other.apply),
            undo: self.undo.or(other.undo),
            top: self.top.or(other.top),
            session: other.session,
        }
    }
}
