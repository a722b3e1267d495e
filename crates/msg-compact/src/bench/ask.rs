//! Asking for summaries: what a request stands for, and whether it is worth making (CP-22, CP-26).

use std::ops::Range;

use msg_core::Message;

use super::{Form, Item, PairState, SectionState, Workbench, form::Shape};
use crate::{
    budget::share,
    error::SummaryError,
    request::{SummaryRequest, source_text},
    tally::Cost,
    text::fnv1a,
};

/// A request that is open, or answered and not yet settled.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) request: SummaryRequest,
    /// The diagnostic of the edit that a used answer makes.
    pub(crate) code: &'static str,
    pub(crate) target: Target,
    /// What the answer's replacement has to be cheaper than.
    pub(crate) replaced: Cost,
    pub(crate) key: u64,
    pub(crate) answer: Option<Result<String, SummaryError>>,
}

/// What a summary takes the place of.
#[derive(Debug)]
pub(crate) enum Target {
    /// The pairs of a range that are not pinned.
    Pairs { section: usize, pairs: Range<usize>, shape: Shape },
    /// The sections of a range that are not pinned: they become one.
    Sections { sections: Range<usize>, shape: Shape, merge: Merge },
    /// The merged user message of a section, or what was said after its first text.
    Users { section: usize, keep_first: bool },
}

/// What becomes of the user messages of sections that become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// All of them become one message, parts in order; they are no part of the summary.
    AllUsers,
    /// The first stays as it is; the summary tells of the others.
    FirstUser,
}

/// Who asks, and what for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairTarget<'p> {
    pub(crate) policy: &'static str,
    pub(crate) code: &'static str,
    pub(crate) form: Form,
    pub(crate) prefix: &'p str,
}

/// The least that an answer is asked to be long (CP-25).
const MIN_TARGET: u64 = 64;

impl Workbench<'_> {
    /// Asks for one summary of the pairs of a range that are not pinned, to stand before those that
    /// are. `current`: they belong to the current turn. Nothing is asked (false) where there is
    /// nothing to replace, where no answer could be smaller, or where the same request was refused.
    pub(crate) fn ask_pairs(
        &mut self,
        who: PairTarget<'_>,
        section: usize,
        pairs: Range<usize>,
        current: bool,
    ) -> bool {
        let state = &self.sections[section];
        let replaced = || state.pairs[pairs.clone()].iter().filter(|it| !it.pinned);
        if replaced().next().is_none() {
            return false;
        }
        let followed =
            pairs.end < state.pairs.len() || state.pairs[pairs.clone()].iter().any(|it| it.pinned);
        let shape = self.shape(who.form, who.prefix, replaced(), current, followed);
        let cost: Cost = replaced().map(PairState::cost).sum();
        let empty = self.summary_cost(&shape);
        if self.unit.of(empty) >= self.unit.of(cost) {
            return false;
        }
        let source: Vec<Message> = self.copies(replaced().flat_map(|it| &it.items));
        let context: Vec<Message> = self.copies(state.user.iter());
        let span = span_of(replaced().flat_map(|it| &it.items));
        let target = Target::Pairs { section, pairs, shape };
        self.push_ask(who, target, cost, empty, span, context, source)
    }

    /// Asks for one summary that makes one section of those in a range that are not pinned. As
    /// [`Workbench::ask_pairs`] else; there is nothing to ask where they have no pair, or are one
    /// settled section.
    pub(crate) fn ask_sections(
        &mut self,
        who: PairTarget<'_>,
        sections: Range<usize>,
        merge: Merge,
    ) -> bool {
        if !self.has_sections_to_ask(sections.clone()) {
            return false;
        }
        let (shape, cost, empty) = self.merge_costs(who, sections.clone(), merge);
        if self.unit.of(empty) >= self.unit.of(cost) {
            return false;
        }
        let open = || self.sections[sections.clone()].iter().filter(|it| !it.pinned);
        let first_user = open().find_map(|it| it.user.as_ref()).map(|it| it.input);
        let in_source = |it: &SectionState| {
            merge == Merge::FirstUser
                && it.user.as_ref().is_some_and(|it| Some(it.input) != first_user)
        };
        let mut source = Vec::new();
        for state in open() {
            let user = state.user.iter().filter(|_| in_source(state));
            source.extend(self.copies(user.chain(state.pairs.iter().flat_map(|it| &it.items))));
        }
        let context = self.copies(open().filter_map(|it| it.user.as_ref()));
        let span = span_of(
            open().flat_map(|it| it.user.iter().chain(it.pairs.iter().flat_map(|it| &it.items))),
        );
        let target = Target::Sections { sections, shape, merge };
        self.push_ask(who, target, cost, empty, span, context, source)
    }

    /// Asks about the users that were merged into a section's user message.
    pub(crate) fn ask_users(
        &mut self,
        who: PairTarget<'_>,
        section: usize,
        keep_first: bool,
    ) -> bool {
        let Some(user) = self.sections[section].user.as_ref() else { return false };
        let (whole, span) = (user.cost, span_of(self.sections[section].merged_users.iter()));
        let empty = self.cost_of(&self.summarized_user(section, keep_first, ""));
        // What stays of the message is no part of what is replaced.
        let kept = if keep_first { self.kept_cost(empty) } else { Cost::default() };
        let (cost, empty) = (whole.minus(kept), empty.minus(kept));
        if self.unit.of(empty) >= self.unit.of(cost) {
            return false;
        }
        let mut source = self.copies(self.sections[section].merged_users.iter());
        if keep_first {
            source = after_first_text(source);
        }
        let target = Target::Users { section, keep_first };
        self.push_ask(who, target, cost, empty, span, Vec::new(), source)
    }

    /// What the part of a user message costs that stays beside a summary without a text.
    pub(super) fn kept_cost(&self, with_empty: Cost) -> Cost {
        let frame = self.cost_of(&Message::user(""));
        with_empty.minus(frame)
    }

    /// Whether [`Workbench::ask_pairs`] would have something to replace: pairs that are not pinned,
    /// and not just one summary.
    pub(crate) fn has_pairs_to_ask(&self, section: usize, pairs: Range<usize>) -> bool {
        let mut open = self.sections[section].pairs[pairs].iter().filter(|it| !it.pinned);
        match (open.next(), open.next()) {
            (None, _) => false,
            (Some(one), None) => !one.summary,
            (Some(_), Some(_)) => true,
        }
    }

    /// Whether [`Workbench::ask_sections`] would have something to replace.
    pub(crate) fn has_sections_to_ask(&self, sections: Range<usize>) -> bool {
        let mut open = self.sections[sections].iter().filter(|it| !it.pinned);
        match (open.next(), open.next()) {
            (None, _) => false,
            (Some(one), None) => !one.pairs.is_empty() && !one.settled(),
            (Some(one), Some(two)) => {
                [one, two].into_iter().chain(open).any(|it| !it.pairs.is_empty())
            }
        }
    }

    /// Shape of the summary of merged sections, what they cost, and what an empty summary in their
    /// place would.
    pub(crate) fn merge_costs(
        &self,
        who: PairTarget<'_>,
        sections: Range<usize>,
        merge: Merge,
    ) -> (Shape, Cost, Cost) {
        let open = || self.sections[sections.clone()].iter().filter(|it| !it.pinned);
        let pairs = || open().flat_map(|it| &it.pairs);
        let shape = self.shape(who.form, who.prefix, pairs(), false, false);
        let body: Cost = pairs().map(PairState::cost).sum();
        let users = open().filter_map(|it| it.user.as_ref()).map(|it| it.cost);
        // Users that stay, as they are or as one message, are no part of what is replaced.
        let told: Cost = match merge {
            Merge::AllUsers => Cost::default(),
            Merge::FirstUser => users.skip(1).sum(),
        };
        let empty = self.summary_cost(&shape);
        (shape, body + told, empty)
    }

    /// What a summary of this shape costs without a text.
    pub(crate) fn summary_cost(&self, shape: &Shape) -> Cost {
        let messages = self.summary(shape, "", &self.sample_id());
        messages.iter().map(|it| self.cost_of(it)).sum()
    }

    /// The user message of merged sections.
    pub(crate) fn merged_user(&self, sections: Range<usize>, merge: Merge) -> Option<Item> {
        let open = self.sections[sections].iter().filter(|it| !it.pinned);
        let mut users = open.filter_map(|it| it.user.as_ref());
        let first = users.next()?;
        let rest: Vec<&Item> = users.collect();
        if merge == Merge::FirstUser || rest.is_empty() {
            return Some(first.clone());
        }
        let mut message = self.message(first).clone();
        message.extra.clear_layout();
        for user in rest {
            message.parts.extend(self.message(user).parts.iter().cloned());
        }
        Some(self.made(message, first.input))
    }

    /// The merged user message of a section with a summary in place of all of it, or of what was
    /// said after its first text.
    pub(crate) fn summarized_user(&self, section: usize, keep_first: bool, text: &str) -> Message {
        let old = self.sections[section].user.as_ref().map(|it| self.message(it));
        let Some(old) = old.filter(|_| keep_first) else { return Message::user(text) };
        let mut new = old.clone();
        new.extra.clear_layout();
        let first_text = new.parts.iter().position(|it| it.as_text().is_some());
        new.parts.truncate(first_text.map_or(0, |it| it + 1));
        new.with_text(text)
    }

    fn copies<'i>(&self, items: impl Iterator<Item = &'i Item>) -> Vec<Message> {
        items.map(|it| it.message(&self.inputs).clone()).collect()
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "each is one fact of a request, named at its callers"
    )]
    fn push_ask(
        &mut self,
        who: PairTarget<'_>,
        target: Target,
        replaced: Cost,
        empty: Cost,
        replaces: Range<usize>,
        context: Vec<Message>,
        source: Vec<Message>,
    ) -> bool {
        let key = fnv1a(&[who.policy, "\n", &source_text(&source)]);
        if self.refused.contains(&key) {
            return false;
        }
        let cost = self.unit.of(replaced);
        let request = SummaryRequest {
            id: self.next_id(),
            policy: who.policy,
            replaces,
            context,
            source,
            replaced_bytes: replaced.bytes,
            target: share(cost, 20).max(MIN_TARGET),
            max: cost - self.unit.of(empty) - 1,
            max_prompt: self.max_prompt,
        };
        self.asks.push(Ask { request, code: who.code, target, replaced, key, answer: None });
        true
    }
}

/// The messages behind the first text of the first: its remaining parts, then the others.
fn after_first_text(mut messages: Vec<Message>) -> Vec<Message> {
    if let Some(first) = messages.first_mut() {
        let text = first.parts.iter().position(|it| it.as_text().is_some());
        first.parts.drain(..text.map_or(0, |it| it + 1));
        if first.parts.is_empty() {
            messages.remove(0);
        }
    }
    messages
}

fn span_of<'i>(items: impl Iterator<Item = &'i Item>) -> Range<usize> {
    let span = items.fold(None, |span: Option<(u32, u32)>, it| {
        let (first, last) = span.unwrap_or((it.input, it.input));
        Some((first.min(it.input), last.max(it.input)))
    });
    span.map_or(0..0, |(first, last)| first as usize..last as usize + 1)
}
