//! The state machine (CP-20): runs the stages, hands out what has to be summarised, takes the
//! answers in any order, and says in the end what came of it. It does no I/O and waits for nobody.

use std::fmt;

use msg_chainast::{ChainAst, MessageOrigin};
use msg_core::{Diagnostic, IdSource};

use crate::{
    Budget, Pipeline, TokenIndex, Unit, codes,
    error::{AnswerError, Error, SummaryError},
    outcome::{CannotFit, Compaction, Edit, FloorPart, Outcome, Place, Totals, Unchanged},
    pipeline::{Stage, When, caps_stage},
    policy::Progress,
    record::{Before, CompactionRecord},
    request::{RequestId, SummaryRequest},
    state::{self, ChainState, FormRules, Forms, Ids, Input, Limits, Log, Measure, Requests},
};

/// How often the stages are run through (CP-11).
const MAX_ROUNDS: usize = 8;

/// The largest prompt of a request without a budget.
const DEFAULT_MAX_PROMPT: u64 = 100_000;

/// A compaction that is going on.
///
/// ```
/// use msg_chainast::ChainAst;
/// use msg_compact::{Budget, Compactor, Outcome, Preset, Step, TokenIndex, count};
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
///                 // OpenRequest a model with `request.prompt()?`, here or on another thread.
///                 compactor.answer(request.id(), Ok("They talked.".into()))?;
///             }
///         }
///         Step::Done(outcome) => break outcome,
///     }
/// };
/// let Outcome::Compacted(compaction) = outcome else { panic!("it fits when compacted") };
/// assert!(compaction.after.tokens <= 600);
/// let plan = compaction.plan(&ast)?;
/// let shorter = compaction.apply(ast)?;
/// assert_eq!(plan.apply(history.clone())?, shorter);
/// assert_eq!(plan.undo(shorter)?, history);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Compactor<'a> {
    chain: ChainState<'a>,
    pipeline: &'a Pipeline,
    caps: Option<Stage>,
    before: Totals,
    floor: state::Floor,
    records: Vec<CompactionRecord>,
    max_requests: usize,
    state: State,
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

/// Where in the pipeline the compaction is.
enum State {
    /// Before this stage of this round.
    Before {
        round: usize,
        stage: usize,
        changes: usize,
    },
    /// In this stage: the policy's next step, and what the stage found.
    In {
        round: usize,
        stage: usize,
        changes: usize,
        at: u32,
        before: Option<Before>,
    },
    Done,
}

/// What a compaction wants next.
#[derive(Debug, Clone)]
pub enum Step {
    /// Answers to these requests, in any order.
    Summarize(Vec<SummaryRequest>),
    /// Nothing more.
    Done(Outcome),
}

/// A request that was refused, to be skipped in the next run until its units change (CP-26).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct Refused(u64);

impl<'a> Compactor<'a> {
    /// Begins to compact a tree whose messages `index` counts. Nothing is asked yet.
    ///
    /// # Errors
    /// The budget makes no sense, or the index is not the tree's.
    pub fn plan(
        ast: &'a ChainAst,
        index: &'a TokenIndex,
        budget: Option<&'a Budget>,
        pipeline: &'a Pipeline,
        ids: &'a mut (dyn IdSource + Send),
    ) -> Result<Self, Error> {
        let cuts = ast.cut_points(pipeline.profile.as_ref());
        let lists = state::lists(ast, cuts, index, &pipeline.pins).ok_or_else(|| {
            Error::TokenIndex { messages: ast.messages().len(), counted: index.len() }
        })?;
        let limits = budget.map(|it| limits(it, index)).transpose()?;
        let total = index.total();
        let messages = lists.inputs.len();
        let before = Totals { messages, bytes: total.bytes, tokens: total.tokens };
        let base = index.base_cost();
        let default_prompt = limits.map_or(DEFAULT_MAX_PROMPT, |it| it.usable);
        let pins_first_user = pipeline.pins.iter().any(|it| matches!(it, crate::Pin::FirstUser));
        let chain = ChainState {
            input: Input {
                messages: lists.inputs,
                index,
                goal: lists.sections.iter().find_map(|it| it.user).filter(|_| pins_first_user),
                origins: None,
            },
            measure: Measure {
                unit: budget.map_or(pipeline.unit, Budget::unit),
                limits,
                base,
                max_prompt: pipeline.max_prompt.unwrap_or(default_prompt),
            },
            forms: Forms {
                rules: form_rules(pipeline),
                signed_from: usize::MAX,
                empty_costs: Default::default(),
            },
            ids: Ids { source: ids, used: None },
            items: lists.items,
            changes: Vec::new(),
            pair_states: lists.pairs,
            sections: lists.sections,
            merged_users: None,
            sum: total - base,
            log: Log::default(),
            requests: Requests { on_failure: pipeline.on_failure, ..Requests::default() },
        };
        let caps = budget
            .and_then(caps_stage)
            .map(|it| Stage { policy: Box::new(it), when: When::Always });
        let floor = chain.floor();
        let max_requests = max_requests(&chain, pipeline);
        let state = State::Before { round: 0, stage: 0, changes: 0 };
        let mut it =
            Self { chain, pipeline, caps, before, floor, records: Vec::new(), max_requests, state };
        if it.before.messages == 0 || it.is_hopeless() {
            it.state = State::Done;
        }
        tracing::debug_span!("compact_plan", messages = it.before.messages, stages = it.n_stages())
            .in_scope(|| {});
        Ok(it)
    }

    /// An upper bound on the summaries that will be asked for, known before the first one is.
    pub fn max_requests(&self) -> usize {
        self.max_requests
    }

    /// Skips the requests that an earlier run refused, as long as their units are unchanged.
    #[must_use]
    pub fn skip(mut self, refused: &[Refused]) -> Self {
        self.chain.requests.refused.extend(refused.iter().map(|it| it.0));
        self
    }

    /// The tree is a repaired one ([`ChainAst::repair_with_origins`]): edits, records and requests name
    /// messages of the list that it came from. A record names none that the repair inserted.
    #[must_use]
    pub fn repaired(mut self, origins: &'a [MessageOrigin]) -> Self {
        self.chain.input.origins = Some(origins);
        self
    }

    /// The requests that were refused so far, those of [`Compactor::skip`] included.
    pub fn refused(&self) -> Vec<Refused> {
        self.chain.requests.refused.iter().map(|it| Refused(*it)).collect()
    }

    /// Goes on until summaries are needed or all is done. While requests are open, gives those
    /// again; once all is done, gives the outcome again.
    #[expect(clippy::should_implement_trait, reason = "it never ends, so it is no iterator")]
    pub fn next(&mut self) -> Step {
        loop {
            let open: Vec<SummaryRequest> = self.open().map(|it| self.external(it)).collect();
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

    /// Takes the answer to a request.
    ///
    /// # Errors
    /// No open request has this id, or it is answered already; nothing changes then.
    pub fn answer(
        &mut self,
        id: RequestId,
        answer: Result<String, SummaryError>,
    ) -> Result<(), AnswerError> {
        // Requests of a step are numbered in the order in which they were made.
        let at = self.chain.requests.open.binary_search_by_key(&id, |it| it.request.id).ok();
        let ask = at.and_then(|it| self.chain.requests.open.get_mut(it));
        let ask = ask.ok_or(AnswerError::Unknown { id: id.number() })?;
        if ask.answer.is_some() {
            return Err(AnswerError::Twice { id: id.number() });
        }
        tracing::debug_span!("compact_answer", request = id.number(), ok = answer.is_ok())
            .in_scope(|| {});
        ask.answer = Some(answer);
        Ok(())
    }

    fn open(&self) -> impl Iterator<Item = &SummaryRequest> {
        self.chain.requests.open.iter().filter(|it| it.answer.is_none()).map(|it| &it.request)
    }

    /// A request as it is handed out: what it replaces are messages of the input.
    fn external(&self, request: &SummaryRequest) -> SummaryRequest {
        let mut external = request.clone();
        let replaced = self.chain.input.origins.and_then(|it| it.get(request.replaces.clone()));
        if let Some(replaced) = replaced {
            let messages = || replaced.iter().map(|it| it.message);
            external.replaces =
                messages().min().unwrap_or(0)..messages().max().map_or(0, |it| it + 1);
        }
        external
    }

    fn n_stages(&self) -> usize {
        self.pipeline.stages.len() + usize::from(self.caps.is_some())
    }

    fn stage(&self, number: usize) -> &Stage {
        match (&self.caps, number) {
            (Some(caps), 0) => caps,
            (caps, number) => &self.pipeline.stages[number - usize::from(caps.is_some())],
        }
    }

    /// One step of one stage; false when all is done.
    fn advance(&mut self) -> bool {
        match std::mem::replace(&mut self.state, State::Done) {
            State::Done => false,
            State::Before { round, stage, changes } if stage < self.n_stages() => {
                let it = self.stage(stage);
                if it.when == When::Over && !self.chain.over() {
                    self.state = State::Before { round, stage: stage + 1, changes };
                } else {
                    let before = self.pipeline.record.is_some().then(|| Before::new(&self.chain));
                    self.state = State::In { round, stage, changes, at: 0, before };
                }
                true
            }
            State::Before { round, changes, .. } => self.next_round(round, changes),
            State::In { round, stage, changes, at, before } => {
                let found = self.chain.log.n_changes;
                match self.step(stage, at) {
                    Progress::Requested => {
                        self.state = State::In { round, stage, changes, at: at + 1, before };
                    }
                    Progress::Done => {
                        self.end_stage(stage, before);
                        self.state = State::Before { round, stage: stage + 1, changes };
                    }
                }
                debug_assert!(self.chain.log.n_changes >= found);
                true
            }
        }
    }

    fn step(&mut self, stage: usize, at: u32) -> Progress {
        let policy = match (&self.caps, stage) {
            (Some(caps), 0) => &caps.policy,
            (caps, number) => &self.pipeline.stages[number - usize::from(caps.is_some())].policy,
        };
        let span = tracing::debug_span!(
            "compact_stage",
            policy = policy.name(),
            at,
            total = self.chain.total()
        );
        self.chain.requests.policy = policy.name();
        self.chain.forms.signed_from = self.chain.signed_turn();
        span.in_scope(|| policy.step(at, &mut self.chain))
    }

    fn end_stage(&mut self, stage: usize, before: Option<Before>) {
        debug_assert_eq!(
            self.chain.sum,
            self.chain.items().map(|it| it.cost).sum(),
            "the kept sum is the recounted one"
        );
        let Some((before, info)) = before.zip(self.pipeline.record.as_ref()) else { return };
        let policy = &self.stage(stage).policy;
        let (name, config) = (policy.name(), policy.config());
        let record = before.record(&self.chain, name, config, info, self.records.len());
        if !record.compacted_message_ids.is_empty()
            || record.original_token_count != record.result_token_count
        {
            self.records.push(record);
        }
    }

    /// Whether another round is worth it (CP-11); sets the state for it.
    fn next_round(&mut self, round: usize, changes: usize) -> bool {
        let above = self.chain.measure.limits.is_some_and(|it| self.chain.total() > it.target);
        let changed = self.chain.log.n_changes > changes;
        let feeds = may_feed_earlier(&self.pipeline.stages, self.caps.is_some());
        if changed && (above || feeds) && round + 1 < MAX_ROUNDS {
            self.state =
                State::Before { round: round + 1, stage: 0, changes: self.chain.log.n_changes };
            return true;
        }
        false
    }

    /// Whether not even the floor fits, and no stage may lower it (CP-13).
    fn is_hopeless(&self) -> bool {
        let Some(limits) = self.chain.measure.limits else { return false };
        let may_lower = self.pipeline.stages.iter().any(|it| it.policy.lowers_floor());
        self.chain.total() > limits.usable
            && self.floor.without_note() > limits.usable
            && !self.pipeline.best_effort
            && !may_lower
    }

    fn outcome(&self) -> Outcome {
        let total = self.chain.total();
        let usable = self.chain.measure.limits.map(|it| it.usable);
        // An empty chain fits: there is nothing to do, whatever the tools cost (CP-1).
        let is_empty = self.before.messages == 0 && self.before.bytes == 0;
        let fits = is_empty || usable.is_none_or(|it| total <= it);
        let changed = self.chain.log.n_changes > 0;
        match (fits, changed) {
            (true, true) => Outcome::Compacted(self.compaction()),
            (true, false) => Outcome::NotNeeded(Unchanged {
                totals: self.before,
                edits: self.edits(),
                requests: self.chain.requests.made,
            }),
            (false, _) => Outcome::CannotFit(self.cannot_fit(usable.unwrap_or_default(), changed)),
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
        let place = |it: &state::Item| Place { input: it.input, change: it.change };
        let places: Vec<Place> = chain.items().map(place).collect();
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
            requests: chain.requests.made,
            places,
            changes: chain.changes.clone(),
        }
    }

    /// The first place at which output and input differ: what a prompt cache loses.
    fn first_changed(&self) -> usize {
        let chain = &self.chain;
        let same = |(place, item): &(usize, &state::Item)| {
            let stays = item.change.is_none() && item.input as usize == *place;
            let input = chain.input.messages.get(*place);
            stays || input.is_some_and(|it| *chain.message(item) == **it)
        };
        chain.items().enumerate().take_while(same).count()
    }

    /// The edits in the order of the input; those of one message in the order in which they were
    /// made.
    fn edits(&self) -> Vec<Edit> {
        let mut edits = self.chain.log.edits.clone();
        if let Some(origins) = self.chain.input.origins {
            edits = edits.into_iter().map(|it| it.at_origins(origins)).collect();
        }
        edits.sort_by_key(Edit::message);
        edits
    }
}

impl CannotFit {
    /// The finding as a diagnostic.
    pub fn diagnostic(&self, unit: Unit) -> Diagnostic {
        let Self { floor, usable, why, reached, .. } = self;
        let unit = unit.as_str();
        let message = match why {
            FloorPart::Policies => format!(
                "the history could be brought to {reached} {unit}, {usable} are allowed; the policies \
                 in use reach no less, although {floor} would be possible"
            ),
            other => format!(
                "the history cannot have less than {floor} {unit}, {usable} are allowed; the largest \
                 part of that is {}",
                other.in_words()
            ),
        };
        Diagnostic::error(codes::of("compact::cannot-fit"), message)
    }
}

/// Compacts in one go, with a function that answers each request.
///
/// # Errors
/// As [`Compactor::plan`].
pub fn compact_with<F>(
    ast: &ChainAst,
    index: &TokenIndex,
    budget: Option<&Budget>,
    pipeline: &Pipeline,
    ids: &mut (dyn IdSource + Send),
    mut ask: F,
) -> Result<Outcome, Error>
where
    F: FnMut(&SummaryRequest) -> Result<String, SummaryError>,
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

fn limits(budget: &Budget, index: &TokenIndex) -> Result<Limits, Error> {
    let usable = budget.usable()?;
    let (trigger, target) = budget.marks(usable);
    let total = budget.unit().of(index.total());
    Ok(Limits { limit: budget.limit(), usable, target, triggered: total > trigger })
}

fn form_rules(pipeline: &Pipeline) -> FormRules {
    match &pipeline.profile {
        None => FormRules {
            alternate: false,
            assistant_after_tool: false,
            require_reasoning: false,
            reasoning_fallback: String::new(),
            require_signature: false,
            rejects_empty_text: false,
            rejects_empty_result: false,
            blank: false,
            id_pattern: state::default_pattern(),
        },
        Some(profile) => FormRules::of(profile),
    }
}

fn max_requests(chain: &ChainState<'_>, pipeline: &Pipeline) -> usize {
    let sections = chain.sections.len();
    let pairs = chain.pair_states.len();
    let one: usize = pipeline.stages.iter().map(|it| it.policy.max_requests(sections, pairs)).sum();
    let has_rounds = chain.measure.limits.is_some() || may_feed_earlier(&pipeline.stages, false);
    if has_rounds { one.saturating_mul(MAX_ROUNDS) } else { one }
}

/// Whether a stage that runs in any case stands before another one, whose changes may give it something to
/// do: the next run would find that (CP-15).
fn may_feed_earlier(stages: &[Stage], has_caps: bool) -> bool {
    let earlier = stages.split_last().map_or(&[][..], |it| it.1);
    !stages.is_empty() && has_caps || earlier.iter().any(|it| it.when == When::Always)
}
