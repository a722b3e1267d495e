//! From stage to stage and round to round (CP-11): which policy takes the next step, and when another round is
//! worth it. What the policies change is the chain state's.

use super::compactor::Compactor;
use crate::{
    Pipeline,
    pipeline::{Stage, When},
    policy::Progress,
    record::Before,
    state::ChainState,
};

/// How often the stages are run through (CP-11).
const MAX_ROUNDS: usize = 8;

/// Where in the pipeline the compaction is.
pub(super) enum State {
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

impl Compactor<'_> {
    pub(super) fn n_stages(&self) -> usize {
        self.pipeline.stages.len() + usize::from(self.caps.is_some())
    }

    fn stage(&self, number: usize) -> &Stage {
        match (&self.caps, number) {
            (Some(caps), 0) => caps,
            (caps, number) => &self.pipeline.stages[number - usize::from(caps.is_some())],
        }
    }

    /// One step of one stage; false when all is done.
    pub(super) fn advance(&mut self) -> bool {
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
        // Not by `self.stage`: the policy is borrowed beside the chain state that it changes.
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
    pub(super) fn is_hopeless(&self) -> bool {
        let Some(limits) = self.chain.measure.limits else { return false };
        let may_lower = self.pipeline.stages.iter().any(|it| it.policy.lowers_floor());
        self.chain.total() > limits.usable
            && self.floor.without_note() > limits.usable
            && !self.pipeline.best_effort
            && !may_lower
    }
}

pub(super) fn max_requests(chain: &ChainState<'_>, pipeline: &Pipeline) -> usize {
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
