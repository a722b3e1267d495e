//! The state machine of a compaction (CP-20): it runs the stages, hands out what has to be summarised, takes the
//! answers in any order, and reports the outcome. It does no I/O and never blocks. What a policy may read and change is
//! in `state`; what a summariser is asked is in `request`.
//!
//! ```text
//! Compactor ── next() ──> Step::Summarize([request 0, request 1])      stage by stage, round by round
//!           <─ answer(1, Ok("…")) ─ answer(0, Err(…))                  in any order
//!           ── next() ──> Step::Done(outcome)
//! ```

mod stages;

use std::fmt;

use msg_chainast::{ChainAst, MessageOrigin, Profile};
use msg_core::{Diagnostic, IdSource, Role};
use stages::{Position, max_requests};

use crate::error::{Error, SummaryError};
use crate::outcome::{
    CannotFit, CompactOutcome, Compaction, CompactionRecord, Edit, FloorPart, Place, Unchanged,
};
use crate::pipeline::{Stage, caps_stage};
use crate::request::SummaryRequest;
use crate::state::{ChainState, Floor, Item, Limits};
use crate::token_index::Totals;
use crate::{Budget, Pipeline, TokenIndex, Unit, error, state};

// The state machine (CP-20).

/// A running compaction.
///
/// ```
/// use msg_chainast::ChainAst;
/// use msg_compact::{Budget, Compactor, CompactOutcome, Preset, Step, TokenIndex, count};
/// use msg_core::{Message, SeededIds};
///
/// let mut history = vec![Message::system("Be brief.")];
/// for turn in 0..20 {
///     history.push(Message::user(format!("question {turn}")));
///     history.push(Message::assistant("word ".repeat(100)));
/// }
/// let ast = ChainAst::parse(history.clone()).expect("the chain is valid");
/// let index = TokenIndex::of(&ast, Box::new(count::Script::new()), &[]);
/// let budget = Budget::tokens(600);
/// let pipeline = Preset::Balanced.pipeline();
/// let mut ids = SeededIds::new(1);
///
/// let mut compactor = Compactor::plan(&ast, &index, Some(&budget), &pipeline, &mut ids)?;
/// let outcome = loop {
///     match compactor.next() {
///         Step::Summarize(requests) => {
///             for request in requests {
///                 // Ask a model with `request.prompt()?`, here or on another thread.
///                 compactor.answer(request.id(), Ok("They talked.".into()))?;
///             }
///         }
///         Step::Done(outcome) => break outcome,
///     }
/// };
/// let CompactOutcome::Compacted(compaction) = outcome else { panic!("it fits when compacted") };
/// assert!(compaction.after.tokens <= 600);
/// let plan = compaction.plan(&ast)?;
/// let shorter = compaction.apply(ast)?;
/// assert_eq!(plan.apply(history.clone())?, shorter);
/// assert_eq!(plan.undo(shorter)?, history);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Compactor<'a> {
    pub(crate) chain: ChainState<'a>,
    pub(crate) pipeline: &'a Pipeline,
    /// The stages of the pipeline, after the stage of the budget's caps.
    pub(crate) stages: Vec<Stage>,
    pub(crate) before: Totals,
    pub(crate) floor: Floor,
    pub(crate) records: Vec<CompactionRecord>,
    max_requests: usize,
    pub(crate) position: Position,
}

impl fmt::Debug for Compactor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compactor")
            .field("chain", &self.chain)
            .field("pipeline", self.pipeline)
            .field("before", &self.before)
            .finish_non_exhaustive()
    }
}

/// What the caller does next.
#[derive(Debug, Clone)]
pub enum Step<'a> {
    /// Answer these requests, in any order.
    Summarize(Vec<SummaryRequest<'a>>),
    /// Nothing; here is the outcome.
    Done(CompactOutcome),
}

/// A request that was refused. The next run skips it until its units change (CP-26).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct Refused(u64);

impl<'a> Compactor<'a> {
    /// Prepares to compact a tree whose messages `index` counts. Requests nothing yet.
    ///
    /// # Errors
    /// The budget is invalid, or the index belongs to another tree.
    pub fn plan(
        ast: &'a ChainAst,
        index: &'a TokenIndex,
        budget: Option<&'a Budget>,
        pipeline: &'a Pipeline,
        ids: &'a mut (dyn IdSource + Send),
    ) -> Result<Self, Error> {
        let profile = pipeline.profile.as_ref();
        let limits = budget.map(|it| limits(it, ast, index, profile)).transpose()?;
        let chain = ChainState::new(ast, index, pipeline, budget.map(Budget::unit), limits, ids)?;
        let total = index.total();
        let before =
            Totals { messages: ast.messages().len(), bytes: total.bytes, tokens: total.tokens };
        let caps = budget.map(Budget::tool_caps).filter(|it| !it.is_empty()).map(caps_stage);
        let stages: Vec<Stage> = caps.iter().chain(&pipeline.stages).cloned().collect();
        let floor = chain.floor();
        let max_requests = max_requests(&chain, &stages);
        let position = Position::default();
        let mut it = Self {
            chain,
            pipeline,
            stages,
            before,
            floor,
            records: Vec::new(),
            max_requests,
            position,
        };
        if it.before.messages == 0 || it.is_hopeless() {
            it.position.stage = it.stages.len();
        }
        tracing::debug_span!(
            "compact_plan",
            messages = it.before.messages,
            stages = it.stages.len()
        )
        .in_scope(|| {});
        Ok(it)
    }

    /// An upper bound on the number of summaries that will be requested.
    pub fn max_requests(&self) -> usize {
        self.max_requests
    }

    /// Skips the requests that an earlier run refused, while their units are unchanged.
    #[must_use]
    pub fn with_refused(mut self, refused: &[Refused]) -> Self {
        self.chain.requests.refused.extend(refused.iter().map(|it| it.0));
        self
    }

    /// For a repaired tree ([`ChainAst::repair_with_origins`]): edits, records and requests then name
    /// messages of the list before the repair. Records do not name messages that the repair inserted.
    #[must_use]
    pub fn with_origins(mut self, origins: &'a [MessageOrigin]) -> Self {
        self.chain.input.origins = Some(origins);
        self
    }

    /// The requests that were refused so far, with those of [`Compactor::with_refused`].
    pub fn refused(&self) -> Vec<Refused> {
        self.chain.requests.refused.iter().map(|it| Refused(*it)).collect()
    }

    /// Continues until summaries are needed or the compaction is done. Returns open requests again
    /// until they are answered, and the outcome again after the end.
    #[expect(clippy::should_implement_trait, reason = "it never ends, so it is not an iterator")]
    pub fn next(&mut self) -> Step<'a> {
        loop {
            let open: Vec<_> = self.open().map(|it| self.external(it)).collect();
            if !open.is_empty() {
                return Step::Summarize(open);
            }
            if !self.chain.requests.open.is_empty() {
                self.chain.apply_answers();
            }
            if !self.advance() {
                return Step::Done(self.outcome());
            }
        }
    }

    /// Answers a request.
    ///
    /// # Errors
    /// No open request has this id, or it was already answered. Nothing changes then.
    pub fn answer(&mut self, id: u32, answer: Result<String, SummaryError>) -> Result<(), Error> {
        // Requests of a step are numbered in order of creation.
        let at = self.chain.requests.open.binary_search_by_key(&id, |it| it.request.id).ok();
        let ask = at.and_then(|it| self.chain.requests.open.get_mut(it));
        let ask = ask.ok_or(Error::UnknownRequest { id })?;
        if ask.answer.is_some() {
            return Err(Error::AnsweredTwice { id });
        }
        tracing::debug_span!("compact_answer", request = id, ok = answer.is_ok()).in_scope(|| {});
        ask.answer = Some(answer);
        Ok(())
    }

    fn open(&self) -> impl Iterator<Item = &SummaryRequest<'a>> {
        self.chain.requests.open.iter().filter(|it| it.answer.is_none()).map(|it| &it.request)
    }

    /// A request for the caller: it replaces messages of the input.
    fn external(&self, request: &SummaryRequest<'a>) -> SummaryRequest<'a> {
        let mut external = request.clone();
        let replaced = self.chain.input.origins.and_then(|it| it.get(request.replaces.clone()));
        if let Some(replaced) = replaced {
            let messages = || replaced.iter().map(|it| it.message);
            external.replaces =
                messages().min().unwrap_or(0)..messages().max().map_or(0, |it| it + 1);
        }
        external
    }
}

/// Runs the whole compaction, with a function that answers each request.
///
/// # Errors
/// As [`Compactor::plan`].
pub fn compact_with<'a, F>(
    ast: &'a ChainAst,
    index: &'a TokenIndex,
    budget: Option<&'a Budget>,
    pipeline: &'a Pipeline,
    ids: &'a mut (dyn IdSource + Send),
    mut ask: F,
) -> Result<CompactOutcome, Error>
where
    F: FnMut(&SummaryRequest<'a>) -> Result<String, SummaryError>,
{
    let mut compactor = Compactor::plan(ast, index, budget, pipeline, ids)?;
    loop {
        match compactor.next() {
            Step::Done(outcome) => return Ok(outcome),
            Step::Summarize(requests) => {
                for request in requests {
                    let answer = ask(&request);
                    compactor
                        .answer(request.id(), answer)
                        .expect("the request is open and asked once");
                }
            }
        }
    }
}

fn limits(
    budget: &Budget,
    ast: &ChainAst,
    index: &TokenIndex,
    profile: Option<&Profile>,
) -> Result<Limits, Error> {
    let usable = budget.usable()?;
    let (trigger, target) = budget.marks(usable);
    let triggered = budget.unit().of(index.total()) > trigger;
    let target = if triggered { budget.target_of(ast, index, profile, usable) } else { target };
    Ok(Limits { limit: budget.limit(), usable, target, triggered })
}

// The outcome of a compaction, its totals, and its edits in input order.

impl Compactor<'_> {
    pub(crate) fn outcome(&self) -> CompactOutcome {
        let total = self.chain.total();
        let usable = self.chain.measure.limits.map(|it| it.usable);
        // An empty chain fits: nothing to do, whatever the tools cost (CP-1).
        let is_empty = self.before.messages == 0 && self.before.bytes == 0;
        let fits = is_empty || usable.is_none_or(|it| total <= it);
        let changed = self.chain.log.n_changes > 0;
        match (fits, changed) {
            (true, true) => CompactOutcome::Compacted(self.compaction()),
            (true, false) => CompactOutcome::NotNeeded(Unchanged {
                totals: self.before,
                edits: self.edits(),
                requests: self.chain.requests.made,
            }),
            (false, _) => {
                CompactOutcome::CannotFit(self.cannot_fit(usable.unwrap_or_default(), changed))
            }
        }
    }

    fn cannot_fit(&self, usable: u64, changed: bool) -> CannotFit {
        let floor = self.floor.total();
        CannotFit {
            floor,
            usable,
            why: if floor <= usable { FloorPart::Policies } else { self.floor.largest() },
            best: changed.then(|| Box::new(self.compaction())),
            edits: self.edits(),
            totals: self.before,
            reached: self.chain.total(),
            requests: self.chain.requests.made,
        }
    }

    fn compaction(&self) -> Compaction {
        let chain = &self.chain;
        let places = chain.of_items(|it| Place { input: it.input, change: it.change });
        Compaction {
            edits: self.edits(),
            records: self.records.clone(),
            before: self.before,
            after: Totals {
                messages: places.len(),
                bytes: chain.sum.bytes + chain.measure.base.bytes,
                tokens: chain.sum.tokens + chain.measure.base.tokens,
            },
            first_changed: self.first_changed(),
            withheld: self.withheld(),
            requests: chain.requests.made,
            places,
            changes: chain.changes.clone(),
        }
    }

    /// The first place where output and input differ: a prompt cache is lost from there.
    fn first_changed(&self) -> usize {
        let chain = &self.chain;
        let same = |(place, item): &(usize, &state::Item)| {
            let stays = item.change.is_none() && item.input as usize == *place;
            let input = chain.input.messages.get(*place);
            stays || input.is_some_and(|it| *chain.message(item) == **it)
        };
        chain.items().enumerate().take_while(same).count()
    }

    /// The edits in input order; those of one message in order of creation.
    pub(crate) fn edits(&self) -> Vec<Edit> {
        let mut edits: Vec<Edit> = self.chain.log.edits_from(0).cloned().collect();
        if let Some(origins) = self.chain.input.origins {
            edits = edits.into_iter().map(|it| it.at_origins(origins)).collect();
        }
        msg_core::sort_by_rank(&mut edits, Edit::message);
        edits
    }
}

impl CannotFit {
    /// The finding as a diagnostic.
    pub fn diagnostic(&self, unit: Unit) -> Diagnostic {
        let message = self.sentence(&format!(" {}", unit.as_str()));
        Diagnostic::error(error::of("compact::cannot-fit"), message)
    }

    /// The message; `unit` follows a number.
    fn sentence(&self, unit: &str) -> String {
        let Self { floor, usable, why, reached, .. } = self;
        match why {
            FloorPart::Policies => format!(
                "the history could be brought to {reached}{unit}, {usable} are allowed; the policies \
                 in use reach no less, although {floor} would be possible"
            ),
            other => format!(
                "the history cannot have less than {floor}{unit}, {usable} are allowed; the largest \
                 part of that is {}",
                other.in_words()
            ),
        }
    }
}

/// The text without the unit, which the budget determines. The result is an error if the history had to fit.
///
/// ```
/// use msg_chainast::{ChainAst, SeededIds};
/// use msg_compact::{Budget, CompactOutcome, Preset, TokenIndex, compact_with, count, digest};
/// use msg_core::Message;
///
/// let chain = ChainAst::parse(vec![Message::user("a question"), Message::assistant("an answer")])?;
/// let index = TokenIndex::of(&chain, Box::new(count::Script::new()), &[]);
/// let (budget, pipeline) = (Budget::tokens(1), Preset::Window.pipeline());
/// let outcome = compact_with(&chain, &index, Some(&budget), &pipeline, &mut SeededIds::new(1), |it| Ok(digest(it)))?;
/// let CompactOutcome::CannotFit(reason) = outcome else { panic!("nothing fits one token") };
/// assert!(reason.to_string().starts_with("the history cannot have less than "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl std::fmt::Display for CannotFit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.sentence(""))
    }
}

impl std::error::Error for CannotFit {}

// The part of a history that would be kept next with more room: explains why a budget is not used up (CP-17).

/// The newest part of the input that was cut, and the room that was left for it.
///
/// A part is a reduced message, or an assistant message with its results, and with its user message if that was cut
/// too. Several of these form one part if one alone cannot be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Withheld {
    /// The index of the first input message of the part.
    pub message: usize,
    /// The number of its messages.
    pub messages: usize,
    /// The cost that it would add to the result, in the budget's unit.
    pub cost: u64,
    /// The cost that could still be added.
    pub room: u64,
}

impl Compactor<'_> {
    /// The withheld part; `None` without a budget. Scans the result from its end to that part.
    fn withheld(&self) -> Option<Withheld> {
        let chain = &self.chain;
        let room = chain.target()?.checked_sub(chain.total())?;
        let items = chain.of_items(|it| it);
        let mut end = chain.input.messages.len();
        let mut kept = items.len();
        for (at, item) in items.iter().enumerate().rev() {
            if item.input as usize + 1 != end || chain.change(item).is_some() {
                break;
            }
            (end, kept) = (end - 1, at);
        }
        let newest = end.checked_sub(1)?;
        let last = items.get(kept.wrapping_sub(1));
        let reduced = last.filter(|it| it.input as usize == newest && self.is_reduced(it));
        let (message, cost) = match reduced {
            Some(it) => {
                (newest, self.input_cost(newest).saturating_sub(chain.measure.unit.of(it.cost)))
            }
            None => self.missing(newest, &items[..kept], room),
        };
        let messages = newest + 1 - message;
        let message = chain
            .input
            .origins
            .map_or(message, |it| it.get(message).map_or(message, |it| it.message));
        Some(Withheld { message, messages, cost, room })
    }

    /// Whether an item is its input message without one of its parts, instead of a message that replaces others.
    fn is_reduced(&self, item: &Item) -> bool {
        let input = self.chain.input.messages[item.input as usize];
        let now = self.chain.message(item);
        now.role == input.role && now.parts.len() == input.parts.len()
            || matches!(self.chain.change(item), Some(it) if !it.is_new())
    }

    /// The start and cost of the messages that would have to be added, up to this one: pair by pair, until they exceed
    /// the room.
    fn missing(&self, newest: usize, older: &[&Item], room: u64) -> (usize, u64) {
        let messages = &self.chain.input.messages;
        let mut is_kept = vec![false; messages.len()];
        let unchanged = older.iter().filter(|it| self.chain.change(it).is_none());
        unchanged.for_each(|it| is_kept[it.input as usize] = true);
        let (mut first, mut cost) = (newest, self.input_cost(newest));
        let mut has_pair = messages[first].role == Role::Assistant;
        while first > 0 && (cost <= room || !has_pair) && !is_kept[first - 1] {
            first -= 1;
            cost += self.input_cost(first);
            has_pair |= messages[first].role == Role::Assistant;
        }
        (first, cost)
    }

    fn input_cost(&self, message: usize) -> u64 {
        let cost = self.chain.input.index.message(message);
        cost.map_or(0, |it| self.chain.measure.unit.of(it))
    }
}
