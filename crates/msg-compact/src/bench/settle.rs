//! What becomes of answers (CP-23): each is used or refused on its own, and the used ones are put in
//! place from the back, so that no place moves before its turn.

use std::collections::HashSet;

use msg_core::{CountingIds, Diagnostic, Part};

use super::{
    Ask, PairState, SectionState, Workbench,
    ask::{Merge, Target},
    form::Shape,
};
use crate::{
    codes, digest, error::SummaryError, pipeline::OnFailure, tally::Cost, text::clean_answer,
};

/// What takes the place of what was asked about.
enum Replacement {
    Pair(PairState),
    Section { user: Option<super::Item>, pair: PairState },
    User(super::Item),
}

/// Fresh ids are drawn at most this often before a number is appended (CA-52).
const DRAWS: usize = 64;

impl Workbench<'_> {
    /// Settles all requests of a step, which all have their answers.
    pub(crate) fn settle(&mut self) {
        let asks = std::mem::take(&mut self.asks);
        let mut used = Vec::with_capacity(asks.len());
        self.accepted = 0;
        for mut ask in asks {
            let answer = ask.answer.take().unwrap_or_else(|| Err(SummaryError::new("no answer")));
            if let Some(replacement) = self.judge(&ask, answer) {
                self.accepted += 1;
                let message = format!("a summary stands for {}", what(&ask.target));
                let edit = Diagnostic::info(codes::of(ask.code), message)
                    .at_message(ask.request.replaces.start)
                    .with_fix(format!("summarised {} messages", ask.request.replaces.len()));
                self.note(edit);
                used.push((ask.target, replacement));
            }
        }
        for (target, replacement) in used.into_iter().rev() {
            self.put(target, replacement);
        }
    }

    /// The replacement that an answer makes, if it is used; else the digest's, if it may be.
    fn judge(&mut self, ask: &Ask, answer: Result<String, SummaryError>) -> Option<Replacement> {
        let (code, reason) = match answer {
            Ok(text) => match clean_answer(&text) {
                "" => ("compact::summary-empty", "the summary is empty".to_owned()),
                text => match self.smaller(ask, text) {
                    Some(replacement) => return Some(replacement),
                    None => (
                        "compact::summary-not-smaller",
                        "the summary is not smaller than what it would replace".to_owned(),
                    ),
                },
            },
            Err(error) => ("compact::summary-failed", format!("the summary failed: {error}")),
        };
        self.edits.push(
            Diagnostic::warning(codes::of(code), reason).at_message(ask.request.replaces.start),
        );
        self.refused.insert(ask.key);
        self.refused_policies.insert(ask.request.policy);
        match self.on_failure {
            OnFailure::Keep => None,
            OnFailure::Digest => self.smaller(ask, &digest::digest(&ask.request)),
        }
    }

    /// The replacement with this text, if it costs less than what it replaces.
    fn smaller(&mut self, ask: &Ask, text: &str) -> Option<Replacement> {
        let first = u32::try_from(ask.request.replaces.start).unwrap_or(u32::MAX);
        let (replacement, cost) = match &ask.target {
            Target::Pairs { shape, .. } => {
                let pair = self.fresh_pair(shape, text, first);
                let cost = pair.cost();
                (Replacement::Pair(pair), cost)
            }
            Target::Sections { sections, shape, merge } => {
                let user = self.merged_user(sections.clone(), *merge);
                let pair = self.fresh_pair(shape, text, first);
                let cost = pair.cost();
                (Replacement::Section { user, pair }, cost)
            }
            Target::Users { section, keep_first } => {
                let user = self.made(self.summarized_user(*section, *keep_first, text), first);
                let empty = self.cost_of(&self.summarized_user(*section, *keep_first, ""));
                let kept = if *keep_first { self.kept_cost(empty) } else { Cost::default() };
                let cost = user.cost.minus(kept);
                (Replacement::User(user), cost)
            }
        };
        (self.unit.of(cost) < self.unit.of(ask.replaced)).then_some(replacement)
    }

    fn fresh_pair(&mut self, shape: &Shape, text: &str, first: u32) -> PairState {
        let id = if shape.call { self.fresh_id() } else { String::new() };
        self.summary_pair(shape, text, &id, first)
    }

    /// An id of the pattern that no call or result of the input and no other summary bears.
    fn fresh_id(&mut self) -> String {
        let inputs = &self.inputs;
        let used = self.used_ids.get_or_insert_with(|| {
            let parts = inputs.iter().flat_map(|it| &it.parts);
            parts.filter_map(id_of).map(str::to_owned).collect::<HashSet<_>>()
        });
        let name = msg_chainast::constants::SUMMARIZATION_TOOL_NAME;
        let mut id = String::new();
        for draw in 0..DRAWS {
            let counter = (used.len() + draw) as u64;
            id = self.rules.id_pattern.generate(name, counter, &mut self.ids);
            if used.insert(id.clone()) {
                return id;
            }
        }
        let numbered = (2u64..).map(|it| format!("{id}_{it}"));
        let fresh = numbered.into_iter().find(|it| !used.contains(it)).unwrap_or_default();
        used.insert(fresh.clone());
        fresh
    }

    /// An id as long as a fresh one, to know costs by; it is never written.
    pub(crate) fn sample_id(&self) -> String {
        let name = msg_chainast::constants::SUMMARIZATION_TOOL_NAME;
        self.rules.id_pattern.generate(name, 0, &mut CountingIds::default())
    }

    fn put(&mut self, target: Target, replacement: Replacement) {
        match (target, replacement) {
            (Target::Pairs { section, pairs, .. }, Replacement::Pair(pair)) => {
                self.put_pair(section, pairs, pair);
            }
            (Target::Sections { sections, merge, .. }, Replacement::Section { user, pair }) => {
                self.put_section(sections, merge, user, pair);
            }
            (Target::Users { section, .. }, Replacement::User(user)) => {
                let state = &mut self.sections[section];
                let new = user.cost;
                let old = state.user.replace(user).map_or_else(Cost::default, |it| it.cost);
                self.sum = self.sum - old + new;
            }
            _ => debug_assert!(false, "a replacement is made for its target"),
        }
    }

    fn put_pair(&mut self, section: usize, pairs: std::ops::Range<usize>, pair: PairState) {
        let new = pair.cost();
        let start = pairs.start;
        let state = &mut self.sections[section];
        let (pinned, replaced): (Vec<_>, Vec<_>) =
            state.pairs.drain(pairs).partition(|it| it.pinned);
        let old: Cost = replaced.iter().map(PairState::cost).sum();
        state.pairs.splice(start..start, std::iter::once(pair).chain(pinned));
        self.sum = self.sum - old + new;
    }

    fn put_section(
        &mut self,
        sections: std::ops::Range<usize>,
        merge: Merge,
        user: Option<super::Item>,
        pair: PairState,
    ) {
        let start = sections.start;
        let cut = self.sections[start].cut;
        let system = self.sections[start].system.take();
        let (pinned, replaced): (Vec<_>, Vec<_>) =
            self.sections.drain(sections).partition(|it| it.pinned);
        let old: Cost = replaced.iter().map(SectionState::cost).sum();
        let merged_users = match merge {
            Merge::AllUsers => replaced.into_iter().filter_map(|it| it.user).collect(),
            Merge::FirstUser => Vec::new(),
        };
        let mut merged =
            SectionState { user, pairs: vec![pair], cut, merged_users, ..SectionState::default() };
        let new = merged.cost();
        merged.system = system;
        self.sections.splice(start..start, std::iter::once(merged).chain(pinned));
        self.sum = self.sum - old + new;
    }
}

fn id_of(part: &Part) -> Option<&str> {
    match part {
        Part::ToolCall(it) => Some(&it.id),
        Part::ToolResult(it) => Some(&it.call_id),
        _ => None,
    }
}

fn what(target: &Target) -> &'static str {
    match target {
        Target::Pairs { .. } => "these body pairs",
        Target::Sections { .. } => "these sections",
        Target::Users { .. } => "these user messages",
    }
}
