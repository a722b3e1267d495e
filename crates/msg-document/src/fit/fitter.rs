//! The options of `fit`, compiled: what does not depend on a document is made once and used for any number of
//! them (SC-14).
//!
//! What presets, policies and budgets do is `msg-compact`'s.

use std::fmt;

use msg_chainast::Profile;
use msg_compact::count::{Calibrated, ToolSpec};
use msg_compact::{
    Budget, CacheCost, MediaRates, Pipeline, Plan, Preset, RecordInfo, TokenCounter, Unit, When,
    policy,
};
use msg_core::Message;

use super::options::{FitOptions, FitTarget};
use super::plan::Goal;
use crate::fit::Counter;
use crate::fit::requests::Test;
use crate::fit::tool_specs;
use crate::refusal::Refusal;

/// The options of a compaction, compiled once: it may be used for any number of documents, on any number of
/// threads.
///
/// ```
/// use msg_document::{Digest, FitOptions, Fitter};
///
/// let fitter = Fitter::new(FitOptions::default().with_budget(1000))?;
/// let fitted = fitter.fit(br#"[{"role":"user","content":"hi"}]"#, &Digest)?;
/// assert!(fitted.fits());
/// assert!(Fitter::new(FitOptions::default().with_preset("none")).is_err());
/// # Ok::<(), msg_document::Refusal>(())
/// ```
pub struct Fitter {
    pub(super) options: FitOptions,
    pub(super) budget: Option<Budget>,
    pub(super) pipeline: Pipeline,
    pub(super) unit: Unit,
    pub(super) profile: Option<&'static Profile>,
    pub(super) counter: Counter,
    pub(super) tools: Vec<ToolSpec>,
    pub(super) test: Option<Test>,
    /// What is done with a plan that is there, instead.
    pub(super) goal: Option<(Goal, Plan)>,
    /// The preset needs a budget and none is given: each document must bring one.
    lacks_budget: bool,
}

impl fmt::Debug for Fitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fitter").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Fitter {
    /// Understands options.
    ///
    /// Fails for presets, policies, pins, profiles and budgets that do not exist or contradict each other, and
    /// without the budget that a preset needs.
    pub fn new(options: FitOptions) -> Result<Self, Refusal> {
        let fitter = Fitter::of_lines(options)?;
        fitter.expect_budget().map(|()| fitter)
    }

    /// Understands options of lines, which may bring `options` of their own: the budget, too.
    ///
    /// Fails as [`Fitter::new`] does, but not without a budget; a document that brings none is refused then.
    pub fn of_lines(options: FitOptions) -> Result<Self, Refusal> {
        let test = Test::parse(options.test_summarizer.as_deref().unwrap_or_default())?;
        let preset = preset(&options)?;
        let unit = options.unit.unwrap_or_default();
        let budget = budget(&options, preset.as_ref(), unit)?;
        let profile = profile(&options)?;
        let pipeline = pipeline(&options, preset.as_ref(), budget.is_some())?.with_unit(unit);
        let pipeline = profile.iter().fold(pipeline, |it, profile| it.with_profile(profile));
        let default = || preset.as_ref().map_or("script", Preset::default_counter).parse();
        let counter = options.counter.map_or_else(default, Ok)?;
        let tools = tool_specs(options.tools.as_deref());
        let goal = goal(&options)?;
        let needs_budget = preset.as_ref().is_some_and(Preset::needs_budget);
        let lacks_budget = needs_budget && budget.is_none() && goal.is_none();
        Ok(Fitter {
            options,
            budget,
            pipeline,
            unit,
            profile,
            counter,
            tools,
            test,
            goal,
            lacks_budget,
        })
    }

    /// Fails without the budget that the preset needs.
    pub(super) fn expect_budget(&self) -> Result<(), Refusal> {
        match self.lacks_budget {
            true => Err(bad("this preset needs a budget (--budget N)")),
            false => Ok(()),
        }
    }

    /// The options as they were given.
    pub fn options(&self) -> &FitOptions {
        &self.options
    }

    /// The provider's profile, if one is named.
    pub fn profile(&self) -> Option<&'static Profile> {
        self.profile
    }

    /// The counter, calibrated by the first of these messages if a usage was reported.
    pub(super) fn counter<'a>(
        &self,
        messages: impl Iterator<Item = &'a Message>,
        tools: &[ToolSpec],
        media: MediaRates,
    ) -> Box<dyn TokenCounter> {
        counter((self.counter, media), &self.options, messages, tools)
    }
}

/// A counter, calibrated by the first of these messages if a usage was reported.
pub(crate) fn counter<'a>(
    (counter, media): (Counter, MediaRates),
    options: &FitOptions,
    messages: impl Iterator<Item = &'a Message>,
    tools: &[ToolSpec],
) -> Box<dyn TokenCounter> {
    let Some(usage) = options.usage else { return counter.make(media) };
    let sent: Vec<Message> = messages.take(usage.messages).cloned().collect();
    Box::new(Calibrated::from_usage(counter.make(media), &sent, tools, usage.prompt_tokens))
}

/// The preset that is named; the balanced one if neither a preset nor policies are.
fn preset(options: &FitOptions) -> Result<Option<Preset>, Refusal> {
    match (&options.preset, &options.policies) {
        (Some(_), Some(_)) => Err(bad("a preset and policies exclude each other")),
        (None, Some(_)) => Ok(None),
        (name, None) => {
            let name = name.as_deref().unwrap_or("balanced");
            Ok(Some(Preset::named(name, &options.config)?))
        }
    }
}

/// The budget, if there is one. Caps of single tools bind without one too: they are a stage of their own.
fn budget(
    options: &FitOptions,
    preset: Option<&Preset>,
    unit: Unit,
) -> Result<Option<Budget>, Refusal> {
    let budget = match (options.budget, preset.and_then(Preset::default_budget)) {
        (Some(limit), _) => {
            let limit = u64::try_from(limit).map_err(|_| bad("a budget must be above 0"))?;
            let trigger = preset.map_or(100, Preset::default_trigger);
            Budget::new(limit, unit).with_trigger(trigger)
        }
        (None, Some(default)) => default.with_unit(unit),
        // Said where a document brings no budget either.
        (None, None) if preset.is_some_and(Preset::needs_budget) => return Ok(None),
        (None, None) => return expect_no_limits(options).map(|()| None),
    };
    let budget = with_cache(with_limits(budget, options), options)?;
    budget.usable()?;
    Ok(Some(budget))
}

fn with_limits(mut budget: Budget, options: &FitOptions) -> Budget {
    if let Some(reserve) = options.reserve {
        budget = budget.with_reserve(reserve);
    }
    if let Some(trigger) = options.trigger {
        budget = budget.with_trigger(trigger);
    }
    if let Some(FitTarget::Percent(target)) = options.target {
        budget = budget.with_target(target);
    }
    options.tool_caps.iter().fold(budget, |it, (tool, bytes)| it.with_tool_cap(tool, *bytes))
}

/// The budget with a target by the prices of a cache, if that is wanted.
fn with_cache(mut budget: Budget, options: &FitOptions) -> Result<Budget, Refusal> {
    if options.cold {
        budget = budget.with_cold_cache();
    }
    let is_wanted = options.target == Some(FitTarget::Cache) || options.cache.is_some();
    match (options.target, is_wanted) {
        (Some(FitTarget::Percent(_)), true) => {
            return Err(bad("the prices of a cache choose the target: `target` excludes `cache`"));
        }
        (_, false) if options.keep.is_some() => return Err(bad("keep needs the target `cache`")),
        (_, false) => return Ok(budget),
        (_, true) => {}
    }
    let cost = match options.cache.as_deref() {
        None => CacheCost::default(),
        Some(text) => match msg_cache::rates(text) {
            Some((read, write)) => format!("{read}:{write}").parse()?,
            None => text.parse()?,
        },
    };
    budget = budget.with_cache(cost);
    Ok(options.keep.map_or(budget.clone(), |it| budget.with_cache_keep(it)))
}

fn expect_no_limits(options: &FitOptions) -> Result<(), Refusal> {
    let alone = options.reserve.is_some()
        || options.trigger.is_some()
        || options.target.is_some()
        || options.cache.is_some();
    if alone { Err(bad("reserve, trigger, target and cache need a budget")) } else { Ok(()) }
}

/// The pipeline; `with_budget` decides when policies run that do not say it themselves.
fn pipeline(
    options: &FitOptions,
    preset: Option<&Preset>,
    with_budget: bool,
) -> Result<Pipeline, Refusal> {
    let mut pipeline = preset.map_or_else(Pipeline::new, Preset::pipeline);
    if !with_budget && !options.tool_caps.is_empty() {
        pipeline = pipeline.with_tool_caps(&options.tool_caps);
    }
    let default = if with_budget { When::Over } else { When::Always };
    for policy in options.policies.iter().flatten() {
        let (policy, when) = policy::from_json(policy)?;
        pipeline = pipeline.with_stage(policy, when.unwrap_or(default));
    }
    if let Some(pins) = &options.pin {
        pipeline = pipeline.with_pins(pins.clone());
    }
    if let Some(on_failure) = options.on_failure {
        pipeline = pipeline.with_on_failure(on_failure);
    }
    if options.best_effort {
        pipeline = pipeline.with_best_effort();
    }
    if options.records {
        pipeline = pipeline.with_record(record_info(&options.session));
    }
    Ok(pipeline)
}

fn record_info(session: &str) -> RecordInfo {
    let id = if session.is_empty() { "record_".to_owned() } else { format!("{session}_") };
    RecordInfo { id, session_id: session.to_owned(), created_at: 0.0 }
}

fn profile(options: &FitOptions) -> Result<Option<&'static Profile>, Refusal> {
    let Some(name) = &options.profile else { return Ok(None) };
    Profile::named(name).map(Some).ok_or_else(|| bad(crate::options::no_profile(name)))
}

fn goal(options: &FitOptions) -> Result<Option<(Goal, Plan)>, Refusal> {
    let plans = [(Goal::Apply, &options.apply), (Goal::Undo, &options.undo)];
    let Some((goal, json)) = plans.into_iter().find_map(|(goal, it)| Some((goal, it.as_ref()?)))
    else {
        return Ok(None);
    };
    Ok(Some((goal, Goal::read_plan(json.text())?)))
}

fn bad(text: impl Into<String>) -> Refusal {
    Refusal::bad_option(text)
}
