//! Replacing pairs and sections by new ones. A step puts everything at once, so that it costs one pass over what it
//! touches.

use std::ops::Range;

use msg_chainast::BodyPairKind;
use msg_core::Message;

use super::{ChainState, Change, Item, Merge, PairState, SectionState, items::index};
use crate::token_index::Cost;

/// The messages of a pair that is not in the chain yet.
pub(crate) struct NewPair {
    pub(crate) messages: Vec<Message>,
    /// What each of them costs.
    pub(crate) costs: Vec<Cost>,
    /// The first input message that it replaces.
    pub(crate) input: u32,
}

/// New pairs of one section, each in the place of the pairs of a range that are not pinned; ranges in
/// order, apart from each other.
pub(crate) struct NewPairs {
    section: usize,
    replaced: Vec<(Range<usize>, NewPair)>,
}

/// A section in the place of those of a range that are not pinned.
pub(crate) struct NewSection {
    pub(crate) old: Range<usize>,
    pub(crate) merge: Merge,
    pub(crate) user: Option<u32>,
    pub(crate) new: NewPair,
}

impl NewPairs {
    pub(crate) fn add(list: &mut Vec<Self>, section: usize, old: Range<usize>, new: NewPair) {
        match list.last_mut().filter(|it| it.section == section) {
            Some(last) => last.replaced.push((old, new)),
            None => list.push(Self { section, replaced: vec![(old, new)] }),
        }
    }
}

impl ChainState<'_> {
    /// Puts a pair's messages on the list of items.
    pub(crate) fn add_pair(&mut self, new: NewPair) -> PairState {
        let first = self.items.len();
        let cost = new.costs.iter().copied().sum();
        for (message, cost) in new.messages.into_iter().zip(new.costs) {
            let change = Some(self.changed(Change::New(message.into())));
            self.items.push(Item { input: new.input, change, cost });
        }
        let pair = PairState::new(first..self.items.len(), cost);
        PairState { made: true, cut: true, ..pair }
    }

    /// Puts new pairs in place of old ones of a section; pinned ones follow the new pair
    /// of their range. A range gives way to no more pairs than it had, so the list is filled from its
    /// start while it is read.
    pub(crate) fn replace_pairs(&mut self, pairs: NewPairs) {
        let span = self.sections[pairs.section].pairs();
        let (mut read, mut write) = (span.start, span.start);
        for (old, new) in pairs.replaced {
            let old = span.start + old.start..span.start + old.end;
            self.pair_states.copy_within(read..old.start, write);
            write += old.start - read;
            read = old.end;
            let (pinned, gone): (Vec<PairState>, Vec<PairState>) =
                self.pair_states[old].iter().partition(|it| it.pinned);
            let new = self.add_pair(new);
            self.sum = self.sum - gone.iter().map(|it| it.cost).sum() + new.cost;
            for pair in std::iter::once(new).chain(pinned) {
                self.pair_states[write] = pair;
                write += 1;
            }
        }
        self.pair_states.copy_within(read..span.end, write);
        write += span.end - read;
        self.sections[pairs.section].set_pairs(span.start..write);
    }

    /// Puts new sections in place of old ones; ranges in order, apart from each other. Pinned
    /// sections follow the new one of their range.
    pub(crate) fn replace_sections(&mut self, sections: Vec<NewSection>) {
        if sections.is_empty() {
            return;
        }
        let mut old = std::mem::take(&mut self.sections).into_iter();
        let mut read = 0;
        for it in sections {
            self.sections.extend(old.by_ref().take(it.old.start - read));
            read = it.old.end;
            let mut range: Vec<SectionState> = old.by_ref().take(it.old.len()).collect();
            // The system message leads, whichever section comes first now.
            let system = range.iter_mut().find_map(|it| it.system.take());
            let cut = range.first().is_some_and(|it| it.cut);
            let (pinned, gone): (Vec<_>, Vec<_>) = range.into_iter().partition(|it| it.pinned);
            let merged = self.merged(it, &gone);
            self.sections.push(SectionState { system, cut, ..merged });
            self.sections.extend(pinned);
        }
        self.sections.extend(old);
    }

    fn merged(&mut self, it: NewSection, gone: &[SectionState]) -> SectionState {
        let cost: Cost = gone.iter().map(|it| self.cost_without_system(it)).sum();
        let place = self.pair_states.len();
        let pair = self.add_pair(it.new);
        self.pair_states.push(pair);
        self.sum = self.sum - cost + self.cost_at(it.user) + pair.cost;
        if it.merge == Merge::AllUsers {
            let users = gone.iter().filter_map(|it| it.user).collect();
            self.merged_users = Some((self.sections.len(), users));
        }
        let mut merged = SectionState { user: it.user, ..SectionState::default() };
        merged.set_pairs(place..place + 1);
        merged
    }

    /// Puts a message in the place of a section's user message.
    pub(crate) fn replace_user(&mut self, section: usize, user: Message, input: usize) {
        let new = self.made(user, index(input));
        let old = self.cost_at(self.sections[section].user);
        self.sum = self.sum - old + new.cost;
        self.sections[section].user = Some(self.add_item(new));
    }
}

// What one summary would take the place of: sums that grow pair by pair, so that trying every place of a
// chain costs one pass.

/// Pairs, or whole sections, that may become one summary. Those that are pinned do not count.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Replaced {
    sections: usize,
    pairs: usize,
    /// Whether the first pair is a summary already.
    begins_with_summary: bool,
    has_user: bool,
    /// Users besides the first.
    later_users: Cost,
    /// What the pairs cost.
    pub(crate) pairs_cost: Cost,
    /// Whether some pair calls tools, which decides over the form of a summary.
    pub(crate) has_calls: bool,
    /// Whether some call has a signature.
    pub(crate) is_signed: bool,
    /// The first item with reasoning that the summary may carry.
    pub(crate) reasoning: Option<u32>,
}

impl Replaced {
    /// Adds the section that follows.
    pub(crate) fn add_section(&mut self, chain: &ChainState<'_>, section: &SectionState) {
        if section.pinned {
            return;
        }
        self.sections += 1;
        chain.pairs_of(section).iter().for_each(|it| self.add_pair(chain, section, it));
        if section.user.is_some() {
            if self.has_user {
                self.later_users = self.later_users + chain.cost_at(section.user);
            }
            self.has_user = true;
        }
    }

    /// Adds the pair of a section that follows.
    pub(crate) fn add_pair(
        &mut self,
        chain: &ChainState<'_>,
        section: &SectionState,
        pair: &PairState,
    ) {
        if pair.pinned || section.pinned {
            return;
        }
        self.begins_with_summary |= self.pairs == 0 && chain.is_summary(pair);
        self.pairs += 1;
        self.pairs_cost = self.pairs_cost + pair.cost;
        self.has_calls |= chain.kind(pair) != BodyPairKind::Completion;
        if let Some(message) = chain.reasoning_message(pair) {
            let mut signatures = message.tool_calls().filter_map(|it| it.signature.as_deref());
            self.is_signed |= signatures.any(|it| !it.is_empty());
            let carries = || message.reasoning().any(super::form::says_something);
            self.reasoning = self.reasoning.or_else(|| carries().then_some(pair.first));
        }
    }

    /// Whether there is something to replace: a pair, and not just one summary, or one settled section.
    pub(crate) fn has_request(&self) -> bool {
        let is_one_summary = self.begins_with_summary && self.pairs == 1 && self.sections <= 1;
        self.pairs > 0 && !is_one_summary
    }

    /// Whether there is a section that is not pinned.
    pub(crate) fn has_section(&self) -> bool {
        self.sections > 0
    }

    /// What a summary of merged sections would replace. Users that stay, as they are or as one message, are no
    /// part of it.
    pub(crate) fn merged_cost(&self, merge: Merge) -> Cost {
        match merge {
            Merge::AllUsers => self.pairs_cost,
            Merge::FirstUser => self.pairs_cost + self.later_users,
        }
    }
}
