//! The chain state: the chain as compaction sees it while it works — sections and pairs with their costs, what is
//! locked, what is over the target — and the few ways in which a policy may change it (CP-2, CP-3).
//!
//! It holds references to the input and owns only new messages. No policy can split a call from its result, because
//! pairs are the smallest thing that can be replaced or dropped.
//!
//! ```text
//! section 0: header, pairs    cost 310   locked by a pin
//! section 1: header, pairs    cost 940   pair 0 replaced by a summary that is asked for
//! section 2: header           cost  12   the last one: locked
//! ```

mod form;
mod items;
mod outputs;
mod refill;
mod summary;
mod window;

use std::{collections::BTreeMap, fmt, ops::Range};

use msg_chainast::BodyPairKind;
use msg_core::Message;

use crate::{
    budget::Unit,
    outcome::{Edit, EditKind},
    token_index::{Cost, Facts},
};
use window::Kept;

pub use form::Form;
pub use outputs::ToolOutput;
pub use summary::Merge;

pub(crate) use crate::state::form::{NewPair, NewPairs, NewSection, Replaced};
pub(crate) use form::{FormRules, Shape};
pub(crate) use items::{
    Change, ChangeId, Forms, Ids, Input, Item, Limits, Log, Measure, PairState, Requests,
    SectionState, Shared, index,
};
pub(crate) use outputs::{Reduced, Replacement};
pub(crate) use refill::{Unsummarized, UsedAnswer};
pub(crate) use summary::{OpenRequest, SUMMARY_PREFIXES, SummaryKind, Target, WINDOW_NOTE};
pub(crate) use window::Floor;

/// The state of the chain that a policy works on.
///
/// A policy reads sections, costs and locks, and whether the target is exceeded. It changes
/// outputs, reasoning and, by requests, pairs and sections. Changes of locked units are refused.
pub struct ChainState<'a> {
    pub(crate) input: Input<'a>,
    pub(crate) measure: Measure,
    pub(crate) forms: Forms,
    pub(crate) ids: Ids<'a>,
    /// The input's messages by index, then new ones.
    pub(crate) items: Vec<Item>,
    /// The changes of items.
    pub(crate) changes: Vec<Change>,
    /// The pairs of the sections, those of one section adjacent; some may be unused by now.
    pub(crate) pair_states: Vec<PairState>,
    pub(crate) sections: Vec<SectionState>,
    /// The section whose user message was merged last, and the source items.
    pub(crate) merged_users: Option<(usize, Vec<u32>)>,
    /// The cost of all items in use.
    pub(crate) sum: Cost,
    /// Items, by place, that were reduced only as far as the target required, in their previous form.
    pub(crate) reduced: BTreeMap<u32, Reduced>,
    /// The chain before the first summary of a stage that refills.
    pub(crate) unsummarized: Option<Unsummarized>,
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
    /// The current total cost with the base of the request, in the unit in use.
    pub fn total(&self) -> u64 {
        self.measure.unit.of(self.sum) + self.measure.unit.of(self.measure.base)
    }

    /// The unit of all numbers of policies, except those that are named as bytes.
    pub fn unit(&self) -> Unit {
        self.measure.unit
    }

    /// Whether the total exceeds the target of a budget that was triggered.
    pub fn over(&self) -> bool {
        self.measure.limits.is_some_and(|it| it.triggered && self.total() > it.target)
    }

    /// Whether there is a target and the total is not above it.
    pub(crate) fn is_at_target(&self) -> bool {
        self.measure.limits.is_some_and(|it| self.total() <= it.target)
    }

    /// The target; `None` without a budget.
    pub fn target(&self) -> Option<u64> {
        self.measure.limits.map(|it| it.target)
    }

    /// The number of answers of the last step that were used.
    pub fn accepted(&self) -> usize {
        self.requests.accepted
    }

    /// The number of sections.
    pub fn sections(&self) -> usize {
        self.sections.len()
    }

    /// The number of body pairs of a section.
    pub fn pairs(&self, section: usize) -> usize {
        self.sections.get(section).map_or(0, |it| it.pairs().len())
    }

    /// The cost of a section with its header, in the unit in use.
    pub fn section_cost(&self, section: usize) -> u64 {
        self.sections.get(section).map_or(0, |it| self.measure.unit.of(self.cost_of_section(it)))
    }

    /// The cost of a body pair, in the unit in use.
    pub fn pair_cost(&self, section: usize, pair: usize) -> u64 {
        self.pair(section, pair).map_or(0, |it| self.measure.unit.of(it.cost))
    }

    /// Whether a pair is locked: the last pair of the last section, a pinned pair there, and every
    /// pair of a pinned section.
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

    /// A value of each message of the chain, in order. `for_each` runs inside the nested iterators, which costs half as
    /// much as asking them for each item.
    pub(crate) fn of_items<'b, T>(&'b self, value: impl Fn(&'b Item) -> T) -> Vec<T> {
        let mut res = Vec::new();
        self.items().for_each(|it| res.push(value(it)));
        res
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

    /// The cost of a section without a system message.
    pub(crate) fn cost_without_system(&self, section: &SectionState) -> Cost {
        self.cost_at(section.user) + self.body_cost(section)
    }

    pub(crate) fn cost_of_section(&self, section: &SectionState) -> Cost {
        self.cost_at(section.system) + self.cost_without_system(section)
    }

    /// The number of messages of a section besides the system message.
    pub(crate) fn len_without_system(&self, section: &SectionState) -> usize {
        let in_pairs: usize = self.pairs_of(section).iter().map(PairState::len).sum();
        usize::from(section.user.is_some()) + in_pairs
    }

    /// The number of messages of the chain besides system messages.
    pub(crate) fn n_without_system(&self) -> usize {
        self.sections.iter().map(|it| self.len_without_system(it)).sum()
    }

    /// The change of an item; `None` for an unchanged message.
    pub(crate) fn change(&self, item: &Item) -> Option<&Change> {
        item.change.map(|it| &self.changes[it.place()])
    }

    /// The current form of an item; a reduced message is built for this call.
    pub(crate) fn message(&self, item: &Item) -> Shared<'a> {
        let input = self.input.messages[item.input as usize];
        match self.change(item) {
            None => Shared::Input(input),
            Some(Change::New(message)) => Shared::Made(message.clone()),
            Some(reduction) => Shared::Made(reduction.make(input).into()),
        }
    }

    /// An item without its reductions applied: its calls and its texts outside outputs are valid; reasoning, signatures
    /// and outputs may have been removed since.
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

    /// The kind of a pair, by its assistant message.
    pub(crate) fn kind(&self, pair: &PairState) -> BodyPairKind {
        self.facts(self.assistant(pair)).kind
    }

    /// The cost of a message.
    pub(crate) fn cost_of(&self, message: &Message) -> Cost {
        self.input.index.cost_of(message)
    }

    pub(crate) fn text_cost(&self, text: &str) -> u64 {
        match self.measure.unit {
            Unit::Tokens => self.input.index.counter().text(text),
            Unit::Bytes => text.len() as u64,
        }
    }

    /// Logs a change at this input message.
    pub(crate) fn note(&mut self, message: u32, kind: EditKind) {
        self.log.n_changes += 1;
        self.log.edits.push(Edit::new(message, kind));
    }

    /// Logs something that was not done.
    pub(crate) fn warn(&mut self, message: u32, kind: EditKind) {
        self.log.edits.push(Edit::new(message, kind));
    }

    /// A new or edited message in place of the input message with this index.
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

    /// Adds an item to the list; returns its place.
    pub(crate) fn add_item(&mut self, item: Item) -> u32 {
        let place = items::index(self.items.len());
        self.items.push(item);
        place
    }
}

// The changes that a policy may make (CP-2, CP-3). Each call checks that the unit is not locked and that the chain
// stays valid. After a step has requested a summary, it changes nothing directly until the answers arrive.

impl ChainState<'_> {
    /// Whether the chain may be cut before a pair; for pair 0, before its section.
    pub fn is_cut(&self, section: usize, pair: usize) -> bool {
        match (self.sections.get(section), pair) {
            (Some(it), 0) => section > 0 && it.cut,
            (Some(_), _) => self.pair(section, pair).is_some_and(|it| it.cut),
            (None, _) => false,
        }
    }

    /// Requests one summary for the pairs in a range that are not pinned. Requests of one step must be
    /// in chain order and must not overlap; the step then returns
    /// [`Progress::Requested`](crate::Progress::Requested).
    ///
    /// Refused (false) if the range is empty or contains the chain's last pair, for a part of an
    /// earlier section that contains its last pair, in a pinned section, and if no answer could be
    /// smaller than the range.
    pub fn request_pairs(&mut self, section: usize, pairs: Range<usize>, form: Form) -> bool {
        let n_pairs = self.pairs(section);
        let is_last_section = section + 1 == self.sections.len();
        let ends_whole = pairs.end < n_pairs || !is_last_section && pairs.start == 0;
        let fits = pairs.start < pairs.end && pairs.end <= n_pairs && ends_whole;
        if !fits || self.sections[section].pinned || !self.is_after_asks(section, pairs.start) {
            return false;
        }
        let kind = SummaryKind::content("compact::pairs-summarized", form);
        self.open_pairs(kind, section, pairs, is_last_section)
    }

    /// Requests one summary that merges the sections in a range that are not pinned into one.
    /// Otherwise as [`ChainState::request_pairs`]; never includes the last section.
    pub fn request_sections(&mut self, sections: Range<usize>, merge: Merge, form: Form) -> bool {
        let fits = sections.start < sections.end && sections.end < self.sections.len();
        if !fits || !self.is_after_asks(sections.start, 0) {
            return false;
        }
        let kind = SummaryKind::content("compact::sections-merged", form);
        self.open_sections(kind, sections, merge)
    }

    /// Replaces the content of a tool result. Refused (false) for a locked pair, if that would not
    /// lower the cost, and after the step has requested a summary.
    pub fn set_output(&mut self, at: &ToolOutput, text: &str) -> bool {
        if !self.requests.open.is_empty() || self.output(at).is_none() {
            return false;
        }
        let new = self.replacement(text);
        let placeholder = new.text.clone();
        let done = self.set_outputs(at, &[(at.part, &new)], false);
        if done {
            let code = "compact::tool-output-pruned";
            self.note(self.input_of(at), EditKind::Replaced { code, placeholder });
        }
        done
    }

    /// Removes reasoning and call signatures from a pair's assistant message. Refused (false) in the last section and
    /// the rest of the current turn, where providers check signatures, for a locked pair, if that would not lower the
    /// cost, and after the step has requested a summary.
    pub fn drop_reasoning(&mut self, section: usize, pair: usize) -> bool {
        let Some(state) = self.pair(section, pair) else { return false };
        let old = *self.assistant(state);
        let is_earlier = section + 1 < self.sections.len() && section < self.forms.signed_from;
        let is_free = is_earlier && !self.locked(section, pair) && self.requests.open.is_empty();
        let new = self.cost_without_reasoning(section, pair).filter(|_| is_free);
        let Some(cost) =
            new.filter(|it| self.measure.unit.of(*it) < self.measure.unit.of(old.cost))
        else {
            return false;
        };
        self.replace_without_reasoning(section, pair, cost);
        self.note(old.input, EditKind::ReasoningDropped);
        true
    }

    /// Drops everything before a section (pair 0), or before a pair of the last section with all
    /// sections before it. Keeps pinned units, and the first user message with a note if it is pinned.
    /// Refused (false) if the chain may not be cut there, if that would not lower the cost, and after
    /// the step has requested a summary.
    pub fn drop_before(&mut self, section: usize, pair: usize) -> bool {
        let is_inside = section + 1 == self.sections.len();
        let may_cut = self.is_cut(section, pair) && (pair == 0 || is_inside);
        if !may_cut || !self.requests.open.is_empty() {
            return false;
        }
        let kept = Kept { first_pair: pair, first_section: section };
        if self.cost_of_kept(&kept) >= self.total() {
            return false;
        }
        self.drop_all_but(&kept);
        true
    }

    /// Whether a place comes after everything requested in this step.
    fn is_after_asks(&self, section: usize, pair: usize) -> bool {
        match self.requests.open.last().map(|it| &it.target) {
            None => true,
            Some(Target::Pairs { section: last, pairs, .. }) => {
                section > *last || section == *last && pair >= pairs.end
            }
            Some(Target::Sections { sections, .. }) => section >= sections.end,
            Some(Target::Users { .. }) => false,
        }
    }
}
