//! One compaction from messages to messages. What is cut is decided by `msg-compact`.

use msg_chainast::{ChainAst, MessageOrigin, ParseError, RepairOptions};
use msg_compact::count::ToolSpec;
use msg_compact::{
    Compaction, Compactor, Edit, Outcome, Plan, Step, SummaryRequest, TokenCounter, TokenIndex,
    Totals, Unit,
};
use msg_core::{Diagnostic, Message, SeededIds};
use serde::Deserialize;

use super::lead::Lead;
use super::options::FitOptions;
use super::summarizer::{Summarizer, Test};
use crate::document::{Document, ReadOptions};
use crate::refusal::Refusal;

/// The source of ids: constant, so that the same input gives the same output (CA-91).
const SEED: u64 = 0x6d73_6720_6669_7400;

/// What came of it.
#[derive(Debug)]
pub struct Fitted {
    /// The history as it is now; the input's (after repair) where it cannot fit.
    pub messages: Vec<Message>,
    /// What the compactor says.
    pub outcome: Outcome,
    /// What was done, if that was asked for; it changes nothing where nothing was done.
    pub plan: Option<Plan>,
    /// What was mended first.
    pub mended: Vec<Diagnostic>,
    /// What the input cost, if it was mended.
    input: Option<Totals>,
    /// What the limit counts.
    pub unit: Unit,
    /// What goes on with the provider's history; no part of what was compacted.
    lead: Lead,
    /// What is usable of the budget.
    pub limit: Option<u64>,
    /// The first message that differs from the input.
    pub first_changed: Option<usize>,
}

impl Fitted {
    /// Whether it fits, or there was nothing to fit into.
    pub fn fits(&self) -> bool {
        !matches!(self.outcome, Outcome::CannotFit(_))
    }

    /// What the history costs now.
    pub fn totals(&self, best_effort: bool) -> (Totals, Totals) {
        let (before, mut after) = self.compacted_totals(best_effort);
        after.messages += self.lead.messages.len();
        (self.input.unwrap_or(before), after)
    }

    /// What was reached, whether it fits or not.
    fn compaction(&self) -> Option<&Compaction> {
        match &self.outcome {
            Outcome::Compacted(it) => Some(it),
            Outcome::CannotFit(it) => it.best.as_deref(),
            Outcome::NotNeeded(_) => None,
        }
    }

    fn compacted_totals(&self, best_effort: bool) -> (Totals, Totals) {
        match &self.outcome {
            Outcome::NotNeeded(it) => (it.totals, it.totals),
            Outcome::Compacted(it) => (it.before, it.after),
            Outcome::CannotFit(it) => match it.best.as_ref().filter(|_| best_effort) {
                Some(best) => (best.before, best.after),
                None => (it.totals, it.totals),
            },
        }
    }

    /// What was cut, in the order of the input.
    pub fn edits(&self, best_effort: bool) -> Vec<Diagnostic> {
        let mut edits = self.mended.clone();
        match &self.outcome {
            Outcome::NotNeeded(it) => edits.extend(it.edits.iter().map(Edit::diagnostic)),
            Outcome::Compacted(it) => edits.extend(it.edits.iter().map(Edit::diagnostic)),
            Outcome::CannotFit(it) => {
                let tried = it.edits.iter().filter(|_| best_effort);
                edits.extend(tried.map(Edit::diagnostic));
                edits.push(it.diagnostic(self.unit));
            }
        }
        edits
    }
}

/// Makes a document fit as the options say; its own `options` and `tools` count.
///
/// Fails if it cannot be read, if it is no chain and is not to be repaired, and for options that do not
/// exist. What cannot fit is an answer.
///
/// ```
/// use msg_document::{Digest, FitOptions, fit};
///
/// let json = br#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]"#;
/// let options = FitOptions { budget: Some(1000), ..FitOptions::default() };
/// let fitted = fit(json, &options, &Digest)?;
/// assert!(fitted.fits() && fitted.first_changed.is_none());
/// # Ok::<(), msg_document::Refusal>(())
/// ```
pub fn fit(
    json: &[u8],
    options: &FitOptions,
    summarizer: &dyn Summarizer,
) -> Result<Fitted, Refusal> {
    let mut options = options.for_line(json)?;
    let mut document = Document::read(json, &ReadOptions::default())?;
    options.continued |= document.is_continued();
    fit_messages(document.take_for_tree(), &options, summarizer)
}

/// Compacts a history as the options say.
///
/// Fails as [`fit`] does.
pub fn fit_messages(
    messages: Vec<Message>,
    options: &FitOptions,
    summarizer: &dyn Summarizer,
) -> Result<Fitted, Refusal> {
    let test = Test::parse(&options.test_summarizer)?;
    let summarizer = test.as_ref().map_or(summarizer, |it| it as &dyn Summarizer);
    run(messages, options, |compactor| {
        loop {
            match compactor.next() {
                Step::Done(outcome) => return outcome,
                Step::Summarize(requests) => {
                    for (request, answer) in requests.iter().zip(summarizer.answer(&requests)) {
                        compactor
                            .answer(request.id(), answer)
                            .expect("because the request is open");
                    }
                }
            }
        }
    })
}

/// The requests of the first step; none if nothing would be asked.
pub fn first_requests(
    messages: Vec<Message>,
    options: &FitOptions,
) -> Result<Vec<SummaryRequest>, Refusal> {
    let mut found = Vec::new();
    run(messages, options, |compactor| {
        loop {
            match compactor.next() {
                Step::Done(outcome) => return outcome,
                Step::Summarize(requests) => {
                    for request in &requests {
                        let none = msg_compact::SummaryError::new("a dry run asks nobody");
                        compactor
                            .answer(request.id(), Err(none))
                            .expect("because the request is open");
                    }
                    if found.is_empty() {
                        found = requests;
                    }
                }
            }
        }
    })?;
    Ok(found)
}

fn run(
    mut messages: Vec<Message>,
    options: &FitOptions,
    drive: impl FnOnce(&mut Compactor<'_>) -> Outcome,
) -> Result<Fitted, Refusal> {
    let preset = options.preset()?;
    let budget = options.budget(preset.as_ref())?;
    let mut pipeline = options.pipeline(preset.as_ref(), budget.is_some())?;
    if options.best_effort {
        pipeline = pipeline.with_best_effort();
    }
    let mut ids = SeededIds::new(SEED);
    let original = (options.repair || options.continued).then(|| messages.clone());
    let lead = if options.continued { Lead::take(&mut messages) } else { Lead::default() };
    let tree = tree(messages, options, &mut ids).map_err(|it| lead.refused(it))?;
    let Tree { ast, mut mended, mut origins } = tree;
    mended.iter_mut().for_each(|it| lead.put_before(it));
    if !lead.messages.is_empty() {
        origins = Some(lead.origins(origins, ast.messages().len()));
    }
    let tools = options.tools();
    let sent: Vec<Message> = match options.usage {
        Some(usage) => ast.messages().take(usage.messages).cloned().collect(),
        None => Vec::new(),
    };
    let counter = options.counter(preset.as_ref(), &sent, &tools)?;
    // What is reported as before is the input, mended or not.
    let input = original.as_deref().map(|it| totals(it, &*counter, &tools));
    let index = TokenIndex::of(&ast, counter, &tools).with_beside(&lead.messages);
    let unit = options.unit()?;
    let outcome = {
        let compactor = Compactor::plan(&ast, &index, budget.as_ref(), &pipeline, &mut ids);
        let mut compactor = compactor?;
        if let Some(origins) = &origins {
            compactor = compactor.with_origins(origins);
        }
        drive(&mut compactor)
    };
    let mut fitted = Fitted {
        messages: Vec::new(),
        plan: None,
        outcome,
        mended,
        input,
        lead,
        unit,
        limit: budget.as_ref().and_then(|it| it.usable().ok()),
        first_changed: None,
    };
    fitted.finish(ast, options, original.as_deref());
    Ok(fitted)
}

impl Fitted {
    /// Makes the history, and the plan if one is wanted: of the input, repair included.
    fn finish(&mut self, ast: ChainAst, options: &FitOptions, original: Option<&[Message]>) {
        const SAME: &str = "because the tree is the one that was compacted";
        let counts = self.fits() || options.best_effort;
        let compaction = self.compaction().filter(|_| counts);
        let cut_from = compaction.map(|it| it.first_changed);
        // Where nothing was done the plan is the one that changes nothing, so that whoever asked has one.
        let planned = |it: &Compaction| it.plan(&ast).expect(SAME);
        let wants_own = options.plan && original.is_none();
        let plan = wants_own.then(|| compaction.map_or_else(Plan::default, planned));
        let mut messages = match compaction {
            Some(it) => it.apply(ast).expect(SAME),
            None => ast.into_messages(),
        };
        self.lead.put(&mut messages);
        (self.first_changed, self.plan) = match original {
            None => (cut_from, plan),
            Some(original) => {
                let changed = difference(original, &messages);
                let made = changed.filter(|_| counts).map(|_| Plan::between(original, &messages));
                (changed, options.plan.then(|| made.unwrap_or_default()))
            }
        };
        self.messages = messages;
    }
}

impl Fitted {
    /// Makes the plan one between what was read and what the written document will be read as. Many formats
    /// say less than messages do, and undoing begins with what is read (CP-62).
    pub fn plan_as_written(&mut self, before: &[Message], fitted: &[Message], written: Document) {
        let mut written = written;
        let after = written.take_for_tree();
        if self.plan.is_some() && after != fitted {
            self.plan = Some(Plan::between(before, &after));
        }
    }
}

/// The first message at which two histories differ.
fn difference(a: &[Message], b: &[Message]) -> Option<usize> {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    (same < a.len() || same < b.len()).then_some(same)
}

/// A chain, and what was mended to have one.
struct Tree {
    ast: ChainAst,
    mended: Vec<Diagnostic>,
    /// Of each message, if they were mended.
    origins: Option<Vec<MessageOrigin>>,
}

fn tree(
    messages: Vec<Message>,
    options: &FitOptions,
    ids: &mut SeededIds,
) -> Result<Tree, Refusal> {
    if options.repair {
        let mut repair = RepairOptions::default();
        repair.check.open = options.open;
        if let Some(profile) = options.profile()? {
            repair = repair.with_profile(profile);
        }
        let (ast, found, origins) = ChainAst::repair_with_origins(messages, &repair, ids);
        let mended = found.into_iter().filter(|it| it.fix.is_some()).collect();
        return Ok(Tree { ast, mended, origins: Some(origins) });
    }
    let parsed =
        if options.open { ChainAst::parse_open(messages) } else { ChainAst::parse(messages) };
    match parsed {
        Ok(ast) => Ok(Tree { ast, mended: Vec::new(), origins: None }),
        Err(error) => Err(refusal(error, options.open)),
    }
}

/// The first error of a chain that is none, how many more there are, and what would help.
fn refusal(error: ParseError, open: bool) -> Refusal {
    let errors = error.diagnostics().iter().filter(|it| it.is_error());
    let more = errors.clone().count().saturating_sub(1);
    let Some(mut first) = errors.into_iter().next().cloned() else {
        return Refusal::bad_option(error.to_string());
    };
    if more > 0 {
        first.set_message(format!(
            "{}, and {more} more error{}",
            first.message(),
            if more == 1 { "" } else { "s" }
        ));
    }
    let only_open = !open && ChainAst::parse_open(error.into_messages()).is_ok();
    Refusal::from(first.with_fix(if only_open {
        "--open leaves calls at the end without results, --repair answers them"
    } else {
        "--repair mends the chain first; `msg check` lists what is wrong with it"
    }))
}

fn totals(messages: &[Message], counter: &dyn TokenCounter, tools: &[ToolSpec]) -> Totals {
    let base = if messages.is_empty() && tools.is_empty() { 0 } else { counter.request(tools) };
    Totals {
        messages: messages.len(),
        bytes: messages.iter().map(|it| it.size() as u64).sum(),
        tokens: base + messages.iter().map(|it| counter.message(it)).sum::<u64>(),
    }
}

/// A plan from its JSON.
pub fn read_plan(json: &str) -> Result<Plan, Refusal> {
    if !json.trim_start().starts_with('{') {
        return Err(Refusal::bad_option("the plan is not understood: expected an object"));
    }
    let mut json = serde_json::Deserializer::from_str(json);
    Plan::deserialize(&mut json)
        .map_err(|it| Refusal::bad_option(format!("the plan is not understood: {it}")))
}

/// What `--apply` and `--undo` do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// The plan is applied to a history.
    Apply,
    /// The history gets back what the plan took.
    Undo,
}

impl Goal {
    /// What is said of it when it is done.
    pub fn status(self) -> &'static str {
        match self {
            Goal::Apply => "applied",
            Goal::Undo => "undone",
        }
    }

    /// Applies or undoes a plan.
    pub fn reach(self, plan: &Plan, messages: Vec<Message>) -> Result<Vec<Message>, Refusal> {
        let done = match self {
            Goal::Apply => plan.apply(messages),
            Goal::Undo => plan.undo(messages),
        };
        done.map_err(|it| it.diagnostic().into())
    }
}
