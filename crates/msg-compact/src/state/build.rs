//! From a tree to a chain state: costs from the token index, pins, cut points. Nothing is counted again and no
//! text is looked at, unless a pin asks for it.

use msg_chainast::{BodyPair, ChainAst, CutPoint, Section};
use msg_core::{IdSource, Message};

use super::{
    ChainState, FormRules, Forms, Ids, Input, Item, Limits, Log, Measure, PairState, Requests,
    SectionState, item::index,
};
use crate::{
    Error,
    budget::Unit,
    pipeline::{Pin, Pipeline},
    token_index::TokenIndex,
};

/// The largest prompt of a request without a budget.
const DEFAULT_MAX_PROMPT: u64 = 100_000;

impl<'a> ChainState<'a> {
    /// The state of a chain before the first stage; `unit` and `limits` are the budget's. O(messages).
    ///
    /// # Errors
    /// The index is not the tree's.
    pub(crate) fn new(
        ast: &'a ChainAst,
        index: &'a TokenIndex,
        pipeline: &Pipeline,
        unit: Option<Unit>,
        limits: Option<Limits>,
        ids: &'a mut (dyn IdSource + Send),
    ) -> Result<Self, Error> {
        let messages = ast.messages().len();
        if messages != index.len() {
            return Err(Error::TokenIndex { messages, counted: index.len() });
        }
        let base = index.base_cost();
        let default_prompt = limits.map_or(DEFAULT_MAX_PROMPT, |it| it.usable);
        let rules = FormRules::new(pipeline.profile.as_ref());
        let mut chain = ChainState {
            input: Input {
                messages: Vec::with_capacity(messages),
                index,
                goal: None,
                origins: None,
            },
            measure: Measure {
                unit: unit.unwrap_or(pipeline.unit),
                limits,
                base,
                max_prompt: pipeline.max_prompt.unwrap_or(default_prompt),
            },
            forms: Forms { rules, signed_from: usize::MAX, empty_costs: Default::default() },
            ids: Ids { source: ids, used: None, n_drawn: 0 },
            items: Vec::with_capacity(messages),
            changes: Vec::new(),
            pair_states: Vec::with_capacity(ast.sections().iter().map(|it| it.body().len()).sum()),
            sections: Vec::with_capacity(ast.sections().len()),
            merged_users: None,
            sum: index.total() - base,
            log: Log::default(),
            requests: Requests { on_failure: pipeline.on_failure, ..Requests::default() },
        };
        chain.add_sections(ast, pipeline);
        Ok(chain)
    }

    /// Puts what the tree holds on the lists, the messages by their numbers. One walk over the tree.
    fn add_sections(&mut self, ast: &'a ChainAst, pipeline: &Pipeline) {
        let cuts = ast.cut_points(pipeline.profile.as_ref());
        let pins = pipeline.pins.iter().filter(|it| !matches!(it, Pin::FirstUser)).collect();
        let mut reader = Reader { chain: self, cuts: cuts.peekable(), pins };
        let last = ast.sections().len().saturating_sub(1);
        for (number, section) in ast.sections().iter().enumerate() {
            reader.section(section, number == last);
        }
        if pipeline.pins.iter().any(|it| matches!(it, Pin::FirstUser)) {
            self.input.goal = self.sections.iter().find_map(|it| it.user);
        }
        self.pin_question();
    }

    /// Pins the section that begins the turn whose calls are signed, where a pinned one stands before it and
    /// others behind it: without that question the pinned calls, which bear no signature, would be of the turn.
    fn pin_question(&mut self) {
        let turn = self.signed_turn();
        let is_earlier = turn < self.sections.len().saturating_sub(1);
        if is_earlier && self.sections[..turn].iter().any(|it| it.pinned) {
            self.sections[turn].pinned = true;
        }
    }
}

struct Reader<'t, 'a, C: Iterator<Item = CutPoint>> {
    chain: &'t mut ChainState<'a>,
    /// In the order of the chain, as the tree gives them.
    cuts: std::iter::Peekable<C>,
    /// Those that look at messages.
    pins: Vec<&'t Pin>,
}

impl<'a, C: Iterator<Item = CutPoint>> Reader<'_, 'a, C> {
    fn section(&mut self, section: &'a Section, is_last: bool) {
        let mut state = SectionState { cut: self.cut_here(), ..SectionState::default() };
        state.system = section.header().system().map(|it| self.item(it));
        state.user = section.header().user().map(|it| self.item(it));
        let first = self.chain.pair_states.len();
        section.body().iter().for_each(|it| self.pair(it));
        state.set_pairs(first..self.chain.pair_states.len());
        if !is_last && !self.pins.is_empty() {
            let user_pinned = section.header().user().is_some_and(|it| self.is_pinned(it));
            state.pinned =
                user_pinned || self.chain.pair_states[first..].iter().any(|it| it.pinned);
        }
        self.chain.sections.push(state);
    }

    fn pair(&mut self, pair: &'a BodyPair) {
        let cut = self.cut_here();
        let first = self.chain.items.len();
        for it in pair.messages() {
            self.item(it);
        }
        let items = first..self.chain.items.len();
        let cost = self.chain.items[items.clone()].iter().map(|it| it.cost).sum();
        let pinned = !self.pins.is_empty() && pair.messages().any(|it| self.is_pinned(it));
        self.chain.pair_states.push(PairState { cut, pinned, ..PairState::new(items, cost) });
    }

    /// Whether the tree allows a cut before the next message.
    fn cut_here(&mut self) -> bool {
        let at = self.chain.items.len();
        while self.cuts.next_if(|it| it.message_index() < at).is_some() {}
        self.cuts.peek().is_some_and(|it| it.message_index() == at)
    }

    /// Puts the next message on the list; its place there.
    fn item(&mut self, message: &'a Message) -> u32 {
        let input = index(self.chain.items.len());
        self.chain.input.messages.push(message);
        let cost = self.chain.input.index.message(input as usize).unwrap_or_default();
        self.chain.add_item(Item { input, change: None, cost })
    }

    fn is_pinned(&self, message: &Message) -> bool {
        self.pins.iter().any(|it| it.holds(message))
    }
}
