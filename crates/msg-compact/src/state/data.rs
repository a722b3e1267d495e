//! What a chain state holds beside the chain: what came in, how it is measured and written, what was done and
//! asked. No rule stands here.

use std::{cell::RefCell, collections::BTreeSet};

use msg_chainast::MessageOrigin;
use msg_core::{IdSource, Message, UsedIds};

use super::{FormRules, OpenRequest, Shape};
use crate::{TokenIndex, budget::Unit, outcome::Edit, pipeline::OnFailure, token_index::Cost};

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
}

/// What is asked, and what came of what was.
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
