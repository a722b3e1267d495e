//! Messages, pairs and sections on the chain state: places and costs, no texts.

use std::{
    num::NonZeroU32,
    ops::{Deref, Range},
    sync::Arc,
};

use msg_chainast::reasoning::remove_reasoning;
use msg_core::{Content, Message, Part};

use crate::token_index::Cost;

/// One message of the working chain: where it comes from, what became of it, what it costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    /// Index of the input message that it is, or of the first that it stands for.
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
    /// The message, copied if somebody else has it, too.
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

/// What became of a message. Reductions name what goes, so that the text that stays need not be
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
    pub(super) first: u32,
    pub(super) end: u32,
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

    /// Where its messages stand in the list of items.
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
    pub(super) first_pair: u32,
    pub(super) end_pair: u32,
    pub(crate) pinned: bool,
    /// Whether the tree allows a cut before it.
    pub(crate) cut: bool,
}

impl SectionState {
    /// Where its pairs stand in the list of pairs.
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
