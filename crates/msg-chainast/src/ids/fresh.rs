//! Fresh tool call ids: of the pattern, and unused in the whole chain (CA-26, CA-52).

use msg_core::{IdSource, Message, UsedIds};

use super::IdPattern;

/// How often an id is drawn before a number is appended to the last one.
const DRAWS: u64 = 64;

/// Draws ids of one pattern that the chain does not use yet.
pub(crate) struct FreshIds<'a> {
    pattern: &'a IdPattern,
    source: &'a mut dyn IdSource,
    used: UsedIds,
}

/// An id that was drawn, and whether the pattern could not give another one.
pub(crate) struct FreshId {
    pub(crate) id: String,
    pub(crate) exhausted: bool,
}

impl<'a> FreshIds<'a> {
    /// Draws from this source; `messages` are all whose ids are in use.
    pub(crate) fn new<'m>(
        pattern: &'a IdPattern,
        source: &'a mut dyn IdSource,
        messages: impl IntoIterator<Item = &'m Message>,
    ) -> Self {
        FreshIds { pattern, source, used: UsedIds::of(messages) }
    }

    /// A fresh id for a function of this name; `index` is the call's place among all calls.
    pub(crate) fn next(&mut self, name: &str, index: usize) -> FreshId {
        let draws = if self.pattern.varies() { DRAWS } else { 1 };
        let draw = |it| self.pattern.generate(name, index as u64 + it, self.source);
        let (id, is_drawn) = self.used.fresh(draws, draw);
        FreshId { id, exhausted: !is_drawn }
    }
}
