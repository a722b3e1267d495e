//! The chain state: the chain as compaction sees it while it works — sections and pairs with their
//! costs, what is locked, what is over the target — and the few ways in which a policy may change it.
//!
//! It holds references to the input and owns only what was made new; no policy can split a call
//! from its result, because pairs are the smallest thing that can be replaced or dropped.
//!
//! ```text
//! section 0: header, pairs    cost 310   locked by a pin
//! section 1: header, pairs    cost 940   pair 0 replaced by a summary that is asked for
//! section 2: header           cost  12   the last one: locked
//! ```

mod build;
mod data;
mod face;
mod form;
mod item;
mod open;
mod output;
mod reduce;
mod replace;
mod replaced;
mod summaries;
mod window;

use std::fmt;

use msg_chainast::BodyPairKind;
use msg_core::Message;

pub(crate) use data::{Forms, Ids, Input, Limits, Log, Measure, Requests};
pub use form::Form;
pub(crate) use form::{FormRules, Shape};
pub(crate) use item::{Change, ChangeId, Item, PairState, SectionState, Shared, index};
pub use open::Merge;
pub(crate) use open::{OpenRequest, SummaryKind, Target};
pub(crate) use output::Replacement;
pub use output::ToolOutput;
pub(crate) use replace::{NewPair, NewPairs, NewSection};
pub(crate) use replaced::Replaced;
pub(crate) use summaries::{SUMMARY_PREFIXES, WINDOW_NOTE};
pub(crate) use window::Floor;

use crate::{
    budget::Unit,
    outcome::{Edit, EditKind},
    token_index::{Cost, Facts},
};

/// The chain under a policy's hands.
///
/// What it reads: sections, costs, locks, whether it is over the target. What it changes: outputs,
/// reasoning, and — through requests — pairs and sections. Changes to locked units are refused.
pub struct ChainState<'a> {
    pub(crate) input: Input<'a>,
    pub(crate) measure: Measure,
    pub(crate) forms: Forms,
    pub(crate) ids: Ids<'a>,
    /// The input's messages by index, then those that were made.
    pub(crate) items: Vec<Item>,
    /// What became of items.
    pub(crate) changes: Vec<Change>,
    /// Pairs of the sections, each section's side by side; not all of them are still in use.
    pub(crate) pair_states: Vec<PairState>,
    pub(crate) sections: Vec<SectionState>,
    /// The section whose user message was merged last, and the items that it was merged from.
    pub(crate) merged_users: Option<(usize, Vec<u32>)>,
    /// What all items that are in use cost.
    pub(crate) sum: Cost,
    pub(crate) log: Log,
    pub(crate) requests: Requests<'a>,
}

impl fmt::Debug for ChainState<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChainState")
            .field("total", &self.total())
            .field("sections", &self.sections.len())
            .field("open_requests", &self.requests.open.len())
            .finish_non_exhaustive()
    }
}

impl<'a> ChainState<'a> {
    /// What the whole costs now, the request's base included, in the unit in use.
    pub fn total(&self) -> u64 {
        self.measure.unit.of(self.sum) + self.measure.unit.of(self.measure.base)
    }

    /// The unit in which all numbers of policies are, unless their name says bytes.
    pub fn unit(&self) -> Unit {
        self.measure.unit
    }

    /// Whether the total is above the target of a budget that was triggered.
    pub fn over(&self) -> bool {
        self.measure.limits.is_some_and(|it| it.triggered && self.total() > it.target)
    }

    /// Whether there is a target and the total is not above it.
    pub(crate) fn is_at_target(&self) -> bool {
        self.measure.limits.is_some_and(|it| self.total() <= it.target)
    }

    /// The total to come down to; none without a budget.
    pub fn target(&self) -> Option<u64> {
        self.measure.limits.map(|it| it.target)
    }

    /// How many answers of the last step were used.
    pub fn accepted(&self) -> usize {
        self.requests.accepted
    }

    /// How many sections there are.
    pub fn sections(&self) -> usize {
        self.sections.len()
    }

    /// How many body pairs a section has.
    pub fn pairs(&self, section: usize) -> usize {
        self.sections.get(section).map_or(0, |it| it.pairs().len())
    }

    /// What a section costs, its header included, in the unit in use.
    pub fn section_cost(&self, section: usize) -> u64 {
        self.sections.get(section).map_or(0, |it| self.measure.unit.of(self.cost_of_section(it)))
    }

    /// What a body pair costs, in the unit in use.
    pub fn pair_cost(&self, section: usize, pair: usize) -> u64 {
        self.pair(section, pair).map_or(0, |it| self.measure.unit.of(it.cost))
    }

    /// Whether no policy may touch a pair: the last pair of the last section, a pinned pair there,
    /// and every pair of a pinned section.
    pub fn locked(&self, section: usize, pair: usize) -> bool {
        let Some(state) = self.sections.get(section) else { return true };
        let is_last = section + 1 == self.sections.len() && pair + 1 == state.pairs().len();
        is_last || state.pinned || self.pair(section, pair).is_none_or(|it| it.pinned)
    }

    pub(crate) fn pair(&self, section: usize, pair: usize) -> Option<&PairState> {
        self.pairs_of(self.sections.get(section)?).get(pair)
    }

    /// The pairs of a section, in order.
    pub(crate) fn pairs_of(&self, section: &SectionState) -> &[PairState] {
        &self.pair_states[section.pairs()]
    }

    /// The items of a section, in order.
    pub(crate) fn items_of<'b>(
        &'b self,
        section: &'b SectionState,
    ) -> impl Iterator<Item = &'b Item> {
        let header = section.system.iter().chain(&section.user).map(|it| self.item(*it));
        header.chain(self.pairs_of(section).iter().flat_map(|it| &self.items[it.items()]))
    }

    /// The messages of the chain, in order.
    pub(crate) fn items(&self) -> impl Iterator<Item = &Item> {
        self.sections.iter().flat_map(|it| self.items_of(it))
    }

    pub(crate) fn item(&self, place: u32) -> &Item {
        &self.items[place as usize]
    }

    pub(crate) fn cost_at(&self, place: Option<u32>) -> Cost {
        place.map_or_else(Cost::default, |it| self.item(it).cost)
    }

    pub(crate) fn body_cost(&self, section: &SectionState) -> Cost {
        self.pairs_of(section).iter().map(|it| it.cost).sum()
    }

    /// What a section costs without a system message.
    pub(crate) fn cost_without_system(&self, section: &SectionState) -> Cost {
        self.cost_at(section.user) + self.body_cost(section)
    }

    pub(crate) fn cost_of_section(&self, section: &SectionState) -> Cost {
        self.cost_at(section.system) + self.cost_without_system(section)
    }

    /// Messages of a section besides the system message.
    pub(crate) fn len_without_system(&self, section: &SectionState) -> usize {
        let in_pairs: usize = self.pairs_of(section).iter().map(PairState::len).sum();
        usize::from(section.user.is_some()) + in_pairs
    }

    /// Messages of the chain besides system messages.
    pub(crate) fn n_without_system(&self) -> usize {
        self.sections.iter().map(|it| self.len_without_system(it)).sum()
    }

    /// What became of an item; none for a message as it came.
    pub(crate) fn change(&self, item: &Item) -> Option<&Change> {
        item.change.map(|it| &self.changes[it.place()])
    }

    /// An item as it is now; what was reduced is made for this call.
    pub(crate) fn message(&self, item: &Item) -> Shared<'a> {
        let input = self.input.messages[item.input as usize];
        match self.change(item) {
            None => Shared::Input(input),
            Some(Change::New(message)) => Shared::Made(message.clone()),
            Some(reduction) => Shared::Made(reduction.make(input).into()),
        }
    }

    /// An item without what reductions took from it: its calls and its texts outside outputs are true,
    /// reasoning, signatures and outputs may be gone by now.
    pub(crate) fn unreduced(&self, item: &Item) -> &Message {
        match self.change(item) {
            Some(Change::New(message)) => message,
            _ => self.input.messages[item.input as usize],
        }
    }

    pub(crate) fn facts(&self, item: &Item) -> Facts {
        match self.change(item) {
            Some(Change::New(message)) => Facts::of(message),
            Some(Change::NoReasoning) => {
                self.input.index.facts(item.input as usize).without_reasoning()
            }
            Some(Change::Output(_)) | None => self.input.index.facts(item.input as usize),
        }
    }

    /// The assistant message of a pair.
    pub(crate) fn assistant(&self, pair: &PairState) -> &Item {
        &self.items[pair.items().start]
    }

    /// What a pair's assistant message asks for.
    pub(crate) fn kind(&self, pair: &PairState) -> BodyPairKind {
        self.facts(self.assistant(pair)).kind
    }

    /// What a message costs.
    pub(crate) fn cost_of(&self, message: &Message) -> Cost {
        self.input.index.cost_of(message)
    }

    pub(crate) fn text_cost(&self, text: &str) -> u64 {
        match self.measure.unit {
            Unit::Tokens => self.input.index.counter().text(text),
            Unit::Bytes => text.len() as u64,
        }
    }

    /// Notes a change that was made, at this input message.
    pub(crate) fn note(&mut self, message: u32, kind: EditKind) {
        self.log.n_changes += 1;
        self.log.edits.push(Edit::new(message, kind));
    }

    /// Notes something that was not done.
    pub(crate) fn warn(&mut self, message: u32, kind: EditKind) {
        self.log.edits.push(Edit::new(message, kind));
    }

    /// A message that was made or edited, standing for the input message at this index.
    pub(crate) fn made(&mut self, message: Message, input: u32) -> Item {
        let cost = self.cost_of(&message);
        let change = self.changed(Change::New(message.into()));
        Item { input, change: Some(change), cost }
    }

    pub(crate) fn changed(&mut self, change: Change) -> ChangeId {
        let id = ChangeId::next(self.changes.len());
        self.changes.push(change);
        id
    }

    /// Puts an item on the list; its place there.
    pub(crate) fn add_item(&mut self, item: Item) -> u32 {
        let place = item::index(self.items.len());
        self.items.push(item);
        place
    }
}
