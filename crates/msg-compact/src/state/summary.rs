//! Requesting summaries: what a request replaces, whether it is worthwhile (CP-22, CP-26), and which pairs are already
//! summaries (CP-21).

use std::ops::Range;

use msg_chainast::BodyPairKind;
use msg_core::Message;

use super::{ChainState, Form, Item, PairState, Replaced, Shared, form::Shape};
use crate::{
    budget::share,
    error::SummaryError,
    policy::{PREFIX_CONTENT, PREFIX_GOALS, PREFIX_HISTORY, PREFIX_SUMMARIZED},
    request::{PromptLimit, SummaryRequest},
    token_index::Cost,
};

/// A request that is open, or answered and not yet applied.
#[derive(Debug)]
pub(crate) struct OpenRequest<'a> {
    pub(crate) request: SummaryRequest<'a>,
    /// The diagnostic code of the edit for a used answer.
    pub(crate) code: &'static str,
    pub(crate) target: Target,
    pub(crate) answer: Option<Result<String, SummaryError>>,
    /// How to write the summary if it replaces less than requested; `None` if it always replaces all.
    pub(crate) refill: Option<(Form, Box<str>)>,
}

impl OpenRequest<'_> {
    /// The kind of a summary that may replace less than requested.
    pub(crate) fn kind(&self) -> Option<SummaryKind<'_>> {
        let (form, prefix) = self.refill.as_ref()?;
        Some(SummaryKind { code: self.code, form: *form, prefix, refills: true })
    }
}

/// The content that a summary replaces.
#[derive(Debug)]
pub(crate) enum Target {
    /// The unpinned pairs of a range.
    Pairs { section: usize, pairs: Range<usize>, shape: Shape },
    /// The unpinned sections of a range, which are merged. The summary also replaces the first `pairs` of the next
    /// section.
    Sections { sections: Range<usize>, shape: Shape, merge: Merge, pairs: usize },
    /// The merged user message of a section, or what follows its first text. The kept part costs `kept`.
    Users { section: usize, keep_first: bool, kept: Cost },
}

impl Target {
    pub(crate) fn shape(&self) -> Option<&Shape> {
        match self {
            Target::Pairs { shape, .. } | Target::Sections { shape, .. } => Some(shape),
            Target::Users { .. } => None,
        }
    }
}

/// What to do with the user messages of sections that are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// Merge all of them into one message, parts in order; they are not summarised.
    AllUsers,
    /// Keep the first one; the summary covers the others.
    FirstUser,
}

/// The form of a summary, and how it is reported.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SummaryKind<'p> {
    pub(crate) code: &'static str,
    pub(crate) form: Form,
    pub(crate) prefix: &'p str,
    /// Whether it replaces less than requested if its real size allows that.
    pub(crate) refills: bool,
}

impl SummaryKind<'static> {
    /// With the prefix of most summaries (CP-21).
    pub(crate) fn content(code: &'static str, form: Form) -> Self {
        SummaryKind { code, form, prefix: PREFIX_CONTENT, refills: false }
    }
}

/// The minimum length requested of an answer (CP-25).
const MIN_TARGET: u64 = 64;

impl<'a> ChainState<'a> {
    /// Requests one summary of the unpinned pairs of a range, to be placed before the pinned ones. `current`: they
    /// belong to the current turn. Returns false without a request if there is nothing or only one summary to replace,
    /// if no answer could be smaller, or if the same request was refused.
    pub(crate) fn open_pairs(
        &mut self,
        kind: SummaryKind<'_>,
        section: usize,
        pairs: Range<usize>,
        current: bool,
    ) -> bool {
        let state = &self.sections[section];
        let all = self.pairs_of(state);
        let mut sum = Replaced::default();
        all[pairs.clone()].iter().for_each(|it| sum.add_pair(self, state, it));
        if !sum.has_request() {
            return false;
        }
        let followed = pairs.end < all.len() || all[pairs.clone()].iter().any(|it| it.pinned);
        let shape = self.shape(kind, &sum, section, current, followed);
        let (replaced, empty) = (sum.pairs_cost, self.summary_cost(&shape));
        if !self.may_save(replaced, empty) {
            return false;
        }
        let open = all[pairs.clone()].iter().filter(|it| !it.pinned);
        let items = open.flat_map(|it| &self.items[it.items()]);
        let replaces = span_of(items.clone());
        let context = state.user.map(|it| self.item(it));
        let messages = context.into_iter().chain(items).map(|it| self.message(it)).collect();
        let n_context = usize::from(context.is_some());
        let draft = Draft { replaced, empty, replaces, messages, n_context };
        self.open_request(kind, Target::Pairs { section, pairs, shape }, draft)
    }

    /// Requests one summary that merges the unpinned sections of a range. Otherwise like [`ChainState::open_pairs`]; no
    /// request if they have no pair, or are one settled section.
    pub(crate) fn open_sections(
        &mut self,
        kind: SummaryKind<'_>,
        sections: Range<usize>,
        merge: Merge,
    ) -> bool {
        let mut sum = Replaced::default();
        self.sections[sections.clone()].iter().for_each(|it| sum.add_section(self, it));
        if !sum.has_request() {
            return false;
        }
        let shape = self.shape(kind, &sum, sections.end - 1, false, false);
        let (replaced, empty) = (sum.merged_cost(merge), self.summary_cost(&shape));
        if !self.may_save(replaced, empty) {
            return false;
        }
        let open = || self.sections[sections.clone()].iter().filter(|it| !it.pinned);
        let body = |it| self.pairs_of(it).iter().flat_map(|it| &self.items[it.items()]);
        let users = || open().filter_map(|it| it.user);
        let first_user = users().next();
        let is_summarized = |it: &u32| merge == Merge::FirstUser && Some(*it) != first_user;
        let source = open().flat_map(|it| {
            it.user.filter(is_summarized).map(|it| self.item(it)).into_iter().chain(body(it))
        });
        let context = users().map(|it| self.item(it));
        let replaces = span_of(context.clone().chain(source.clone()));
        let draft = Draft {
            replaced,
            empty,
            replaces,
            n_context: users().count(),
            messages: context.chain(source).map(|it| self.message(it)).collect(),
        };
        self.open_request(kind, Target::Sections { sections, shape, merge, pairs: 0 }, draft)
    }

    /// Requests a summary of the user messages that were merged into one.
    pub(crate) fn open_users(
        &mut self,
        kind: SummaryKind<'_>,
        section: usize,
        users: &[u32],
        keep_first: bool,
    ) -> bool {
        let Some(user) = self.sections[section].user else { return false };
        let empty = self.cost_of(&self.summarized_user(section, keep_first, ""));
        // The kept part of the message does not count as replaced.
        let frame = self.cost_of(&Message::user(""));
        let kept = if keep_first { empty.minus(frame) } else { Cost::default() };
        let (replaced, empty) = (self.item(user).cost.minus(kept), empty.minus(kept));
        if !self.may_save(replaced, empty) {
            return false;
        }
        let users = users.iter().map(|it| self.item(*it));
        let replaces = span_of(users.clone());
        let mut messages: Vec<_> = users.map(|it| self.message(it)).collect();
        if keep_first && let Some(rest) = messages.first().map(|it| after_first_text(it)) {
            messages.splice(..1, rest.map(|it| Shared::Made(it.into())));
        }
        let draft = Draft { replaced, empty, replaces, messages, n_context: 0 };
        self.open_request(kind, Target::Users { section, keep_first, kept }, draft)
    }

    /// The user message of merged sections: the first one, or one message made of all.
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

    /// The merged user message of a section with a summary in place of all of it, or of what follows its first text.
    pub(crate) fn summarized_user(&self, section: usize, keep_first: bool, text: &str) -> Message {
        let old = self.sections[section].user.map(|it| self.message(self.item(it)));
        let Some(old) = old.filter(|_| keep_first) else { return Message::user(text) };
        let mut extra = old.extra.clone();
        extra.clear_layout();
        let parts = old.parts[..end_of_first_text(&old)].to_vec();
        Message { role: old.role.clone(), name: old.name.clone(), parts, extra }.with_text(text)
    }

    /// Whether an answer could be smaller than what it replaces (CP-22).
    fn may_save(&self, replaced: Cost, empty: Cost) -> bool {
        self.measure.unit.of(empty) < self.measure.unit.of(replaced)
    }

    fn open_request(&mut self, kind: SummaryKind<'_>, target: Target, draft: Draft<'a>) -> bool {
        let Draft { replaced, empty, replaces, messages, n_context } = draft;
        let unit = self.measure.unit;
        let request = SummaryRequest {
            id: self.requests.next,
            policy: self.requests.policy,
            replaces,
            messages,
            n_context,
            replaced,
            target: share(unit.of(replaced), 20).max(MIN_TARGET),
            max: unit.of(replaced) - unit.of(empty) - 1,
            prompt: PromptLimit { index: self.input.index, unit, most: self.measure.max_prompt },
        };
        // Hashing a source costs more than everything else here.
        if !self.requests.refused.is_empty() && self.requests.refused.contains(&request.key()) {
            return false;
        }
        self.requests.next += 1;
        self.requests.made += 1;
        let refill = kind.refills.then(|| (kind.form, kind.prefix.into()));
        let code = kind.code;
        self.requests.open.push(OpenRequest { request, code, target, answer: None, refill });
        true
    }
}

/// A request before it is made.
struct Draft<'a> {
    /// The cost of what an answer will replace.
    replaced: Cost,
    /// The cost of what replaces it if the answer is empty.
    empty: Cost,
    replaces: Range<usize>,
    /// The context, then the source.
    messages: Vec<Shared<'a>>,
    n_context: usize,
}

/// How many parts a message has up to its first text.
fn end_of_first_text(message: &Message) -> usize {
    message.parts.iter().position(|it| it.as_text().is_some()).map_or(0, |it| it + 1)
}

/// A message without everything up to its first text; `None` if nothing is left.
fn after_first_text(message: &Message) -> Option<Message> {
    let mut rest = message.clone();
    rest.parts.drain(..end_of_first_text(message));
    (!rest.parts.is_empty()).then_some(rest)
}

fn span_of<'i>(items: impl Iterator<Item = &'i Item>) -> Range<usize> {
    let span = items.fold(None, |span: Option<(u32, u32)>, it| {
        let (first, last) = span.unwrap_or((it.input, it.input));
        Some((first.min(it.input), last.max(it.input)))
    });
    span.map_or(0..0, |(first, last)| first as usize..last as usize + 1)
}

// Detects existing summaries (CP-21), whoever made them.

/// The prefixes of completions that are summaries.
pub(crate) const SUMMARY_PREFIXES: [&str; 4] =
    [PREFIX_CONTENT, PREFIX_SUMMARIZED, PREFIX_GOALS, PREFIX_HISTORY];

/// The note that a window leaves for dropped content (CP-41).
pub(crate) const WINDOW_NOTE: &str =
    "[Earlier conversation was removed to fit the context window.]";

impl ChainState<'_> {
    /// Whether a pair is a summary.
    pub(crate) fn is_summary(&self, pair: &PairState) -> bool {
        pair.made
            || match self.kind(pair) {
                BodyPairKind::Summarization => true,
                BodyPairKind::RequestResponse => false,
                BodyPairKind::Completion => {
                    let first = self.first_text(pair);
                    let mut heads = SUMMARY_PREFIXES.iter().chain([&WINDOW_NOTE]);
                    heads.any(|it| first.starts_with(it))
                }
            }
    }

    /// The first text of a pair's assistant message.
    pub(crate) fn first_text(&self, pair: &PairState) -> &str {
        let assistant = self.unreduced(self.assistant(pair));
        assistant.parts.iter().find_map(|it| it.as_text()).unwrap_or_default()
    }
}
