//! Policies that summarise whole turns: all but the last turns (CP-39), and old summaries into one (CP-40).

use std::ops::Range;

use msg_chainast::BodyPairKind;
use serde::{Deserialize, Serialize};

use super::{
    PREFIX_GOALS, PREFIX_HISTORY, Policy, Progress,
    pairs::{Split, of_pairs},
};
use crate::{
    budget::share,
    state::{ChainState, Form, Merge, PairState, Replaced, SectionState, SummaryKind},
    token_index::Cost,
};

/// Summarises the older part of the history, as little of it as reaches the target (CP-39).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SummarizeHistory {
    /// Turns that stay if that is enough; at least 1.
    pub keep_turns: u64,
    /// What a summary in text form begins with.
    pub prefix: String,
    /// The form of the summary of whole sections.
    pub form: Form,
    /// Which of the cuts that reach the target is taken.
    pub keep: HistoryKeep,
}

/// Which cut [`SummarizeHistory`] takes where several reach the target (CP-39).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HistoryKeep {
    /// The one that keeps `keep_turns` turns, then those that keep fewer.
    #[default]
    Turns,
    /// The one that keeps most: the cuts are tried from the oldest turn on, and once the size of the summary is
    /// known, it replaces no more than the target asks for.
    Most,
}

impl Default for SummarizeHistory {
    fn default() -> Self {
        Self {
            keep_turns: 6,
            prefix: PREFIX_HISTORY.to_owned(),
            form: Form::Text,
            keep: HistoryKeep::Turns,
        }
    }
}

/// How often it splits in one run.
const MAX_STEPS: u32 = 3;

impl Policy for SummarizeHistory {
    fn name(&self) -> &'static str {
        "summarize-history"
    }

    fn config(&self) -> serde_json::Value {
        serde_json::json!(self)
    }

    fn step(&self, at: u32, chain: &mut ChainState<'_>) -> Progress {
        if at == 0 {
            chain.unsummarized = None;
        }
        let goes_on = at == 0 || at < MAX_STEPS && chain.accepted() > 0 && chain.over();
        let is_refused = chain.requests.refused_policies.contains(self.name());
        let split = (goes_on && !is_refused).then(|| self.best_split(chain)).flatten();
        if split.is_some_and(|it| it.request(chain, self.kind())) {
            return Progress::Requested;
        }
        chain.put_back_reduced();
        Progress::Done
    }

    fn max_requests(&self, _sections: usize, _pairs: usize) -> usize {
        2 * MAX_STEPS as usize
    }
}

impl SummarizeHistory {
    fn kind(&self) -> SummaryKind<'_> {
        SummaryKind {
            code: "compact::sections-merged",
            form: self.form,
            prefix: &self.prefix,
            refills: self.keep == HistoryKeep::Most,
        }
    }

    /// The first split that is predicted to reach the target, else the last. Where the chain is not
    /// over its target, the one before the last `keep_turns` turns or none, whatever `keep` says, so
    /// that a second run finds nothing to do (CP-15).
    fn best_split(&self, chain: &ChainState<'_>) -> Option<Split> {
        let Some(target) = chain.target().filter(|_| chain.over()) else {
            let section = self.first_section(chain);
            let mut before = Replaced::default();
            chain.sections.iter().take(section).for_each(|it| before.add_section(chain, it));
            let is_cut = chain.sections.get(section).is_some_and(|it| it.cut);
            return (is_cut && before.has_request()).then_some(Split { section, pair: 0 });
        };
        let splits = self.splits(chain);
        let total = chain.total();
        let reaches = |saved: u64| total.saturating_sub(saved) <= target;
        let found = splits.iter().find(|it| reaches(it.1));
        found.or(splits.last()).map(|it| it.0)
    }

    /// The first section that a cut may be before while the chain is over its target.
    fn first_cut(&self, chain: &ChainState<'_>) -> usize {
        match self.keep {
            HistoryKeep::Turns => self.first_section(chain),
            HistoryKeep::Most => 1,
        }
    }

    /// The section that the last `keep_turns` turns begin with; never the first of all.
    fn first_section(&self, chain: &ChainState<'_>) -> usize {
        let keep = usize::try_from(self.keep_turns.max(1)).unwrap_or(usize::MAX);
        chain.sections().saturating_sub(keep).max(1)
    }

    /// The splits that have a request, in the order of CP-39, with what each is predicted to save. One
    /// pass over the chain.
    fn splits(&self, chain: &ChainState<'_>) -> Vec<(Split, u64)> {
        let first = self.first_cut(chain);
        let mut splits = Vec::new();
        let mut before = Replaced::default();
        let mut by_sections = None;
        for (section, state) in chain.sections.iter().enumerate() {
            if section >= first {
                by_sections = self.saved_by_sections(chain, section, &before);
                if let Some(saved) = by_sections.filter(|_| state.cut) {
                    splits.push((Split { section, pair: 0 }, saved));
                }
            }
            before.add_section(chain, state);
        }
        let Some(section) = chain.sections().checked_sub(1) else { return splits };
        for (pair, by_pairs) in self.saved_by_pairs(chain, section) {
            if by_sections.is_some() || by_pairs.is_some() {
                let saved = by_sections.unwrap_or_default() + by_pairs.unwrap_or_default();
                splits.push((Split { section, pair }, saved));
            }
        }
        splits
    }

    /// What a summary of the sections before this one, whose sum is known, is predicted to save; none
    /// without a request.
    fn saved_by_sections(&self, chain: &ChainState<'_>, end: usize, sum: &Replaced) -> Option<u64> {
        let request =
            sum.has_request().then(|| chain.shape(self.kind(), sum, end - 1, false, false));
        predicted(chain, sum.merged_cost(Merge::FirstUser), chain.summary_cost(&request?))
    }

    /// The same of the first pairs of the last section, for each place where it may be cut.
    fn saved_by_pairs(&self, chain: &ChainState<'_>, section: usize) -> Vec<(usize, Option<u64>)> {
        let state = &chain.sections[section];
        let pairs = chain.pairs_of(state);
        let mut saved = Vec::new();
        let mut sum = Replaced::default();
        for end in 1..pairs.len() {
            sum.add_pair(chain, state, &pairs[end - 1]);
            if pairs[end].cut {
                let shape = || chain.shape(of_pairs(self.kind()), &sum, section, true, true);
                let empty = sum.has_request().then(|| chain.summary_cost(&shape()));
                saved.push((end, empty.and_then(|it| predicted(chain, sum.pairs_cost, it))));
            }
        }
        saved
    }
}

/// What is saved if the answer has a fifth of what it replaces; none where no answer can save
/// anything (CP-22).
fn predicted(chain: &ChainState<'_>, cost: Cost, empty: Cost) -> Option<u64> {
    let (cost, empty) = (chain.measure.unit.of(cost), chain.measure.unit.of(empty));
    (empty < cost).then(|| cost.saturating_sub(empty + share(cost, 20)))
}

// `goal-batch` (CP-40): old turns that are summaries already become one, several at a time.

/// Merges old, summarised turns into batches (CP-40).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GoalBatch {
    /// Messages at the end that are not old.
    pub old_after: u64,
    /// Turns that a batch has at least.
    pub min_turns: u64,
    /// Turns that a batch has at most; at least 1.
    pub max_turns: u64,
}

impl Default for GoalBatch {
    fn default() -> Self {
        Self { old_after: 20, min_turns: 3, max_turns: 6 }
    }
}

impl Policy for GoalBatch {
    fn name(&self) -> &'static str {
        "goal-batch"
    }

    fn config(&self) -> serde_json::Value {
        serde_json::json!(self)
    }

    fn step(&self, at: u32, chain: &mut ChainState<'_>) -> Progress {
        if at > 0 {
            return Progress::Done;
        }
        let (code, prefix) = ("compact::goal-batch", PREFIX_GOALS);
        let kind = SummaryKind { code, form: Form::Text, prefix, refills: false };
        for batch in self.batches(chain) {
            chain.open_sections(kind, batch, Merge::FirstUser);
        }
        Progress::Requested
    }

    fn max_requests(&self, sections: usize, _pairs: usize) -> usize {
        sections
    }
}

impl GoalBatch {
    fn batches(&self, chain: &ChainState<'_>) -> Vec<Range<usize>> {
        let complete = self.complete_turns(chain);
        let max = usize::try_from(self.max_turns.max(1)).unwrap_or(usize::MAX);
        let runs = complete.chunk_by(|a, b| a + 1 == *b);
        runs.flat_map(|it| it.chunks(max))
            .filter(|it| it.len() as u64 >= self.min_turns)
            .map(|it| it[0]..it[it.len() - 1] + 1)
            .collect()
    }

    fn complete_turns(&self, chain: &ChainState<'_>) -> Vec<usize> {
        let old = (chain.n_without_system() as u64).saturating_sub(self.old_after);
        let mut place = 0u64;
        let mut complete = Vec::new();
        let last = chain.sections().saturating_sub(1);
        for (number, state) in chain.sections[..last].iter().enumerate() {
            place += chain.len_without_system(state) as u64;
            if place <= old && !state.pinned && is_complete(chain, state) {
                complete.push(number);
            }
        }
        complete
    }
}

/// A turn with a user whose body is done with: no calls, no batch, and a summary at least.
fn is_complete(chain: &ChainState<'_>, state: &SectionState) -> bool {
    let pairs = chain.pairs_of(state);
    let blocks = |it: &PairState| match chain.kind(it) {
        BodyPairKind::RequestResponse => true,
        BodyPairKind::Completion => chain.first_text(it).starts_with(PREFIX_GOALS),
        BodyPairKind::Summarization => false,
    };
    state.user.is_some() && !pairs.iter().any(blocks) && pairs.iter().any(|it| chain.is_summary(it))
}
