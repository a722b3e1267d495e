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
        let cuts = ast.cut_points(pipeline.profile.as_ref());
        let lists = lists(ast, cuts, index, &pipeline.pins).ok_or_else(|| Error::TokenIndex {
            messages: ast.messages().len(),
            counted: index.len(),
        })?;
        let pins_first_user = pipeline.pins.iter().any(|it| matches!(it, Pin::FirstUser));
        let goal = lists.sections.iter().find_map(|it| it.user).filter(|_| pins_first_user);
        let base = index.base_cost();
        let default_prompt = limits.map_or(DEFAULT_MAX_PROMPT, |it| it.usable);
        let rules = pipeline.profile.as_ref().map(FormRules::of).unwrap_or_default();
        Ok(ChainState {
            input: Input { messages: lists.inputs, index, goal, origins: None },
            measure: Measure {
                unit: unit.unwrap_or(pipeline.unit),
                limits,
                base,
                max_prompt: pipeline.max_prompt.unwrap_or(default_prompt),
            },
            forms: Forms { rules, signed_from: usize::MAX, empty_costs: Default::default() },
            ids: Ids { source: ids, used: None },
            items: lists.items,
            changes: Vec::new(),
            pair_states: lists.pairs,
            sections: lists.sections,
            merged_users: None,
            sum: index.total() - base,
            log: Log::default(),
            requests: Requests { on_failure: pipeline.on_failure, ..Requests::default() },
        })
    }
}

/// A chain as lists: what a chain state begins with.
struct Lists<'a> {
    inputs: Vec<&'a Message>,
    /// One for each message of the input at first; what is made stands behind.
    items: Vec<Item>,
    pairs: Vec<PairState>,
    sections: Vec<SectionState>,
}

/// The lists of a tree; none if the index counts another number of messages.
fn lists<'a>(
    ast: &'a ChainAst,
    cuts: impl Iterator<Item = CutPoint>,
    index: &TokenIndex,
    pins: &[Pin],
) -> Option<Lists<'a>> {
    let n_messages = ast.messages().len();
    if n_messages != index.len() {
        return None;
    }
    let pins = pins.iter().filter(|it| !matches!(it, Pin::FirstUser)).collect();
    let n_pairs = ast.sections().iter().map(|it| it.body().len()).sum();
    let lists = Lists {
        inputs: Vec::with_capacity(n_messages),
        items: Vec::with_capacity(n_messages),
        pairs: Vec::with_capacity(n_pairs),
        sections: Vec::with_capacity(ast.sections().len()),
    };
    let mut reader = Reader { index, cuts: cuts.peekable(), pins, lists };
    let last = ast.sections().len().saturating_sub(1);
    for (number, section) in ast.sections().iter().enumerate() {
        reader.section(section, number == last);
    }
    Some(reader.lists)
}

struct Reader<'t, 'a, C: Iterator<Item = CutPoint>> {
    index: &'t TokenIndex,
    /// In the order of the chain, as the tree gives them.
    cuts: std::iter::Peekable<C>,
    /// Those that look at messages.
    pins: Vec<&'t Pin>,
    lists: Lists<'a>,
}

impl<'a, C: Iterator<Item = CutPoint>> Reader<'_, 'a, C> {
    fn section(&mut self, section: &'a Section, is_last: bool) {
        let mut state = SectionState { cut: self.cut_here(), ..SectionState::default() };
        state.system = section.header().system().map(|it| self.item(it));
        state.user = section.header().user().map(|it| self.item(it));
        let first = self.lists.pairs.len();
        section.body().iter().for_each(|it| self.pair(it));
        state.set_pairs(first..self.lists.pairs.len());
        if !is_last && !self.pins.is_empty() {
            let user_pinned = section.header().user().is_some_and(|it| self.is_pinned(it));
            state.pinned = user_pinned || self.lists.pairs[first..].iter().any(|it| it.pinned);
        }
        self.lists.sections.push(state);
    }

    fn pair(&mut self, pair: &'a BodyPair) {
        let cut = self.cut_here();
        let first = self.lists.items.len();
        self.item(pair.assistant());
        for message in pair.tool_messages() {
            self.item(message);
        }
        let items = first..self.lists.items.len();
        let cost = self.lists.items[items.clone()].iter().map(|it| it.cost).sum();
        let pinned = !self.pins.is_empty() && pair.messages().any(|it| self.is_pinned(it));
        self.lists.pairs.push(PairState { cut, pinned, ..PairState::new(items, cost) });
    }

    /// Whether the tree allows a cut before the next message.
    fn cut_here(&mut self) -> bool {
        let at = self.lists.items.len();
        while self.cuts.next_if(|it| it.message_index() < at).is_some() {}
        self.cuts.peek().is_some_and(|it| it.message_index() == at)
    }

    /// Puts the next message on the list; its place there.
    fn item(&mut self, message: &'a Message) -> u32 {
        let input = index(self.lists.items.len());
        let cost = self.index.message(input as usize).unwrap_or_default();
        self.lists.inputs.push(message);
        self.lists.items.push(Item { input, change: None, cost });
        input
    }

    fn is_pinned(&self, message: &Message) -> bool {
        self.pins.iter().any(|it| it.holds(message))
    }
}
