//! What becomes of answers (CP-23): each is used or refused on its own, and the used ones are put in
//! place from the back, so that no place moves before its turn.

use msg_chainast::constants::SUMMARIZATION_TOOL_NAME;
use msg_core::{CountingIds, Message, UsedIds};

use crate::{
    digest,
    error::SummaryError,
    outcome::EditKind,
    pipeline::OnFailure,
    state::{ChainState, Ids, NewPair, NewPairs, NewSection, OpenRequest, Shape, Target, index},
    text::clean_answer,
};

/// What takes the place of what was asked about.
enum Replacement {
    Pair(NewPair),
    User(Message),
}

/// Fresh ids are drawn at most this often before a number is appended (CA-52).
const DRAWS: u64 = 64;

impl ChainState<'_> {
    /// Applies the answers to all requests of a step, which all have their answers.
    pub(crate) fn apply_answers(&mut self) {
        let (mut pairs, mut sections) = (Vec::<NewPairs>::new(), Vec::new());
        self.requests.accepted = 0;
        for mut open in std::mem::take(&mut self.requests.open) {
            let answer = open.answer.take().unwrap_or_else(|| Err(SummaryError::new("no answer")));
            let Some(replacement) = self.replacement_of(&open, answer) else { continue };
            self.requests.accepted += 1;
            self.note_used(&open);
            match (open.target, replacement) {
                (Target::Pairs { section, pairs: old, .. }, Replacement::Pair(new)) => {
                    NewPairs::add(&mut pairs, section, old, new);
                }
                (Target::Sections { sections: old, merge, .. }, Replacement::Pair(new)) => {
                    let user = self.merged_user(old.clone(), merge);
                    sections.push(NewSection { old, merge, user, new });
                }
                (Target::Users { section, .. }, Replacement::User(user)) => {
                    self.replace_user(section, user, open.request.replaces.start);
                }
                _ => debug_assert!(false, "a replacement is made for its target"),
            }
        }
        // Pairs first: they are named by sections whose numbers change when sections become one.
        pairs.into_iter().for_each(|it| self.replace_pairs(it));
        self.replace_sections(sections);
    }

    fn note_used(&mut self, open: &OpenRequest<'_>) {
        let kind = EditKind::Summarized {
            code: open.code,
            what: what(&open.target),
            messages: open.request.replaces.len(),
        };
        self.note(first_of(open), kind);
    }

    /// The replacement that an answer makes, if it is used; else the digest's, if it may be.
    fn replacement_of(
        &mut self,
        open: &OpenRequest<'_>,
        answer: Result<String, SummaryError>,
    ) -> Option<Replacement> {
        let (code, reason) = match answer {
            Ok(text) => match clean_answer(&text) {
                "" => ("compact::summary-empty", "the summary is empty".to_owned()),
                text => match self.smaller(open, text) {
                    Some(replacement) => return Some(replacement),
                    None => (
                        "compact::summary-not-smaller",
                        "the summary is not smaller than what it would replace".to_owned(),
                    ),
                },
            },
            Err(error) => ("compact::summary-failed", format!("the summary failed: {error}")),
        };
        self.warn(first_of(open), EditKind::Refused { code, reason: reason.into() });
        self.requests.refused.insert(open.request.key());
        self.requests.refused_policies.insert(open.request.policy);
        match self.requests.on_failure {
            OnFailure::Keep => None,
            OnFailure::Digest => self.smaller(open, &digest::digest(&open.request)),
        }
    }

    /// The replacement with this text, if it costs less than what it replaces.
    fn smaller(&mut self, open: &OpenRequest<'_>, text: &str) -> Option<Replacement> {
        let (replacement, cost) = match &open.target {
            Target::Pairs { shape, .. } | Target::Sections { shape, .. } => {
                let new = self.fresh_pair(shape, text, first_of(open));
                let cost = new.costs.iter().copied().sum();
                (Replacement::Pair(new), cost)
            }
            Target::Users { section, keep_first, kept } => {
                let user = self.summarized_user(*section, *keep_first, text);
                let cost = self.cost_of(&user).minus(*kept);
                (Replacement::User(user), cost)
            }
        };
        let unit = self.measure.unit;
        (unit.of(cost) < unit.of(open.request.replaced)).then_some(replacement)
    }

    fn fresh_pair(&mut self, shape: &Shape, text: &str, input: u32) -> NewPair {
        let id = if shape.call { self.fresh_id() } else { String::new() };
        let messages = self.summary(shape, text, &id);
        let costs = messages.iter().map(|it| self.cost_of(it)).collect();
        NewPair { messages, costs, input }
    }

    /// An id of the pattern that no call or result of the input and no other summary bears.
    fn fresh_id(&mut self) -> String {
        let Ids { source, used, n_drawn } = &mut self.ids;
        let inputs = self.input.messages.iter().copied();
        let used = used.get_or_insert_with(|| UsedIds::of(inputs));
        *n_drawn += 1;
        let pattern = &self.forms.rules.id_pattern;
        let draw = |it| pattern.generate(SUMMARIZATION_TOOL_NAME, *n_drawn + it, source);
        used.fresh(DRAWS, draw).0
    }

    /// An id as long as a fresh one, to know costs by; it is never written.
    pub(crate) fn sample_id(&self) -> String {
        let pattern = &self.forms.rules.id_pattern;
        pattern.generate(SUMMARIZATION_TOOL_NAME, 0, &mut CountingIds::default())
    }
}

/// The first input message that a request is about.
fn first_of(open: &OpenRequest<'_>) -> u32 {
    index(open.request.replaces.start)
}

fn what(target: &Target) -> &'static str {
    match target {
        Target::Pairs { .. } => "these body pairs",
        Target::Sections { .. } => "these sections",
        Target::Users { .. } => "these user messages",
    }
}
