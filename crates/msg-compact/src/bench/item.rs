//! Messages, pairs and sections on the workbench, with their costs.

use msg_chainast::BodyPairKind;
use msg_core::Message;

use crate::tally::Cost;

/// One message of the working chain: one of the input's, or one that was made.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// Index of the input message that it is, or of the first that it stands for.
    pub(crate) input: u32,
    pub(crate) cost: Cost,
    pub(crate) made: Option<Box<Message>>,
}

impl Item {
    pub(crate) fn message<'b>(&'b self, inputs: &[&'b Message]) -> &'b Message {
        match &self.made {
            Some(made) => made,
            None => inputs[self.input as usize],
        }
    }
}

/// A body pair: the assistant message and its tool messages.
#[derive(Debug, Clone)]
pub(crate) struct PairState {
    pub(crate) items: Vec<Item>,
    pub(crate) kind: BodyPairKind,
    /// Whether it is a summary, whoever made it (CP-21).
    pub(crate) summary: bool,
    pub(crate) pinned: bool,
    /// Whether the tree allows a cut before it.
    pub(crate) cut: bool,
    pub(crate) calls: u32,
}

impl PairState {
    pub(crate) fn cost(&self) -> Cost {
        self.items.iter().map(|it| it.cost).sum()
    }

    pub(crate) fn first_input(&self) -> u32 {
        self.items.first().map_or(0, |it| it.input)
    }
}

/// A section: header and body.
#[derive(Debug, Clone, Default)]
pub(crate) struct SectionState {
    pub(crate) system: Option<Item>,
    pub(crate) user: Option<Item>,
    pub(crate) pairs: Vec<PairState>,
    pub(crate) pinned: bool,
    /// Whether the tree allows a cut before it.
    pub(crate) cut: bool,
    /// The users that were merged into `user`, for a policy that asks about them.
    pub(crate) merged_users: Vec<Item>,
}

impl SectionState {
    pub(crate) fn items(&self) -> impl Iterator<Item = &Item> {
        let header = self.system.iter().chain(&self.user);
        header.chain(self.pairs.iter().flat_map(|it| &it.items))
    }

    pub(crate) fn cost(&self) -> Cost {
        self.items().map(|it| it.cost).sum()
    }

    pub(crate) fn body_cost(&self) -> Cost {
        self.pairs.iter().map(PairState::cost).sum()
    }

    /// Messages besides the system message.
    pub(crate) fn len_without_system(&self) -> usize {
        usize::from(self.user.is_some()) + self.pairs.iter().map(|it| it.items.len()).sum::<usize>()
    }

    /// Whether its body is one summary.
    pub(crate) fn settled(&self) -> bool {
        matches!(self.pairs.as_slice(), [one] if one.summary)
    }

    pub(crate) fn first_input(&self) -> u32 {
        self.items().next().map_or(0, |it| it.input)
    }
}
