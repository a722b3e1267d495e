//! From stage to stage and round to round (CP-11): which policy takes the next step, and when another round is
//! worth it. What the policies change is the chain state's.

use super::compactor::Compactor;
use crate::{
    pipeline::{Stage, When},
    policy::Progress,
    record::Before,
    state::ChainState,
};

/// How often the stages are run through (CP-11).
const MAX_ROUNDS: usize = 8;

/// Where in the pipeline the compaction is.
#[derive(Default)]
pub(super) struct Position {
    round: usize,
    /// The stage; behind the last one at the end of a round.
    pub(super) stage: usize,
    /// The next step of the stage's policy.
    step: u32,
    /// Changes that were made before this round.
    changes: usize,
    /// What the stage found, if a record is wanted.
    before: Option<Before>,
}

impl Compactor<'_> {
    /// One step of one stage; false when all is done.
    pub(super) fn advance(&mut self) -> bool {
        let Some(stage) = self.stages.get(self.position.stage) else { return self.next_round() };
        if self.position.step == 0 {
            if stage.when == When::Over && !self.chain.over() {
                self.position.stage += 1;
                return true;
            }
            self.position.before = self.pipeline.record.is_some().then(|| Before::new(&self.chain));
        }
        match self.step() {
            Progress::Requested => self.position.step += 1,
            Progress::Done => {
                self.end_stage();
                self.position.stage += 1;
                self.position.step = 0;
            }
        }
        true
    }

    fn step(&mut self) -> Progress {
        let (policy, at) = (&self.stages[self.position.stage].policy, self.position.step);
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

    fn end_stage(&mut self) {
        debug_assert_eq!(
            self.chain.sum,
            self.chain.items().map(|it| it.cost).sum(),
            "the kept sum is the recounted one"
        );
        let before = self.position.before.take();
        let Some((before, info)) = before.zip(self.pipeline.record.as_ref()) else { return };
        let policy = &self.stages[self.position.stage].policy;
        let (name, config) = (policy.name(), policy.config());
        let record = before.record(&self.chain, name, config, info, self.records.len());
        if !record.compacted_message_ids.is_empty()
            || record.original_token_count != record.result_token_count
        {
            self.records.push(record);
        }
    }

    /// Whether another round is worth it (CP-11); begins it.
    fn next_round(&mut self) -> bool {
        let Position { round, changes, .. } = self.position;
        let above = self.chain.measure.limits.is_some_and(|it| self.chain.total() > it.target);
        let changed = self.chain.log.n_changes > changes;
        let goes_on =
            changed && (above || may_feed_earlier(&self.stages)) && round + 1 < MAX_ROUNDS;
        if goes_on {
            let changes = self.chain.log.n_changes;
            self.position = Position { round: round + 1, changes, ..Position::default() };
        }
        goes_on
    }

    /// Whether not even the floor fits, and no stage may lower it (CP-13).
    pub(super) fn is_hopeless(&self) -> bool {
        let Some(limits) = self.chain.measure.limits else { return false };
        let may_lower = self.stages.iter().any(|it| it.policy.lowers_floor());
        self.chain.total() > limits.usable
            && self.floor.without_note() > limits.usable
            && !self.pipeline.best_effort
            && !may_lower
    }
}

pub(super) fn max_requests(chain: &ChainState<'_>, stages: &[Stage]) -> usize {
    let (sections, pairs) = (chain.sections.len(), chain.pair_states.len());
    let one: usize = stages.iter().map(|it| it.policy.max_requests(sections, pairs)).sum();
    let has_rounds = chain.measure.limits.is_some() || may_feed_earlier(stages);
    if has_rounds { one.saturating_mul(MAX_ROUNDS) } else { one }
}

/// Whether a stage that runs in any case stands before another one, whose changes may give it something to
/// do: the next run would find that (CP-15).
fn may_feed_earlier(stages: &[Stage]) -> bool {
    stages.iter().rev().skip(1).any(|it| it.when == When::Always)
}
