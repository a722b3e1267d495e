//! `summarize-history` (CP-39): one summary of all but the last turns, or of as much as it takes.

use serde::{Deserialize, Serialize};

use super::{
    PREFIX_HISTORY, Policy, Progress,
    split::{Split, Splitter},
};
use crate::{
    bench::{Form, Merge, PairState, Workbench},
    budget::share,
    tally::Cost,
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
    pub form: HistoryForm,
}

/// The form of a history's summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HistoryForm {
    /// A completion.
    #[default]
    Text,
    /// The summarization pair.
    Call,
    /// Text if all replaced pairs are completions, else the pair.
    Auto,
}

impl Default for SummarizeHistory {
    fn default() -> Self {
        Self { keep_turns: 6, prefix: PREFIX_HISTORY.to_owned(), form: HistoryForm::Text }
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

    fn step(&self, at: u32, bench: &mut Workbench<'_>) -> Progress {
        let goes_on = at == 0 || at < MAX_STEPS && bench.accepted() > 0 && bench.over();
        if !goes_on || bench.refused_policies.contains(self.name()) {
            return Progress::Done;
        }
        let Some(split) = self.best_split(bench) else { return Progress::Done };
        if split.ask(bench, self.splitter()) { Progress::Ask } else { Progress::Done }
    }

    fn max_requests(&self, _sections: usize, _pairs: usize) -> usize {
        2 * MAX_STEPS as usize
    }
}

impl SummarizeHistory {
    fn splitter(&self) -> Splitter<'_> {
        let form = match self.form {
            HistoryForm::Text => Form::Text,
            HistoryForm::Call => Form::Call,
            HistoryForm::Auto => Form::Auto,
        };
        Splitter { policy: self.name(), form, prefix: &self.prefix }
    }

    /// The first split that is predicted to reach the target, else the last. Where the chain is not
    /// over its target, the one before the last `keep_turns` turns or none, so that a second run finds
    /// nothing to do.
    fn best_split(&self, bench: &Workbench<'_>) -> Option<Split> {
        let Some(target) = bench.target().filter(|_| bench.over()) else {
            let first = Split { section: self.first_section(bench), pair: 0 };
            let is_cut = bench.sections.get(first.section).is_some_and(|it| it.cut);
            return (is_cut && first.has_request(bench)).then_some(first);
        };
        let splits = self.splits(bench);
        let total = bench.total();
        let reaches = |saved: u64| total.saturating_sub(saved) <= target;
        let found = splits.iter().find(|it| reaches(it.1));
        found.or(splits.last()).map(|it| it.0)
    }

    /// The section that the last `keep_turns` turns begin with; never the first of all.
    fn first_section(&self, bench: &Workbench<'_>) -> usize {
        let keep = usize::try_from(self.keep_turns.max(1)).unwrap_or(usize::MAX);
        bench.sections().saturating_sub(keep).max(1)
    }

    /// The splits that have a request, in the order of CP-39, with what each is predicted to save.
    fn splits(&self, bench: &Workbench<'_>) -> Vec<(Split, u64)> {
        let n = bench.sections();
        let mut splits = Vec::new();
        for section in self.first_section(bench)..n {
            if let Some(saved) =
                self.saved_by_sections(bench, section).filter(|_| bench.sections[section].cut)
            {
                splits.push((Split { section, pair: 0 }, saved));
            }
        }
        let Some(last) = n.checked_sub(1) else { return splits };
        let sections = self.saved_by_sections(bench, last);
        self.saved_by_pairs(bench, last).into_iter().for_each(|(pair, pairs)| {
            if sections.is_some() || pairs.is_some() {
                let saved = sections.unwrap_or_default() + pairs.unwrap_or_default();
                splits.push((Split { section: last, pair }, saved));
            }
        });
        splits
    }

    /// What a summary of the sections before this one is predicted to save; none where there is no
    /// request.
    fn saved_by_sections(&self, bench: &Workbench<'_>, end: usize) -> Option<u64> {
        if !bench.has_sections_to_ask(0..end) {
            return None;
        }
        let (_, cost, empty) =
            bench.merge_costs(self.splitter().sections(), 0..end, Merge::FirstUser);
        predicted(bench, cost, empty)
    }

    /// The same of the first pairs of the last section, for each place where it may be cut.
    fn saved_by_pairs(&self, bench: &Workbench<'_>, section: usize) -> Vec<(usize, Option<u64>)> {
        let pairs = &bench.sections[section].pairs;
        let who = self.splitter().pairs();
        let mut saved = Vec::new();
        let mut cost = Cost::default();
        // The cost of an empty summary changes only with what its form depends on.
        let mut seen = (false, false);
        let mut empty = None;
        for end in 1..pairs.len() {
            let pair = &pairs[end - 1];
            if !pair.pinned {
                cost = cost + pair.cost();
                let now = (seen.0 || is_call(pair), seen.1 || has_reasoning(bench, pair));
                if empty.is_none() || now != seen {
                    let shape = bench.shape(who.form, who.prefix, open(&pairs[..end]), true, true);
                    empty = Some(bench.summary_cost(&shape));
                    seen = now;
                }
            }
            if pairs[end].cut {
                let request = empty.filter(|_| bench.has_pairs_to_ask(section, 0..end));
                saved.push((end, request.and_then(|it| predicted(bench, cost, it))));
            }
        }
        saved
    }
}

fn open(pairs: &[PairState]) -> impl Iterator<Item = &PairState> + Clone {
    pairs.iter().filter(|it| !it.pinned)
}

fn is_call(pair: &PairState) -> bool {
    pair.kind != msg_chainast::BodyPairKind::Completion
}

fn has_reasoning(bench: &Workbench<'_>, pair: &PairState) -> bool {
    let first = pair.items.first().map(|it| bench.message(it));
    first.is_some_and(|it| {
        it.reasoning().next().is_some() || it.tool_calls().any(|it| it.signature.is_some())
    })
}

/// What is saved if the answer has a fifth of what it replaces; none where no answer can save
/// anything (CP-22).
fn predicted(bench: &Workbench<'_>, cost: Cost, empty: Cost) -> Option<u64> {
    let (cost, empty) = (bench.unit.of(cost), bench.unit.of(empty));
    (empty < cost).then(|| cost.saturating_sub(empty + share(cost, 20)))
}
