//! One compaction from messages to messages. What is cut is decided by `msg-compact`.

use msg_chainast::{ChainAst, MessageOrigin, ParseError, RepairOptions};
use msg_compact::count::ToolSpec;
use msg_compact::{
    Compaction, Compactor, Edit, Outcome, Plan, Step, SummaryRequest, TokenCounter, TokenIndex,
    Totals, Unit,
};
use msg_core::{Diagnostic, Message, SeededIds};

use super::answer::{FitAnswer, Reached};
use super::fitter::Fitter;
use super::options::FitOptions;
use super::plan::Goal;
use super::summarizer::Summarizer;
use super::tools::{tool_specs, tools_of};
use crate::codec::WriteOptions;
use crate::document::Document;
use crate::lead::{Beside, Lead};
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
    pub(super) told: Told,
    /// What stood around the messages, if a document was read.
    source: Option<Box<Document>>,
    /// The document in its own format, where it had to be written for the plan.
    written: Option<Vec<u8>>,
}

impl Fitted {
    /// Whether it fits, or there was nothing to fit into.
    pub fn fits(&self) -> bool {
        !matches!(self.outcome, Outcome::CannotFit(_))
    }

    /// What the history cost, and what it costs now.
    pub fn totals(&self) -> (Totals, Totals) {
        let (before, mut after) = self.compacted_totals();
        after.messages += self.lead.len();
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

    fn compacted_totals(&self) -> (Totals, Totals) {
        match &self.outcome {
            Outcome::NotNeeded(it) => (it.totals, it.totals),
            Outcome::Compacted(it) => (it.before, it.after),
            Outcome::CannotFit(it) => match it.best.as_ref().filter(|_| self.told.best_effort) {
                Some(best) => (best.before, best.after),
                None => (it.totals, it.totals),
            },
        }
    }

    /// The document in its own format, if one was read and it fits (or best effort was asked for). The messages
    /// are taken for it.
    ///
    /// ```
    /// use msg_document::{Digest, FitOptions, fit};
    ///
    /// let body = br#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
    /// let mut fitted = fit(body, &FitOptions::default().with_budget(1000), &Digest)?;
    /// assert_eq!(fitted.take_document().as_deref(), Some(&body[..]));
    /// # Ok::<(), msg_document::Refusal>(())
    /// ```
    pub fn take_document(&mut self) -> Option<Vec<u8>> {
        let mut document = self.source.take()?;
        self.written.take().or_else(|| self.write_into(&mut document))
    }

    /// As [`Fitted::take_document`], of a document whose messages were made to fit
    /// ([`Fitter::fit_document`]).
    pub fn write_into(&mut self, document: &mut Document) -> Option<Vec<u8>> {
        if !self.fits() && !self.told.best_effort {
            return None;
        }
        let messages = std::mem::take(&mut self.messages);
        match self.first_changed {
            None => document.put_messages(messages),
            Some(_) => document.put_planned(messages, self.plan.as_ref()),
        }
        let mut out = Vec::new();
        document.write(&WriteOptions::default(), &mut out);
        Some(out)
    }

    /// Fails where something was done to a document that is only read.
    fn expect_writer(&self, document: &Document) -> Result<(), Refusal> {
        match self.first_changed.is_some() && !document.format().codec().has_writer() {
            true => Err(document.no_writer()),
            false => Ok(()),
        }
    }

    /// What was cut, in the order of the input.
    pub fn edits(&self) -> Vec<Diagnostic> {
        let mut edits = self.mended.clone();
        match &self.outcome {
            Outcome::NotNeeded(it) => edits.extend(it.edits.iter().map(Edit::diagnostic)),
            Outcome::Compacted(it) => edits.extend(it.edits.iter().map(Edit::diagnostic)),
            Outcome::CannotFit(it) => {
                let tried = it.edits.iter().filter(|_| self.told.best_effort);
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
/// exist. What cannot fit is an answer. For many documents a [`Fitter`] understands the options once.
///
/// ```
/// use msg_document::{Digest, FitOptions, fit};
///
/// let json = br#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]"#;
/// let fitted = fit(json, &FitOptions::default().with_budget(1000), &Digest)?;
/// assert!(fitted.fits() && fitted.first_changed.is_none());
/// # Ok::<(), msg_document::Refusal>(())
/// ```
pub fn fit(
    json: &[u8],
    options: &FitOptions,
    summarizer: &dyn Summarizer,
) -> Result<Fitted, Refusal> {
    Fitter::new(options.clone())?.fit(json, summarizer)
}

impl Fitter {
    /// Makes a document fit; its own `options` and `tools` count.
    ///
    /// Fails as [`fit`] does.
    pub fn fit(&self, json: &[u8], summarizer: &dyn Summarizer) -> Result<Fitted, Refusal> {
        match self.options.of_line(json)? {
            Some(own) => Fitter::of_lines(own)?.fit_json(json, summarizer),
            None => self.fit_json(json, summarizer),
        }
    }

    /// As [`Fitter::fit`], or what a plan that was given makes of the document: the line of `msg fit --jsonl`.
    ///
    /// Fails as [`fit`] does, and for a plan that is not of this document.
    pub fn answer(&self, json: &[u8], summarizer: &dyn Summarizer) -> Result<FitAnswer, Refusal> {
        match self.options.of_line(json)? {
            Some(own) => Fitter::of_lines(own)?.answer_json(json, summarizer),
            None => self.answer_json(json, summarizer),
        }
    }

    fn answer_json(&self, json: &[u8], summarizer: &dyn Summarizer) -> Result<FitAnswer, Refusal> {
        let Some((goal, plan)) = &self.goal else {
            return Ok(FitAnswer::Fitted(Box::new(self.fit_json(json, summarizer)?)));
        };
        let mut document = Document::read(json, &self.options.read())?;
        let undone = document.undone(plan, json).filter(|_| *goal == Goal::Undo);
        let messages = goal.reach(plan, document.take_messages())?;
        let applied = (*goal == Goal::Apply).then(|| plan.clone());
        let source = Some((Box::new(document), applied));
        Ok(FitAnswer::Reached(Reached { goal: *goal, messages, source, undone }))
    }

    fn fit_json(&self, json: &[u8], summarizer: &dyn Summarizer) -> Result<Fitted, Refusal> {
        let mut document = Document::read(json, &self.options.read())?;
        let own = self.options.tools.is_none().then(|| tools_of(json)).flatten();
        let own = own.map(|it| tool_specs(Some(&it)));
        let tools = own.as_deref().unwrap_or(&self.tools);
        let case = Case { tools, ..Case::of(self, &document) };
        let read = self.options.plan.then(|| document.messages().to_vec());
        let messages = document.take_messages();
        let mut fitted = self.compact(messages, case, summarizer)?;
        fitted.expect_writer(&document)?;
        if let Some(read) = read {
            let messages = fitted.messages.clone();
            fitted.written = fitted.write_into(&mut document);
            fitted.messages = messages;
            if let Some(written) = fitted.written.clone() {
                fitted.plan_as_written((json, &read), &document, &written);
            }
        }
        fitted.source = Some(Box::new(document));
        Ok(fitted)
    }

    /// Makes the messages of a document fit; they are taken out of it. A history of turns gets a plan, by which
    /// [`Document::put_planned`] leaves what it does not name.
    ///
    /// Fails as [`fit`] does.
    pub fn fit_document(
        &self,
        document: &mut Document,
        summarizer: &dyn Summarizer,
    ) -> Result<Fitted, Refusal> {
        let case = Case::of(self, document);
        let fitted = self.compact(document.take_messages(), case, summarizer)?;
        fitted.expect_writer(document)?;
        Ok(fitted)
    }

    /// Makes a history fit.
    ///
    /// Fails as [`fit`] does.
    pub fn fit_messages(
        &self,
        messages: Vec<Message>,
        summarizer: &dyn Summarizer,
    ) -> Result<Fitted, Refusal> {
        self.compact(messages, Case::of_messages(self), summarizer)
    }

    /// The requests of the first step for the messages of a document, which are taken out of it; none if nothing
    /// would be asked.
    pub fn first_requests(&self, document: &mut Document) -> Result<Vec<SummaryRequest>, Refusal> {
        let case = Case::of(self, document);
        let mut found = Vec::new();
        self.run(document.take_messages(), case, |compactor| {
            loop {
                match compactor.next() {
                    Step::Done(outcome) => return outcome,
                    Step::Summarize(requests) => {
                        answer_none(compactor, &requests);
                        if found.is_empty() {
                            found = requests;
                        }
                    }
                }
            }
        })?;
        Ok(found)
    }

    fn compact(
        &self,
        messages: Vec<Message>,
        case: Case<'_>,
        summarizer: &dyn Summarizer,
    ) -> Result<Fitted, Refusal> {
        let summarizer = self.test.as_ref().map_or(summarizer, |it| it as &dyn Summarizer);
        self.run(messages, case, |compactor| {
            loop {
                match compactor.next() {
                    Step::Done(outcome) => return outcome,
                    Step::Summarize(requests) => {
                        for (request, answer) in requests.iter().zip(summarizer.answer(&requests)) {
                            compactor.answer(request.id(), answer).expect(OPEN);
                        }
                    }
                }
            }
        })
    }

    fn run(
        &self,
        mut messages: Vec<Message>,
        case: Case<'_>,
        drive: impl FnOnce(&mut Compactor<'_>) -> Outcome,
    ) -> Result<Fitted, Refusal> {
        self.expect_budget()?;
        let mut ids = SeededIds::new(SEED);
        let keeps = self.options.repair || case.beside != Beside::Nothing;
        let original = keeps.then(|| messages.clone());
        let lead = Lead::take(&mut messages, case.beside);
        let tree = self.tree(messages, &mut ids).map_err(|it| lead.refused(it))?;
        let Tree { ast, mut mended, mut origins } = tree;
        mended.iter_mut().for_each(|it| lead.put_before(it));
        if !lead.is_empty() {
            origins = Some(lead.origins(origins, ast.messages().len()));
        }
        let counter = self.counter(ast.messages(), case.tools);
        // What is reported as before is the input, mended or not.
        let input = original.as_deref().map(|it| totals(it, &*counter, case.tools));
        let index = TokenIndex::of(&ast, counter, case.tools).with_beside(lead.messages());
        let budget = self.budget.as_ref();
        let outcome = {
            let mut compactor = Compactor::plan(&ast, &index, budget, &self.pipeline, &mut ids)?;
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
            unit: self.unit,
            limit: budget.and_then(|it| it.usable().ok()),
            first_changed: None,
            told: Told::of(&self.options),
            source: None,
            written: None,
        };
        fitted.finish(ast, case.plans, original.as_deref());
        Ok(fitted)
    }

    fn tree(&self, messages: Vec<Message>, ids: &mut SeededIds) -> Result<Tree, Refusal> {
        let open = self.options.open;
        if self.options.repair {
            let mut repair = RepairOptions::default();
            repair.check.open = open;
            if let Some(profile) = self.profile {
                repair = repair.with_profile(profile);
            }
            let (ast, found, origins) = ChainAst::repair_with_origins(messages, &repair, ids);
            let mended = found.into_iter().filter(|it| it.fix.is_some()).collect();
            return Ok(Tree { ast, mended, origins: Some(origins) });
        }
        let parsed = if open { ChainAst::parse_open(messages) } else { ChainAst::parse(messages) };
        match parsed {
            Ok(ast) => Ok(Tree { ast, mended: Vec::new(), origins: None }),
            Err(error) => Err(refusal(error, open)),
        }
    }
}

const OPEN: &str = "because the request is open";

fn answer_none(compactor: &mut Compactor<'_>, requests: &[SummaryRequest]) {
    for request in requests {
        let none = msg_compact::SummaryError::new("a dry run asks nobody");
        compactor.answer(request.id(), Err(none)).expect(OPEN);
    }
}

/// What is known of one document.
#[derive(Clone, Copy)]
struct Case<'a> {
    beside: Beside,
    tools: &'a [ToolSpec],
    /// Whether a plan is made.
    plans: bool,
}

impl<'a> Case<'a> {
    fn of_messages(fitter: &'a Fitter) -> Self {
        Case { beside: Beside::Nothing, tools: &fitter.tools, plans: fitter.options.plan }
    }

    fn of(fitter: &'a Fitter, document: &Document) -> Self {
        let plans = fitter.options.plan || document.is_edited_by_plan();
        Case { beside: document.beside(), plans, ..Case::of_messages(fitter) }
    }
}

/// What of a compaction is told, as the options say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    pub(super) best_effort: bool,
    pub(super) records: bool,
    pub(super) plan: bool,
}

impl Told {
    fn of(options: &FitOptions) -> Self {
        let FitOptions { best_effort, records, plan, .. } = *options;
        Told { best_effort, records, plan }
    }
}

impl Fitted {
    /// Makes the history, and the plan if one is wanted: of the input, repair included.
    fn finish(&mut self, ast: ChainAst, plans: bool, original: Option<&[Message]>) {
        const SAME: &str = "because the tree is the one that was compacted";
        let counts = self.fits() || self.told.best_effort;
        let compaction = self.compaction().filter(|_| counts);
        let cut_from = compaction.map(|it| it.first_changed);
        // Where nothing was done the plan is the one that changes nothing, so that whoever asked has one.
        let planned = |it: &Compaction| it.plan(&ast).expect(SAME);
        let wants_own = plans && original.is_none();
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
                (changed, plans.then(|| made.unwrap_or_default()))
            }
        };
        self.messages = messages;
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
