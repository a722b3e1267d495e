//! What a compaction came to (CP-14, CP-17): places and numbers, no copies of what was dropped. The
//! messages themselves, and a plan that can be stored, are made from the tree when they are wanted.

mod edit;

use msg_chainast::ChainAst;
use msg_core::Message;

use crate::{
    error::Error,
    plan::{Plan, plan_of},
    record::CompactionRecord,
    state::{Change, ChangeId},
    totals::Totals,
};

pub use edit::Edit;
pub(crate) use edit::EditKind;

/// What a compaction came to.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// It fits, or nothing could be made smaller; nothing changed.
    NotNeeded(Unchanged),
    /// It was changed and fits.
    Compacted(Compaction),
    /// It does not fit.
    CannotFit(CannotFit),
}

/// A history that stays as it is.
#[derive(Debug, Clone)]
pub struct Unchanged {
    /// What it costs.
    pub totals: Totals,
    /// Warnings about summaries that were not used.
    pub edits: Vec<Edit>,
    /// Summaries that were asked for.
    pub requests: usize,
}

/// A history that was made smaller.
#[derive(Debug, Clone)]
pub struct Compaction {
    /// What was changed, in the order of the input.
    pub edits: Vec<Edit>,
    /// A record of each stage that changed something, if records were asked for.
    pub records: Vec<CompactionRecord>,
    /// What it cost.
    pub before: Totals,
    /// What it costs now.
    pub after: Totals,
    /// The first message at which output and input differ: what a prompt cache loses.
    pub first_changed: usize,
    /// Summaries that were asked for.
    pub requests: usize,
    /// The result, message by message.
    pub(crate) places: Vec<Place>,
    pub(crate) changes: Vec<Change>,
}

/// A message of the result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The input message that it is, or the first that it stands for.
    pub(crate) input: u32,
    /// None for a message as it came.
    pub(crate) change: Option<ChangeId>,
}

impl Compaction {
    /// The shorter history, made of the messages of the tree that was compacted: they are moved, none
    /// is copied, and nothing is compared but their number.
    ///
    /// # Errors
    /// The tree has another number of messages than the one that was compacted.
    pub fn apply(&self, ast: ChainAst) -> Result<Vec<Message>, Error> {
        self.is_of(&ast)?;
        let mut input = ast.into_messages();
        let mut result = Vec::with_capacity(self.places.len());
        for place in &self.places {
            let it = &mut input[place.input as usize];
            let take = |it: &mut Message| std::mem::replace(it, Message::new(it.role.clone()));
            result.push(match place.change.map(|it| &self.changes[it.place()]) {
                None => take(it),
                Some(Change::New(message)) => Message::clone(message),
                Some(reduction) => reduction.carry_out(take(it)),
            });
        }
        Ok(result)
    }

    /// The compaction as data that can be stored, applied to the history after it has grown, and undone
    /// (CP-61, CP-62). Copies what is removed and fingerprints what is covered: O(bytes up to the last
    /// edit), which planning and [`Compaction::apply`] do not spend.
    ///
    /// # Errors
    /// The tree has another number of messages than the one that was compacted.
    pub fn plan(&self, ast: &ChainAst) -> Result<Plan, Error> {
        self.is_of(ast)?;
        let inputs: Vec<&Message> = ast.messages().collect();
        Ok(plan_of(&inputs, &self.places, &self.changes))
    }

    fn is_of(&self, ast: &ChainAst) -> Result<(), Error> {
        let n = ast.messages().len();
        let message = n.min(self.before.messages);
        if n == self.before.messages { Ok(()) } else { Err(Error::PlanMismatch { message }) }
    }
}

/// Why a history does not fit (CP-14). The input is untouched.
#[derive(Debug, Clone)]
pub struct CannotFit {
    /// The least that it can cost, in the budget's unit.
    pub floor: u64,
    /// What it may cost.
    pub usable: u64,
    /// The largest part of the floor, or the policies if the floor is not the reason.
    pub why: FloorPart,
    /// What was reached, if anything was.
    pub best: Option<Box<Compaction>>,
    /// Edits of what was reached, and warnings about summaries that were not used, which there may be
    /// without anything that was reached.
    pub edits: Vec<Edit>,
    /// What it costs.
    pub totals: Totals,
    /// What it costs at best; the totals if nothing was reached.
    pub reached: u64,
    /// Summaries that were asked for.
    pub requests: usize,
}

/// The parts of a history that no policy can shrink (CP-14).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FloorPart {
    /// The request's base, tool definitions above all.
    Tools,
    /// The system message.
    System,
    /// The last section's user message.
    LastUser,
    /// The last body pair.
    LastPair,
    /// What is pinned.
    Pinned,
    /// None of them: the floor would fit, the policies did not reach it.
    Policies,
}

impl FloorPart {
    /// The part in a sentence.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            FloorPart::Tools => {
                "what stands besides the history (tool definitions, results of calls elsewhere)"
            }
            FloorPart::System => "the system message",
            FloorPart::LastUser => "the last user message",
            FloorPart::LastPair => "the last answer with its results",
            FloorPart::Pinned => "what is pinned",
            FloorPart::Policies => "what the policies leave",
        }
    }

    /// The word: `tools`, `system`, `last-user`, `last-pair`, `pinned`, `policies`.
    pub fn as_str(self) -> &'static str {
        match self {
            FloorPart::Tools => "tools",
            FloorPart::System => "system",
            FloorPart::LastUser => "last-user",
            FloorPart::LastPair => "last-pair",
            FloorPart::Pinned => "pinned",
            FloorPart::Policies => "policies",
        }
    }
}
