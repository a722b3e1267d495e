//! Asking for summaries: what a request stands for, and whether it is worth making (CP-22, CP-26).

use std::ops::Range;

use msg_core::Message;

use super::{ChainState, Form, Item, MergeSum, form::Shape};
use crate::{budget::share, error::SummaryError, request::SummaryRequest, token_index::Cost};

/// A request that is open, or answered and not yet applied.
#[derive(Debug)]
pub(crate) struct OpenRequest {
    pub(crate) request: SummaryRequest,
    /// The diagnostic of the edit that a used answer makes.
    pub(crate) code: &'static str,
    pub(crate) target: Target,
    /// What the answer's replacement has to be cheaper than.
    pub(crate) replaced: Cost,
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

impl ChainState<'_> {
    /// Asks for one summary of the pairs of a range that are not pinned, to stand before those that
    /// are. `current`: they belong to the current turn. Nothing is asked (false) where there is
    /// nothing to replace, where no answer could be smaller, or where the same request was refused.
    pub(crate) fn open_pairs(
        &mut self,
        who: PairTarget<'_>,
        section: usize,
        pairs: Range<usize>,
        current: bool,
    ) -> bool {
        let state = &self.sections[section];
        if state.pinned {
            return false;
        }
        let all = self.pairs_of(state);
        let replaced = || all[pairs.clone()].iter().filter(|it| !it.pinned);
        if replaced().next().is_none() {
            return false;
        }
        let followed = pairs.end < all.len() || all[pairs.clone()].iter().any(|it| it.pinned);
        let mut shape = self.shape(who.form, who.prefix, replaced(), current, followed);
        shape.signed |= shape.call && self.forms.signed_from <= section;
        let cost: Cost = replaced().map(|it| it.cost).sum();
        let empty = self.summary_cost(&shape);
        let items = || replaced().flat_map(|it| &self.items[it.items()]);
        let draft = Draft {
            replaced: cost,
            empty,
            replaces: span_of(items()),
            messages: Vec::new(),
            n_context: 0,
        };
        if !self.may_save(&draft) {
            return false;
        }
        let context = state.user.iter().map(|it| self.item(*it));
        let messages = self.copies(context.chain(items()));
        let n_context = usize::from(state.user.is_some());
        let draft = Draft { messages, n_context, ..draft };
        self.open_request(who, Target::Pairs { section, pairs, shape }, draft)
    }

    /// Asks for one summary that makes one section of those in a range that are not pinned. As
    /// [`ChainState::open_pairs`] else; there is nothing to ask where they have no pair, or are one
    /// settled section.
    pub(crate) fn open_sections(
        &mut self,
        who: PairTarget<'_>,
        sections: Range<usize>,
        merge: Merge,
    ) -> bool {
        let mut sum = MergeSum::default();
        self.sections[sections.clone()].iter().for_each(|it| sum.add(self, it));
        if !sum.has_request() {
            return false;
        }
        let shape = self.merge_shape(who, sections.clone());
        let open = || self.sections[sections.clone()].iter().filter(|it| !it.pinned);
        let draft = Draft {
            replaced: sum.replaced(merge),
            empty: self.summary_cost(&shape),
            replaces: span_of(open().flat_map(|it| {
                let body = self.pairs_of(it).iter().flat_map(|it| &self.items[it.items()]);
                it.user.iter().map(|it| self.item(*it)).chain(body)
            })),
            messages: Vec::new(),
            n_context: 0,
        };
        if !self.may_save(&draft) {
            return false;
        }
        let first_user = open().find_map(|it| it.user);
        let is_summarized = |it: &u32| merge == Merge::FirstUser && Some(*it) != first_user;
        let mut messages = self.copies(open().filter_map(|it| it.user).map(|it| self.item(it)));
        let n_context = messages.len();
        messages.reserve(open().map(|it| self.len_without_system(it)).sum());
        for state in open() {
            let user = state.user.iter().filter(|it| is_summarized(it)).map(|it| self.item(*it));
            let body = self.pairs_of(state).iter().flat_map(|it| &self.items[it.items()]);
            messages.extend(user.chain(body).map(|it| self.message(it).into_owned()));
        }
        let draft = Draft { messages, n_context, ..draft };
        self.open_request(who, Target::Sections { sections, shape, merge }, draft)
    }

    /// Asks about the users that were merged into a section's user message.
    pub(crate) fn open_users(
        &mut self,
        who: PairTarget<'_>,
        section: usize,
        users: &[u32],
        keep_first: bool,
    ) -> bool {
        let Some(user) = self.sections[section].user else { return false };
        let whole = self.item(user).cost;
        let empty = self.cost_of(&self.summarized_user(section, keep_first, ""));
        // What stays of the message is no part of what is replaced.
        let kept = if keep_first { self.kept_cost(empty) } else { Cost::default() };
        let users = || users.iter().map(|it| self.item(*it));
        let draft = Draft {
            replaced: whole.minus(kept),
            empty: empty.minus(kept),
            replaces: span_of(users()),
            messages: Vec::new(),
            n_context: 0,
        };
        if !self.may_save(&draft) {
            return false;
        }
        let mut messages = self.copies(users());
        if keep_first {
            messages = after_first_text(messages);
        }
        self.open_request(who, Target::Users { section, keep_first }, Draft { messages, ..draft })
    }

    /// What the part of a user message costs that stays beside a summary without a text.
    pub(crate) fn kept_cost(&self, with_empty: Cost) -> Cost {
        let frame = self.cost_of(&Message::user(""));
        with_empty.minus(frame)
    }

    /// Whether [`ChainState::open_pairs`] would have something to replace: pairs that are not pinned,
    /// and not just one summary.
    pub(crate) fn has_pairs_to_request(&self, section: usize, pairs: Range<usize>) -> bool {
        let state = &self.sections[section];
        if state.pinned {
            return false;
        }
        let all = self.pairs_of(state);
        let mut open = all[pairs].iter().filter(|it| !it.pinned);
        match (open.next(), open.next()) {
            (None, _) => false,
            (Some(one), None) => !self.is_summary(one),
            (Some(_), Some(_)) => true,
        }
    }

    /// The shape of the summary of merged sections.
    pub(crate) fn merge_shape(&self, who: PairTarget<'_>, sections: Range<usize>) -> Shape {
        let open = self.sections[sections.clone()].iter().filter(|it| !it.pinned);
        let pairs = open.flat_map(|it| self.pairs_of(it));
        let mut shape = self.shape(who.form, who.prefix, pairs, false, false);
        shape.signed |= shape.call && self.forms.signed_from < sections.end;
        shape
    }

    /// What a summary of this shape costs without a text. Shapes without reasoning are few, and asked for
    /// by every section of a chain.
    pub(crate) fn summary_cost(&self, shape: &Shape) -> Cost {
        let mut known = self.forms.empty_costs.borrow_mut();
        let same = |it: &&EmptyCost| it.is_of(shape);
        if let Some(it) = known.iter().find(same).filter(|_| shape.reasoning.is_empty()) {
            return it.cost;
        }
        let messages = self.summary(shape, "", &self.sample_id());
        let cost = messages.iter().map(|it| self.cost_of(it)).sum();
        if shape.reasoning.is_empty() {
            let (call, signed, prefix) = (shape.call, shape.signed, shape.prefix.clone());
            known.push(EmptyCost { call, signed, prefix, cost });
        }
        cost
    }

    /// The user message of merged sections: the item of the first, or one message of all of them.
    pub(crate) fn merged_user(&mut self, sections: Range<usize>, merge: Merge) -> Option<u32> {
        let open = self.sections[sections].iter().filter(|it| !it.pinned);
        let mut users = open.filter_map(|it| it.user);
        let first = users.next()?;
        let rest: Vec<u32> = users.collect();
        if merge == Merge::FirstUser || rest.is_empty() {
            return Some(first);
        }
        let mut message = self.message(self.item(first)).into_owned();
        message.extra.clear_layout();
        for user in rest {
            message.parts.extend(self.message(self.item(user)).parts.iter().cloned());
        }
        self.forms.rules.drop_empty_texts(&mut message);
        let input = self.item(first).input;
        let item = self.made(message, input);
        Some(self.add_item(item))
    }

    /// The merged user message of a section with a summary in place of all of it, or of what was
    /// said after its first text.
    pub(crate) fn summarized_user(&self, section: usize, keep_first: bool, text: &str) -> Message {
        let old = self.sections[section].user.map(|it| self.message(self.item(it)));
        let Some(old) = old.filter(|_| keep_first) else { return Message::user(text) };
        let mut new = old.into_owned();
        new.extra.clear_layout();
        let first_text = new.parts.iter().position(|it| it.as_text().is_some());
        new.parts.truncate(first_text.map_or(0, |it| it + 1));
        new.with_text(text)
    }

    fn copies<'i>(&self, items: impl Iterator<Item = &'i Item>) -> Vec<Message> {
        items.map(|it| self.message(it).into_owned()).collect()
    }

    /// Whether an answer could be smaller than what it replaces (CP-22).
    fn may_save(&self, draft: &Draft) -> bool {
        self.measure.unit.of(draft.empty) < self.measure.unit.of(draft.replaced)
    }

    fn open_request(&mut self, who: PairTarget<'_>, target: Target, draft: Draft) -> bool {
        let cost = self.measure.unit.of(draft.replaced);
        let mut request = SummaryRequest {
            id: self.requests.next,
            policy: who.policy,
            replaces: draft.replaces,
            messages: draft.messages.into(),
            n_context: draft.n_context,
            replaced_bytes: draft.replaced.bytes,
            target: share(cost, 20).max(MIN_TARGET),
            max: cost - self.measure.unit.of(draft.empty) - 1,
            prompt_room: usize::MAX,
            prompt_too_long: None,
        };
        // Hashing a source costs more than all else that is done with it.
        if !self.requests.refused.is_empty() && self.requests.refused.contains(&request.key()) {
            return false;
        }
        self.requests.next += 1;
        self.requests.made += 1;
        request.keep_within(self.measure.max_prompt, cost, |it| self.prompt_cost(it));
        let replaced = draft.replaced;
        self.requests.open.push(OpenRequest {
            request,
            code: who.code,
            target,
            replaced,
            answer: None,
        });
        true
    }

    /// What a request to a model costs, in the unit in use.
    fn prompt_cost(&self, prompt: &[Message]) -> u64 {
        let base = Cost { tokens: self.input.index.counter().request(&[]), bytes: 0 };
        self.measure.unit.of(prompt.iter().map(|it| self.cost_of(it)).sum::<Cost>() + base)
    }
}

/// What a summary of a shape without reasoning costs if it says nothing.
#[derive(Debug)]
pub(crate) struct EmptyCost {
    call: bool,
    signed: bool,
    prefix: Box<str>,
    cost: Cost,
}

impl EmptyCost {
    fn is_of(&self, shape: &Shape) -> bool {
        (self.call, self.signed, &self.prefix) == (shape.call, shape.signed, &shape.prefix)
    }
}

/// What is asked about.
struct Draft {
    /// The cost of what an answer will replace.
    replaced: Cost,
    /// The cost of what replaces it if the answer is empty.
    empty: Cost,
    replaces: Range<usize>,
    /// The context, then the source.
    messages: Vec<Message>,
    n_context: usize,
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
