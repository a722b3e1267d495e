//! The options of `fit` and `stats`, from the command line and from a line's `options`.
//!
//! Knows names and values; what they do is `msg-compact`'s.

use std::borrow::Cow;
use std::collections::BTreeMap;

use msg_chainast::Profile;
use msg_compact::count::{Bpe, Calibrated, Forge, Script, ToolSpec, Wolo};
use msg_compact::{
    Budget, Pin, Pipeline, Preset, RecordInfo, Reserve, TokenCounter, Unit, When, policy,
};
use msg_core::{Message, RawJson};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::refusal::Refusal;

/// What is asked of a compaction.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FitOptions {
    /// The limit, in `unit`.
    pub budget: Option<i64>,
    /// What the limit counts: `tokens` (the default) or `bytes`.
    pub unit: Option<String>,
    /// What to keep free of the limit: a number, or a percentage as a text.
    pub reserve: Option<Value>,
    /// Compact only above this percentage of what is usable.
    pub trigger: Option<u64>,
    /// Compact down to this percentage of what is usable.
    pub target: Option<u64>,
    /// How tokens are counted: `script` (the default), `o200k`, `cl100k`, `forge`, `wolo`.
    pub counter: Option<String>,
    /// The tool definitions that every request offers.
    pub tools: Option<Vec<RawJson>>,
    /// A reported usage to calibrate the counter by.
    pub usage: Option<Usage>,
    /// What to do, in which order: `balanced` (the default), `pentagi`, `wolo`, `forge`, `window`.
    pub preset: Option<String>,
    /// Options of the preset.
    pub config: Map<String, Value>,
    /// Policies to run instead of a preset.
    pub policies: Option<Vec<Value>>,
    /// What stays: `first-user`, `contains:TEXT`, `tool:NAME`; replaces `first-user`.
    pub pin: Option<Vec<String>>,
    /// Bytes to which the outputs of a tool are cut first.
    pub tool_caps: BTreeMap<String, u64>,
    /// Keep to what this provider accepts.
    pub profile: Option<String>,
    /// Mend the chain first.
    pub repair: bool,
    /// Accept unanswered calls at the end.
    pub open: bool,
    /// When a summary fails: `keep` or `digest`.
    pub on_failure: Option<String>,
    /// Give what was reached even if it does not fit.
    pub best_effort: bool,
    /// Summarisers that make tests repeatable.
    pub test_summarizer: OneOrMany,
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
    /// The messages go on with a conversation that the provider has ([`Document::is_continued`]): those
    /// before the first user message stay as they are.
    ///
    /// [`Document::is_continued`]: crate::Document::is_continued
    #[serde(skip)]
    pub continued: bool,
}

/// Prompt tokens that a provider reported for the first messages.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// How many messages.
    pub messages: usize,
    /// What they cost.
    pub prompt_tokens: u64,
}

/// A text, or a list of texts.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// Nothing.
    #[default]
    None,
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl OneOrMany {
    /// All of them.
    pub fn texts(&self) -> &[String] {
        match self {
            OneOrMany::None => &[],
            OneOrMany::One(one) => std::slice::from_ref(one),
            OneOrMany::Many(many) => many,
        }
    }
}

impl FitOptions {
    /// The unit of the budget.
    pub fn unit(&self) -> Result<Unit, Refusal> {
        match self.unit.as_deref() {
            None | Some("tokens") => Ok(Unit::Tokens),
            Some("bytes") => Ok(Unit::Bytes),
            Some(other) => {
                Err(bad(format!("no unit is called {other:?}, expected tokens or bytes")))
            }
        }
    }

    /// The preset that is named; the balanced one if neither a preset nor policies are.
    pub fn preset(&self) -> Result<Option<Preset>, Refusal> {
        match (&self.preset, &self.policies) {
            (Some(_), Some(_)) => Err(bad("a preset and policies exclude each other".to_owned())),
            (None, Some(_)) => Ok(None),
            (name, None) => {
                let name = name.as_deref().unwrap_or("balanced");
                Ok(Some(Preset::named(name, &self.config)?))
            }
        }
    }

    /// The budget, if there is one.
    pub fn budget(&self, preset: Option<&Preset>) -> Result<Option<Budget>, Refusal> {
        let unit = self.unit()?;
        let default = preset.and_then(Preset::default_budget);
        let mut budget = match (self.budget, default) {
            (Some(limit), _) => {
                let limit =
                    u64::try_from(limit).map_err(|_| bad("a budget must be above 0".to_owned()))?;
                let trigger = preset.map_or(100, Preset::default_trigger);
                Budget::new(limit, unit).with_trigger(trigger)
            }
            (None, Some(default)) => default.with_unit(unit),
            (None, None) if preset.is_some_and(Preset::needs_budget) => {
                return Err(bad("this preset needs a budget (--budget N)".to_owned()));
            }
            (None, None) => return self.caps_alone(),
        };
        if let Some(reserve) = &self.reserve {
            budget = budget.with_reserve(reserve_of(reserve)?);
        }
        if let Some(trigger) = self.trigger {
            budget = budget.with_trigger(trigger);
        }
        if let Some(target) = self.target {
            budget = budget.with_target(target);
        }
        budget =
            self.tool_caps.iter().fold(budget, |it, (tool, bytes)| it.with_tool_cap(tool, *bytes));
        budget.usable().map_err(|it| bad(it.to_string()))?;
        Ok(Some(budget))
    }

    /// Caps of single tools bind without a budget too: they stand as a stage of their own.
    fn caps_alone(&self) -> Result<Option<Budget>, Refusal> {
        let alone = self.reserve.is_some() || self.trigger.is_some() || self.target.is_some();
        if alone {
            Err(bad("reserve, trigger and target need a budget".to_owned()))
        } else {
            Ok(None)
        }
    }

    /// The pipeline; `with_budget` decides when policies run that do not say it themselves.
    pub fn pipeline(
        &self,
        preset: Option<&Preset>,
        with_budget: bool,
    ) -> Result<Pipeline, Refusal> {
        let fail = |it: msg_compact::Error| bad(it.to_string());
        let mut pipeline = match preset {
            Some(preset) => preset.pipeline(),
            None => Pipeline::new(),
        };
        if !with_budget && !self.tool_caps.is_empty() {
            pipeline = pipeline.with_tool_caps(&self.tool_caps);
        }
        let default = if with_budget { When::Over } else { When::Always };
        for policy in self.policies.iter().flatten() {
            let (policy, when) = policy::from_json(policy).map_err(fail)?;
            pipeline = pipeline.with_stage(policy, when.unwrap_or(default));
        }
        if let Some(pins) = &self.pin {
            let pins: Result<Vec<Pin>, _> = pins.iter().map(|it| it.parse()).collect();
            pipeline = pipeline.with_pins(pins.map_err(fail)?);
        }
        if let Some(name) = &self.on_failure {
            pipeline = pipeline.with_on_failure(name.parse().map_err(fail)?);
        }
        if let Some(profile) = self.profile()? {
            pipeline = pipeline.with_profile(profile);
        }
        if self.records {
            let id = if self.session.is_empty() {
                "record_".to_owned()
            } else {
                format!("{}_", self.session)
            };
            pipeline = pipeline.with_record(RecordInfo {
                id,
                session_id: self.session.clone(),
                created_at: 0.0,
            });
        }
        let pipeline = pipeline.with_unit(self.unit()?);
        Ok(if self.best_effort { pipeline.with_best_effort() } else { pipeline })
    }

    /// The provider's profile, if one is named.
    pub fn profile(&self) -> Result<Option<&'static Profile>, Refusal> {
        let Some(name) = &self.profile else { return Ok(None) };
        Profile::named(name).map(Some).ok_or_else(|| bad(crate::options::no_profile(name)))
    }

    /// The tool definitions that every request offers.
    pub fn tools(&self) -> Vec<ToolSpec> {
        self.tools.iter().flatten().filter_map(tool_spec).collect()
    }

    /// The counter, calibrated if a usage was reported.
    pub fn counter(
        &self,
        preset: Option<&Preset>,
        messages: &[Message],
        tools: &[ToolSpec],
    ) -> Result<Box<dyn TokenCounter>, Refusal> {
        let name = self.counter.as_deref();
        let name = name.unwrap_or_else(|| preset.map_or("script", Preset::default_counter));
        let counter: Box<dyn TokenCounter> = match name {
            "script" => Box::new(Script::new()),
            "forge" => Box::new(Forge),
            "wolo" => Box::new(Wolo),
            "o200k" => Box::new(Bpe::o200k()),
            "cl100k" => Box::new(Bpe::cl100k()),
            other => {
                let expected = "expected script, o200k, cl100k, forge or wolo";
                return Err(bad(format!("no counter is called {other:?}, {expected}")));
            }
        };
        let Some(usage) = self.usage else { return Ok(counter) };
        let sent = &messages[..usage.messages.min(messages.len())];
        Ok(Box::new(Calibrated::from_usage(counter, sent, tools, usage.prompt_tokens)))
    }
}

fn reserve_of(value: &Value) -> Result<Reserve, Refusal> {
    let expected = || bad(format!("found reserve {value}, expected a number or a percentage"));
    if let Some(number) = value.as_u64() {
        return Ok(Reserve::Fixed(number));
    }
    let text = value.as_str().ok_or_else(expected)?;
    match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse().map(Reserve::Percent).map_err(|_| expected()),
        None => text.trim().parse().map(Reserve::Fixed).map_err(|_| expected()),
    }
}

/// The `tools` of a request body; none if the document is something else or has none.
fn tools_of(json: &[u8]) -> Option<Vec<RawJson>> {
    #[derive(Deserialize)]
    struct Body {
        #[serde(default)]
        tools: Option<Vec<RawJson>>,
    }
    if json.iter().find(|it| !it.is_ascii_whitespace()) != Some(&b'{') {
        return None;
    }
    serde_json::from_slice::<Body>(json).ok()?.tools
}

/// The first of some values that is no tool definition, neither a function nor a tool of a provider's own.
pub fn no_tool(tools: &[RawJson]) -> Option<usize> {
    let is_typed =
        |it: &RawJson| it.parse::<Map<String, Value>>().is_ok_and(|it| it.contains_key("type"));
    tools.iter().position(|it| tool_spec(it).is_none() && !is_typed(it))
}

/// A tool definition: `{"type":"function","function":{…}}`, or the function alone.
fn tool_spec(raw: &RawJson) -> Option<ToolSpec> {
    #[derive(Deserialize)]
    struct Outer {
        function: Option<Function>,
        #[serde(flatten)]
        own: BTreeMap<String, Value>,
    }
    #[derive(Deserialize)]
    struct Function {
        name: String,
        #[serde(default)]
        description: Option<String>,
        #[serde(default)]
        parameters: Option<Value>,
    }
    let outer: Outer = raw.parse().ok()?;
    let function = match outer.function {
        Some(function) => function,
        None => serde_json::from_value(Value::Object(outer.own.into_iter().collect())).ok()?,
    };
    let parameters = function.parameters.and_then(|it| RawJson::new(it.to_string()).ok());
    let description = function.description.unwrap_or_default();
    Some(ToolSpec { name: function.name, description, parameters })
}

fn bad(text: String) -> Refusal {
    Refusal::bad_option(text)
}

/// The options of a line: its own `options` member by member over those of the command line.
fn of_line(json: &[u8], defaults: &FitOptions) -> Result<FitOptions, Refusal> {
    #[derive(Deserialize)]
    struct Envelope {
        #[serde(default)]
        options: Option<RawJson>,
    }
    if json.iter().find(|it| !it.is_ascii_whitespace()) != Some(&b'{') {
        return Ok(defaults.clone());
    }
    // What is no object is refused by the reader of the document, with a better place.
    let Ok(envelope) = serde_json::from_slice::<Envelope>(json) else {
        return Ok(defaults.clone());
    };
    let Some(options) = envelope.options else { return Ok(defaults.clone()) };
    let own: FitOptions =
        options.parse().map_err(|it| bad(format!("options are not understood: {it}")))?;
    Ok(own.over(defaults))
}

impl FitOptions {
    /// These options for one document: with the tools of its request body, unless others are given.
    pub fn for_document(&self, json: &[u8]) -> Cow<'_, FitOptions> {
        match (&self.tools, tools_of(json)) {
            (None, Some(tools)) => Cow::Owned(FitOptions { tools: Some(tools), ..self.clone() }),
            _ => Cow::Borrowed(self),
        }
    }

    /// As [`FitOptions::for_document`], for a line that may bring `options` of its own: member by member
    /// over these.
    pub fn for_line(&self, json: &[u8]) -> Result<FitOptions, Refusal> {
        let options = of_line(json, self)?;
        Ok(options.for_document(json).into_owned())
    }

    /// These options, and the others where these say nothing.
    fn over(self, defaults: &FitOptions) -> FitOptions {
        let other = defaults.clone();
        FitOptions {
            budget: self.budget.or(other.budget),
            unit: self.unit.or(other.unit),
            reserve: self.reserve.or(other.reserve),
            trigger: self.trigger.or(other.trigger),
            target: self.target.or(other.target),
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
            test_summarizer: match self.test_summarizer {
                OneOrMany::None => other.test_summarizer,
                own => own,
            },
            records: self.records || other.records,
            plan: self.plan || other.plan,
            apply: self.apply.or(other.apply),
            undo: self.undo.or(other.undo),
            top: self.top.or(other.top),
            session: other.session,
            continued: other.continued,
        }
    }
}
