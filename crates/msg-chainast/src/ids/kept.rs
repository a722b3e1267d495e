//! Which ids of a chain may stay as they are: those of a pattern, and those that were given a number because
//! the pattern had no other (CA-52). Nothing is drawn here.

use msg_core::{Message, UsedIds};

use super::pattern::IdPattern;

/// The ids of a chain, as they are before any is replaced.
pub(crate) struct KeptIds<'p> {
    pattern: &'p IdPattern,
    used: UsedIds,
}

impl<'p> KeptIds<'p> {
    pub(crate) fn new<'m>(
        pattern: &'p IdPattern,
        messages: impl IntoIterator<Item = &'m Message>,
    ) -> Self {
        KeptIds { pattern, used: UsedIds::of(messages) }
    }

    /// Whether an id of a call to this function may stay.
    pub(crate) fn stays(&self, id: &str, name: &str) -> bool {
        let numbered = |base: &str| self.used.contains(base) && self.pattern.matches(base, name);
        self.pattern.matches(id, name) || without_number(id).is_some_and(numbered)
    }
}

/// What stands before a number that was appended to an id.
fn without_number(id: &str) -> Option<&str> {
    let (base, number) = id.rsplit_once('_')?;
    let counts = number.bytes().all(|it| it.is_ascii_digit())
        && !number.starts_with('0')
        && !matches!(number, "" | "1");
    counts.then_some(base)
}
