//! The compiled options of `fit`: everything that does not depend on a document is made once and used for any
//! number of documents (SC-14).
//!
//! `msg-compact` implements presets, policies and budgets.

use std::fmt;

use msg_chainast::Profile;
use msg_compact::count::{Calibrated, ToolSpec};
use msg_compact::{
    Budget, CacheCost, MediaRates, Pipeline, Plan, Preset, RecordInfo, SummaryError,
    SummaryRequest, TokenCounter, Unit, When, digest, policy,
};
use msg_core::Message;
use msg_formats::Refusal;
use serde_json::json;

use super::options::{FitOptions, FitTarget, ReportedUsage};
use crate::document::Document;
use crate::fit::Goal;
use crate::fit::run::{Given, document_of_line};
use crate::fit::{Counter, tool_specs};

/// Compaction options that were compiled once, for any number of documents and threads.
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
    /// A plan to apply or undo instead of a compaction.
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
    /// Compiles options.
    ///
    /// Fails for unknown presets, policies, pins and profiles, for invalid or contradictory budgets, and if a
    /// preset needs a budget and there is none.
    pub fn new(options: FitOptions) -> Result<Self, Refusal> {
        let fitter = Fitter::of_lines(options)?;
        fitter.expect_budget().map(|()| fitter)
    }

    /// Compiles options for lines that may have `options` of their own, including the budget.
    ///
    /// Fails as [`Fitter::new`] does, except for a missing budget. A document that has none is then refused.
    pub fn of_lines(options: FitOptions) -> Result<Self, Refusal> {
        let test = Test::parse(options.cut.test_summarizer.as_deref().unwrap_or_default())?;
        let preset = preset(&options)?;
        let unit = options.limit.unit.unwrap_or_default();
        let budget = budget(&options, preset.as_ref(), unit)?;
        let profile = profile(&options)?;
        let pipeline = pipeline(&options, preset.as_ref(), budget.is_some())?.with_unit(unit);
        let pipeline = profile.iter().fold(pipeline, |it, profile| it.with_profile(*profile));
        let default = || preset.as_ref().map_or("script", Preset::default_counter).parse();
        let counter = options.count.counter.map_or_else(default, Ok)?;
        let tools = tool_specs(options.count.tools.as_deref());
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

    /// The options that it was made of.
    pub fn options(&self) -> &FitOptions {
        &self.options
    }

    /// The profile of the provider, if there is one.
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
        counter((self.counter, media), self.options.count.usage, messages, tools)
    }
}

/// A counter, calibrated by the first of these messages if a usage was reported.
pub(crate) fn counter<'a>(
    (counter, media): (Counter, MediaRates),
    usage: Option<ReportedUsage>,
    messages: impl Iterator<Item = &'a Message>,
    tools: &[ToolSpec],
) -> Box<dyn TokenCounter> {
    let Some(usage) = usage else { return counter.make(media) };
    let sent: Vec<Message> = messages.take(usage.messages).cloned().collect();
    Box::new(Calibrated::from_usage(counter.make(media), &sent, tools, usage.prompt_tokens))
}

/// The preset that is named; the balanced one if neither a preset nor policies are.
fn preset(options: &FitOptions) -> Result<Option<Preset>, Refusal> {
    match (&options.cut.preset, &options.cut.policies) {
        (Some(_), Some(_)) => Err(bad("a preset and policies exclude each other")),
        (None, Some(_)) => Ok(None),
        (name, None) => {
            let name = name.as_deref().unwrap_or("balanced");
            Ok(Some(Preset::named(name, &options.cut.config)?))
        }
    }
}

/// The budget, if there is one. Caps of single tools bind without one too: they are a stage of their own.
fn budget(
    options: &FitOptions,
    preset: Option<&Preset>,
    unit: Unit,
) -> Result<Option<Budget>, Refusal> {
    let budget = match (options.limit.budget, preset.and_then(Preset::default_budget)) {
        (Some(limit), _) => {
            let limit = u64::try_from(limit).map_err(|_| bad("a budget must be above 0"))?;
            let trigger = preset.map_or(100, Preset::default_trigger);
            Budget::new(limit, unit).with_trigger(trigger)
        }
        (None, Some(default)) => default.with_unit(unit),
        // Reported later, if the document has no budget either.
        (None, None) if preset.is_some_and(Preset::needs_budget) => return Ok(None),
        (None, None) => return expect_no_limits(options).map(|()| None),
    };
    let budget = with_cache(with_limits(budget, options), options)?;
    budget.usable()?;
    Ok(Some(budget))
}

fn with_limits(mut budget: Budget, options: &FitOptions) -> Budget {
    if let Some(reserve) = options.limit.reserve {
        budget = budget.with_reserve(reserve);
    }
    if let Some(trigger) = options.limit.trigger {
        budget = budget.with_trigger(trigger);
    }
    if let Some(FitTarget::Percent(target)) = options.limit.target {
        budget = budget.with_target(target);
    }
    options.cut.tool_caps.iter().fold(budget, |it, (tool, bytes)| it.with_tool_cap(tool, *bytes))
}

/// The budget with a target from cache prices, if requested.
fn with_cache(mut budget: Budget, options: &FitOptions) -> Result<Budget, Refusal> {
    if options.limit.cold {
        budget = budget.with_cold_cache();
    }
    let is_wanted = options.limit.target == Some(FitTarget::Cache) || options.limit.cache.is_some();
    match (options.limit.target, is_wanted) {
        (Some(FitTarget::Percent(_)), true) => {
            return Err(bad("the prices of a cache choose the target: `target` excludes `cache`"));
        }
        (_, false) if options.limit.keep.is_some() => {
            return Err(bad("keep needs the target `cache`"));
        }
        (_, false) => return Ok(budget),
        (_, true) => {}
    }
    let cost = match options.limit.cache.as_deref() {
        None => CacheCost::default(),
        Some(text) => match msg_cache::rates(text) {
            Some((read, write)) => format!("{read}:{write}").parse()?,
            None => text.parse()?,
        },
    };
    budget = budget.with_cache(cost);
    Ok(options.limit.keep.map_or(budget.clone(), |it| budget.with_cache_keep(it)))
}

fn expect_no_limits(options: &FitOptions) -> Result<(), Refusal> {
    let alone = options.limit.reserve.is_some()
        || options.limit.trigger.is_some()
        || options.limit.target.is_some()
        || options.limit.cache.is_some();
    if alone { Err(bad("reserve, trigger, target and cache need a budget")) } else { Ok(()) }
}

/// The pipeline; `with_budget` decides when policies run that do not say it themselves.
fn pipeline(
    options: &FitOptions,
    preset: Option<&Preset>,
    with_budget: bool,
) -> Result<Pipeline, Refusal> {
    let mut pipeline = preset.map_or_else(Pipeline::new, Preset::pipeline);
    if !with_budget && !options.cut.tool_caps.is_empty() {
        pipeline = pipeline.with_tool_caps(&options.cut.tool_caps);
    }
    let default = if with_budget { When::Over } else { When::Always };
    for policy in options.cut.policies.iter().flatten() {
        let (policy, when) = policy::from_json(policy)?;
        pipeline = pipeline.with_stage(policy, when.unwrap_or(default));
    }
    if let Some(pins) = &options.cut.pin {
        pipeline = pipeline.with_pins(pins.clone());
    }
    if let Some(on_failure) = options.cut.on_failure {
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
    Profile::named(name).map(Some).ok_or_else(|| {
        bad(msg_chainast::Error::UnknownProfile { name: name.to_owned() }.to_string())
    })
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

// Requests for summaries as rows, and answers that are written elsewhere, such as by a model in a batch or a person
// (SC-20). Calls no model.
//
// ```text
// document ─ requests ─▶ ["{…prompt…}", …] ─ whoever writes ─▶ texts ─ answer ─▶ the document that fits
// ```

/// Summaries from elsewhere (SC-20): the first answers the first of [`Fitter::requests`], and so on. Requests without a
/// text, and those of later steps, are answered by a digest.
impl Summarizer for Vec<Option<String>> {
    fn answer(&self, requests: &[SummaryRequest<'_>]) -> Vec<Result<String, SummaryError>> {
        let given = |it: &SummaryRequest<'_>| self.get(it.id() as usize)?.clone();
        requests.iter().map(|it| Ok(given(it).unwrap_or_else(|| digest(it)))).collect()
    }
}

/// A request as people and programs can read it.
fn request_json(request: &SummaryRequest<'_>) -> String {
    let mut line = json!({
        "policy": request.policy(),
        "replaces": {"start": request.replaces().start, "end": request.replaces().end},
        "target": request.target(),
        "max": request.max(),
    });
    match request.prompt() {
        Ok(prompt) => line["prompt"] = prompt.iter().map(|it| it.text()).collect(),
        Err(refused) => line["error"] = refused.to_string().into(),
    }
    line.to_string()
}

impl Fitter {
    /// The first summary requests for a document: the lines of `msg fit --dry-run`, without their line ends
    /// (SC-20). Pass the answers in the same order to [`Fitter::answer`].
    ///
    /// Fails as [`Fitter::fit`] does.
    ///
    /// ```
    /// use msg_document::{FitOptions, Fitter};
    ///
    /// let turn = r#"{"role":"user","content":"why?"},{"role":"assistant","content":"since it is so, as I said"}"#;
    /// let json = format!("[{}]", vec![turn; 40].join(","));
    /// let options = FitOptions::default().with_preset("pentagi").with_budget(300);
    /// let fitter = Fitter::new(options)?;
    /// let requests = fitter.requests(json.as_bytes())?;
    /// assert!(!requests.is_empty() && requests[0].contains("prompt"));
    ///
    /// let answers = vec![Some("they talked".to_owned()); requests.len()];
    /// let mut fitted = fitter.answer(json.as_bytes(), &answers)?;
    /// let document = fitted.take_document().ok_or("it does not fit")?;
    /// assert!(String::from_utf8_lossy(&document).contains("they talked"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn requests(&self, json: &[u8]) -> Result<Vec<String>, Refusal> {
        match self.options.of_line(json)? {
            Some(own) => Fitter::of_lines(own)?.requests_json(&document_of_line(json)),
            None => self.requests_json(json),
        }
    }

    fn requests_json(&self, json: &[u8]) -> Result<Vec<String>, Refusal> {
        let mut document = Document::read(json, &self.options.read)?;
        let own = self.own_tools(json);
        let tools = own.as_deref().unwrap_or(&self.tools);
        let given = Given { tools, ..Given::with(self, &document) };
        self.asked_first(document.take_messages(), given)
    }

    /// As [`Fitter::requests`], for a document that has been read. Takes its messages.
    ///
    /// Fails as [`Fitter::fit`] does.
    pub fn first_requests(&self, document: &mut Document) -> Result<Vec<String>, Refusal> {
        let given = Given::with(self, document);
        self.asked_first(document.take_messages(), given)
    }

    fn asked_first(
        &self,
        messages: Vec<Message>,
        given: Given<'_>,
    ) -> Result<Vec<String>, Refusal> {
        let mut first = None;
        let unasked = SummaryError::new("a dry run asks no model");
        self.run(messages, given, |requests| {
            first.get_or_insert_with(|| requests.iter().map(request_json).collect());
            vec![Err(unasked.clone()); requests.len()]
        })?;
        Ok(first.unwrap_or_default())
    }
}

// Writers of summaries: the caller, the digest, or one for repeatable tests (CP-66).

/// Answers requests for summaries.
pub trait Summarizer: Sync {
    /// Answers the requests of one step, in their order.
    fn answer(&self, requests: &[SummaryRequest<'_>]) -> Vec<Result<String, SummaryError>>;
}

/// Summaries that are made without a model (CP-22).
#[derive(Debug, Clone, Copy, Default)]
pub struct Digest;

impl Summarizer for Digest {
    fn answer(&self, requests: &[SummaryRequest<'_>]) -> Vec<Result<String, SummaryError>> {
        requests.iter().map(|it| Ok(digest(it))).collect()
    }
}

/// A testing aid: fails where a text occurs, answers by rule elsewhere.
pub(super) struct Test {
    fail_on: Vec<String>,
    answer: TestAnswer,
}

enum TestAnswer {
    Fixed(String),
    Len,
    Hash,
    Echo(usize),
    Digest,
    Error,
}

impl Summarizer for Test {
    fn answer(&self, requests: &[SummaryRequest<'_>]) -> Vec<Result<String, SummaryError>> {
        requests.iter().map(|it| self.one(it)).collect()
    }
}

impl Test {
    /// Parses the texts that describe the aid; `None` if there are none.
    pub(super) fn parse(texts: &[String]) -> Result<Option<Self>, Refusal> {
        if texts.is_empty() {
            return Ok(None);
        }
        let mut test = Test { fail_on: Vec::new(), answer: TestAnswer::Digest };
        for text in texts {
            match text.split_once(':') {
                Some(("fail-on", what)) => test.fail_on.push(what.to_owned()),
                _ => test.answer = TestAnswer::parse(text)?,
            }
        }
        Ok(Some(test))
    }

    fn one(&self, request: &SummaryRequest<'_>) -> Result<String, SummaryError> {
        let source = request.source_text();
        if self.fail_on.iter().any(|it| source.contains(it.as_str())) {
            return Err(SummaryError::new("the test summariser fails on this text"));
        }
        match &self.answer {
            TestAnswer::Fixed(text) => Ok(text.clone()),
            TestAnswer::Len => Ok(format!("LEN {}", request.replaced_bytes())),
            TestAnswer::Hash => Ok(format!("{:016x}", request.source_hash())),
            TestAnswer::Echo(n) => Ok(source.chars().take(*n).collect()),
            TestAnswer::Digest => Ok(digest(request)),
            TestAnswer::Error => Err(SummaryError::new("the test summariser always fails")),
        }
    }
}

impl TestAnswer {
    fn parse(text: &str) -> Result<Self, Refusal> {
        let unknown = || {
            Refusal::bad_option(format!(
                "no test summariser is called {text:?}, expected fixed:TEXT, len, hash, echo:N, digest, error or fail-on:TEXT"
            ))
        };
        match (text, text.split_once(':')) {
            ("len", _) => Ok(TestAnswer::Len),
            ("hash", _) => Ok(TestAnswer::Hash),
            ("digest", _) => Ok(TestAnswer::Digest),
            ("error", _) => Ok(TestAnswer::Error),
            (_, Some(("fixed", text))) => Ok(TestAnswer::Fixed(text.to_owned())),
            (_, Some(("echo", n))) => n.parse().map(TestAnswer::Echo).map_err(|_| unknown()),
            _ => Err(unknown()),
        }
    }
}
