//! The data of a chain state: messages, pairs and sections as places and costs without texts, the input, the log, and
//! how all of it is built from a tree and a token index.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::ops::{Deref, Range};
use std::sync::Arc;

use msg_chainast::{
    BodyPair, ChainAst, ChainSection, CutPoint, MessageOrigin, reasoning::remove_reasoning,
};
use msg_core::{Content, IdSource, Message, Part, UsedIds};

use super::{ChainState, FormRules, OpenRequest, Shape};
use crate::{
    Error, TokenIndex,
    budget::Unit,
    outcome::Edit,
    pipeline::{OnFailure, Pin, Pipeline},
    token_index::Cost,
};

/// One message of the working chain: where it comes from, how it was changed, what it costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    /// Index of the input message that it is, or of the first that it replaces.
    pub(crate) input: u32,
    /// None for a message as it came.
    pub(crate) change: Option<ChangeId>,
    pub(crate) cost: Cost,
}

/// A message as it is now, without a copy of it: the input's, or one that was made and may be used elsewhere, too.
#[derive(Debug, Clone)]
pub(crate) enum Shared<'a> {
    Input(&'a Message),
    Made(Arc<Message>),
}

impl Shared<'_> {
    /// The message, copied if it is shared.
    pub(crate) fn into_owned(self) -> Message {
        match self {
            Shared::Input(message) => message.clone(),
            Shared::Made(message) => Arc::unwrap_or_clone(message),
        }
    }
}

impl Deref for Shared<'_> {
    type Target = Message;

    fn deref(&self) -> &Message {
        match self {
            Shared::Input(message) => message,
            Shared::Made(message) => message,
        }
    }
}

/// A place in the list of changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChangeId(NonZeroU32);

impl ChangeId {
    /// The place that the next change will have in a list of so many.
    pub(crate) fn next(n_changes: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(index(n_changes)))
    }

    pub(crate) fn place(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// How a message was changed. Reductions name what goes, so that the text that stays need not be
/// copied to decide on them.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    /// Another message takes its place.
    New(Arc<Message>),
    /// Its reasoning parts and call signatures are gone.
    NoReasoning,
    /// The content of its one result is this text.
    Output(Arc<str>),
}

impl Change {
    /// Whether another message takes the place of the input's.
    pub(crate) fn is_new(&self) -> bool {
        matches!(self, Change::New(_))
    }

    /// The changed message, from the input's.
    pub(crate) fn make(&self, input: &Message) -> Message {
        match self {
            Change::New(message) => Message::clone(message),
            reduction => reduction.carry_out(input.clone()),
        }
    }

    /// The changed message, from the input's own parts.
    pub(crate) fn carry_out(&self, mut input: Message) -> Message {
        match self {
            Change::New(message) => return Message::clone(message),
            Change::NoReasoning => {
                remove_reasoning(&mut input);
            }
            Change::Output(text) => {
                if let Some(Part::ToolResult(result)) = input.parts.first_mut() {
                    result.content = Content::from(text.to_string());
                }
            }
        }
        input
    }
}

/// A body pair: the assistant message and its tool messages, neighbours in the list of items.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairState {
    pub(crate) first: u32,
    pub(crate) end: u32,
    pub(crate) cost: Cost,
    pub(crate) pinned: bool,
    /// Whether the tree allows a cut before it.
    pub(crate) cut: bool,
    /// Whether it is a summary that was made here.
    pub(crate) made: bool,
}

impl PairState {
    pub(crate) fn new(items: Range<usize>, cost: Cost) -> Self {
        let (first, end) = (index(items.start), index(items.end));
        Self { first, end, cost, pinned: false, cut: false, made: false }
    }

    /// Where its messages are in the list of items.
    pub(crate) fn items(&self) -> Range<usize> {
        self.first as usize..self.end as usize
    }

    /// How many messages it has.
    pub(crate) fn len(&self) -> usize {
        self.items().len()
    }
}

/// A section: header and body, by their places in the lists of items and pairs.
#[derive(Debug, Clone, Default)]
pub(crate) struct SectionState {
    pub(crate) system: Option<u32>,
    pub(crate) user: Option<u32>,
    pub(crate) first_pair: u32,
    pub(crate) end_pair: u32,
    pub(crate) pinned: bool,
    /// Whether the tree allows a cut before it.
    pub(crate) cut: bool,
}

impl SectionState {
    /// Where its pairs are in the list of pairs.
    pub(crate) fn pairs(&self) -> Range<usize> {
        self.first_pair as usize..self.end_pair as usize
    }

    pub(crate) fn set_pairs(&mut self, pairs: Range<usize>) {
        (self.first_pair, self.end_pair) = (index(pairs.start), index(pairs.end));
    }
}

/// A place in a list of the chain state. A chain has fewer messages than fit 32 bits: each takes more
/// than a hundred bytes.
pub(crate) fn index(place: usize) -> u32 {
    u32::try_from(place).expect("because a chain in memory has fewer than 2^32 messages")
}

// What a chain state holds beside the chain: what came in, how it is measured and written, what was done and
// asked. The rules are elsewhere.

/// What is compacted; nothing of it changes.
pub(crate) struct Input<'a> {
    pub(crate) messages: Vec<&'a Message>,
    pub(crate) index: &'a TokenIndex,
    /// The first user message, if it is pinned.
    pub(crate) goal: Option<u32>,
    /// Where the messages of a repaired chain came from.
    pub(crate) origins: Option<&'a [MessageOrigin]>,
}

/// By what the chain is measured.
pub(crate) struct Measure {
    pub(crate) unit: Unit,
    pub(crate) limits: Option<Limits>,
    /// What a request costs besides its messages.
    pub(crate) base: Cost,
    /// What a prompt for a summary may cost.
    pub(crate) max_prompt: u64,
}

/// How summaries are written.
pub(crate) struct Forms {
    pub(crate) rules: FormRules,
    /// [`ChainState::signed_turn`] as it was when the step began.
    pub(crate) signed_from: usize,
    /// What summaries of the shapes that were asked about last cost without a text.
    pub(crate) empty_costs: RefCell<Vec<(Shape, Cost)>>,
}

/// Where ids of summarization calls come from, and which are taken.
pub(crate) struct Ids<'a> {
    pub(crate) source: &'a mut (dyn IdSource + Send),
    /// Collected when the first id is wanted.
    pub(crate) used: Option<UsedIds>,
    /// How many were drawn.
    pub(crate) n_drawn: u64,
}

/// What was done so far.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) edits: Vec<Edit>,
    pub(crate) n_changes: usize,
    /// Edits by their places that were taken back since.
    pub(crate) taken_back: BTreeSet<usize>,
}

impl Log {
    /// Takes an edit back.
    pub(crate) fn take_back(&mut self, edit: usize) {
        if self.taken_back.insert(edit) {
            self.n_changes = self.n_changes.saturating_sub(1);
        }
    }

    /// The edits from this place on that were not taken back.
    pub(crate) fn edits_from(&self, first: usize) -> impl Iterator<Item = &Edit> {
        let edits = self.edits.iter().enumerate().skip(first);
        edits.filter(|it| !self.taken_back.contains(&it.0)).map(|it| it.1)
    }
}

/// The requests, and their results.
#[derive(Default)]
pub(crate) struct Requests<'a> {
    pub(crate) open: Vec<OpenRequest<'a>>,
    pub(crate) next: u32,
    pub(crate) made: usize,
    /// Keys of the requests that were refused (CP-26).
    pub(crate) refused: BTreeSet<u64>,
    /// Policies one of whose requests was refused in this run.
    pub(crate) refused_policies: BTreeSet<&'static str>,
    /// Answers that were used in the step that was answered last.
    pub(crate) accepted: usize,
    pub(crate) on_failure: OnFailure,
    /// The policy whose step it is.
    pub(crate) policy: &'static str,
    /// Whether a later stage drops what is oldest.
    pub(crate) before_window: bool,
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

// From a tree to a chain state: costs from the token index, pins, cut points. Nothing is counted again and no
// text is looked at, unless a pin asks for it.

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
            reduced: BTreeMap::new(),
            unsummarized: None,
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

    /// Pins the section that begins the turn whose calls are signed, where a pinned one comes before it and
    /// others after it: without that question the pinned calls, which have no signature, would be of the turn.
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
    fn section(&mut self, section: &'a ChainSection, is_last: bool) {
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
