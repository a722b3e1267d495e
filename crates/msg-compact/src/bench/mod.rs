//! The workbench: the chain as compaction sees it while it works — sections and pairs with their
//! costs, what is locked, what is over the target — and the few ways in which a policy may change it.
//!
//! It holds references to the input and owns only what was made new; no policy can split a call
//! from its result, because pairs are the smallest thing that can be replaced or dropped.

mod ask;
mod build;
mod form;
mod item;
mod output;
mod reduce;
mod settle;
mod window;

use std::collections::{BTreeSet, HashSet};

use msg_core::{Diagnostic, IdSource, Message};

pub use ask::Merge;
pub(crate) use ask::{Ask, PairTarget};
pub(crate) use build::{SUMMARY_PREFIXES, WINDOW_NOTE, sections};
pub use form::Form;
pub(crate) use form::{FormRules, default_pattern};
pub(crate) use item::{Item, PairState, SectionState};
pub use output::ToolOutput;
pub(crate) use window::Floor;

use crate::{TokenCounter, budget::Unit, pipeline::OnFailure, request::RequestId, tally::Cost};

/// The chain under a policy's hands.
///
/// What it reads: sections, costs, locks, whether it is over the target. What it changes: outputs,
/// reasoning, and — through requests — pairs and sections. Changes to locked units are refused.
pub struct Workbench<'a> {
    pub(crate) inputs: Vec<&'a Message>,
    pub(crate) counter: &'a dyn TokenCounter,
    pub(crate) unit: Unit,
    pub(crate) limits: Option<Limits>,
    pub(crate) pins_first_user: bool,
    pub(crate) rules: FormRules,
    pub(crate) on_failure: OnFailure,
    pub(crate) max_prompt: u64,
    pub(crate) ids: &'a mut (dyn IdSource + Send),
    pub(crate) base: Cost,
    pub(crate) sections: Vec<SectionState>,
    pub(crate) sum: Cost,
    pub(crate) edits: Vec<Diagnostic>,
    pub(crate) asks: Vec<Ask>,
    pub(crate) used_ids: Option<HashSet<String>>,
    pub(crate) next_request: u32,
    pub(crate) requests: usize,
    /// Keys of the requests that were refused (CP-26).
    pub(crate) refused: BTreeSet<u64>,
    /// Policies one of whose requests was refused in this run.
    pub(crate) refused_policies: BTreeSet<&'static str>,
    /// Answers that were used in the step that was settled last.
    pub(crate) accepted: usize,
    pub(crate) changes: usize,
}

/// The numbers of a budget, in its unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) limit: u64,
    pub(crate) usable: u64,
    pub(crate) target: u64,
    /// Whether the history was over the trigger at the start.
    pub(crate) triggered: bool,
}

impl<'a> Workbench<'a> {
    /// What the whole costs now, the request's base included, in the unit in use.
    pub fn total(&self) -> u64 {
        self.unit.of(self.sum) + self.unit.of(self.base)
    }

    /// The unit in which all numbers of policies are, unless their name says bytes.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Whether the total is above the target of a budget that was triggered.
    pub fn over(&self) -> bool {
        self.limits.is_some_and(|it| it.triggered && self.total() > it.target)
    }

    /// The total to come down to; none without a budget.
    pub fn target(&self) -> Option<u64> {
        self.limits.map(|it| it.target)
    }

    /// How many answers of the last step were used.
    pub fn accepted(&self) -> usize {
        self.accepted
    }

    /// How many sections there are.
    pub fn sections(&self) -> usize {
        self.sections.len()
    }

    /// How many body pairs a section has.
    pub fn pairs(&self, section: usize) -> usize {
        self.sections.get(section).map_or(0, |it| it.pairs.len())
    }

    /// What a section costs, its header included, in the unit in use.
    pub fn section_cost(&self, section: usize) -> u64 {
        self.sections.get(section).map_or(0, |it| self.unit.of(it.cost()))
    }

    /// What a body pair costs, in the unit in use.
    pub fn pair_cost(&self, section: usize, pair: usize) -> u64 {
        let pair = self.sections.get(section).and_then(|it| it.pairs.get(pair));
        pair.map_or(0, |it| self.unit.of(it.cost()))
    }

    /// Whether no policy may touch a pair: the last pair of the last section, a pinned pair there,
    /// and every pair of a pinned section.
    pub fn locked(&self, section: usize, pair: usize) -> bool {
        let Some(state) = self.sections.get(section) else { return true };
        let is_last = section + 1 == self.sections.len() && pair + 1 == state.pairs.len();
        is_last || state.pinned || state.pairs.get(pair).is_none_or(|it| it.pinned)
    }

    /// The messages of the chain, in order.
    pub(crate) fn items(&self) -> impl Iterator<Item = &Item> {
        self.sections.iter().flat_map(SectionState::items)
    }

    pub(crate) fn message<'b>(&'b self, item: &'b Item) -> &'b Message {
        item.message(&self.inputs)
    }

    /// What a message costs.
    pub(crate) fn cost_of(&self, message: &Message) -> Cost {
        let cost = Cost { tokens: self.counter.message(message), bytes: message.size() as u64 };
        debug_assert!(cost.bytes as usize == message.size());
        cost
    }

    pub(crate) fn text_cost(&self, text: &str) -> u64 {
        match self.unit {
            Unit::Tokens => self.counter.text(text),
            Unit::Bytes => text.len() as u64,
        }
    }

    pub(crate) fn note(&mut self, edit: Diagnostic) {
        self.changes += usize::from(edit.severity == msg_core::Severity::Info);
        self.edits.push(edit);
    }

    /// A message that was made or edited, standing for the input message at this index.
    pub(crate) fn made(&self, message: Message, input: u32) -> Item {
        let cost = self.cost_of(&message);
        Item { input, cost, made: Some(Box::new(message)) }
    }

    pub(crate) fn next_id(&mut self) -> RequestId {
        let id = RequestId(self.next_request);
        self.next_request += 1;
        self.requests += 1;
        id
    }
}
