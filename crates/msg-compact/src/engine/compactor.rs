//! The state machine (CP-20): runs the stages, hands out what has to be summarised, takes the
//! answers in any order, and says in the end what came of it. It does no I/O and waits for nobody.

use std::fmt;

use msg_chainast::{ChainAst, MessageOrigin};
use msg_core::IdSource;

use super::stages::{Position, max_requests};
use crate::{
    Budget, Pipeline, TokenIndex,
    error::{Error, SummaryError},
    outcome::Outcome,
    pipeline::{Stage, caps_stage},
    record::CompactionRecord,
    request::SummaryRequest,
    state::{ChainState, Floor, Limits},
    totals::Totals,
};

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
///                 // Ask a model with `request.prompt()?`, here or on another thread.
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
    pub(super) chain: ChainState<'a>,
    pub(super) pipeline: &'a Pipeline,
    /// Those of the pipeline, behind that of the budget's caps.
    pub(super) stages: Vec<Stage>,
    pub(super) before: Totals,
    pub(super) floor: Floor,
    pub(super) records: Vec<CompactionRecord>,
    max_requests: usize,
    pub(super) position: Position,
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

/// What a compaction wants next.
#[derive(Debug, Clone)]
pub enum Step<'a> {
    /// Answers to these requests, in any order.
    Summarize(Vec<SummaryRequest<'a>>),
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
        let limits = budget.map(|it| limits(it, index)).transpose()?;
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

    /// An upper bound on the summaries that will be asked for, known before the first one is.
    pub fn max_requests(&self) -> usize {
        self.max_requests
    }

    /// Skips the requests that an earlier run refused, as long as their units are unchanged.
    #[must_use]
    pub fn with_refused(mut self, refused: &[Refused]) -> Self {
        self.chain.requests.refused.extend(refused.iter().map(|it| it.0));
        self
    }

    /// The tree is a repaired one ([`ChainAst::repair_with_origins`]): edits, records and requests name
    /// messages of the list that it came from. A record names none that the repair inserted.
    #[must_use]
    pub fn with_origins(mut self, origins: &'a [MessageOrigin]) -> Self {
        self.chain.input.origins = Some(origins);
        self
    }

    /// The requests that were refused so far, those of [`Compactor::with_refused`] included.
    pub fn refused(&self) -> Vec<Refused> {
        self.chain.requests.refused.iter().map(|it| Refused(*it)).collect()
    }

    /// Goes on until summaries are needed or all is done. While requests are open, gives those
    /// again; once all is done, gives the outcome again.
    #[expect(clippy::should_implement_trait, reason = "it never ends, so it is no iterator")]
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

    /// Takes the answer to a request.
    ///
    /// # Errors
    /// No open request has this id, or it is answered already; nothing changes then.
    pub fn answer(&mut self, id: u32, answer: Result<String, SummaryError>) -> Result<(), Error> {
        // Requests of a step are numbered in the order in which they were made.
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

    /// A request as it is handed out: what it replaces are messages of the input.
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

/// Compacts in one go, with a function that answers each request.
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
) -> Result<Outcome, Error>
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

fn limits(budget: &Budget, index: &TokenIndex) -> Result<Limits, Error> {
    let usable = budget.usable()?;
    let (trigger, target) = budget.marks(usable);
    let total = budget.unit().of(index.total());
    Ok(Limits { limit: budget.limit(), usable, target, triggered: total > trigger })
}
