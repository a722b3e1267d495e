//! Fresh tool call ids: of the pattern, and unused in the whole chain (CA-26, CA-52).

use std::collections::{HashMap, HashSet};

use msg_core::{IdSource, Message, Part};

use super::IdPattern;

/// How often an id is drawn before a number is appended to the last one.
const DRAWS: u64 = 64;

/// Draws ids of one pattern that the chain does not use yet.
pub(crate) struct FreshIds<'a> {
    pattern: &'a IdPattern,
    source: &'a mut dyn IdSource,
    used: HashSet<String>,
    /// The number that was last appended to an id which the pattern gives again and again.
    appended: HashMap<String, u64>,
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
        FreshIds { pattern, source, used: ids_in_use(messages), appended: HashMap::new() }
    }

    /// A fresh id for a function of this name; `index` is the call's place among all calls.
    pub(crate) fn next(&mut self, name: &str, index: usize) -> FreshId {
        let draws = if self.pattern.varies() { DRAWS } else { 1 };
        let mut id = String::new();
        for draw in 0..draws {
            id = self.pattern.generate(name, index as u64 + draw, self.source);
            if !id.is_empty() && self.used.insert(id.clone()) {
                return FreshId { id, exhausted: false };
            }
        }
        FreshId { id: self.with_number(id), exhausted: true }
    }

    fn with_number(&mut self, base: String) -> String {
        let number = self.appended.entry(base.clone()).or_insert(1);
        loop {
            *number += 1;
            let id = format!("{base}_{number}");
            if self.used.insert(id.clone()) {
                return id;
            }
        }
    }
}

/// All ids of these messages, of calls and of results.
pub(super) fn ids_in_use<'m>(messages: impl IntoIterator<Item = &'m Message>) -> HashSet<String> {
    let ids = messages.into_iter().flat_map(|it| &it.parts).filter_map(|it| match it {
        Part::ToolCall(it) => Some(&it.id),
        Part::ToolResult(it) => Some(&it.call_id),
        _ => None,
    });
    ids.cloned().collect()
}
