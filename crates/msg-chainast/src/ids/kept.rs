//! Which ids of a chain may stay as they are: those of a pattern, and those that were given a number because
//! the pattern had no other (CA-52). Nothing is drawn here.

use std::collections::{HashMap, HashSet};

use msg_core::{Message, Part, SeededIds};

use super::{
    fresh::DRAWS,
    pattern::{IdPattern, Room},
};

/// The ids of a chain, as they are before any is replaced.
pub(crate) struct KeptIds<'p> {
    pattern: &'p IdPattern,
    used: HashSet<String>,
    /// How many ids of the pattern are in use for each name, where it has few.
    taken: HashMap<String, u64>,
}

impl<'p> KeptIds<'p> {
    pub(crate) fn new<'m>(
        pattern: &'p IdPattern,
        messages: impl IntoIterator<Item = &'m Message>,
    ) -> Self {
        let mut kept = KeptIds { pattern, used: HashSet::new(), taken: HashMap::new() };
        for part in messages.into_iter().flat_map(|it| &it.parts) {
            match part {
                Part::ToolCall(it) => kept.add(&it.id, &it.name),
                Part::ToolResult(it) if !kept.used.contains(&it.call_id) => {
                    kept.used.insert(it.call_id.clone());
                }
                _ => {}
            }
        }
        kept
    }

    fn add(&mut self, id: &str, name: &str) {
        let is_new = self.used.insert(id.to_owned());
        if is_new && matches!(self.pattern.room(), Room::Few(_)) && self.pattern.matches(id, name) {
            *self.taken.entry(self.pattern.part_in_ids(name).to_owned()).or_default() += 1;
        }
    }

    /// Whether an id of a call to this function may stay; `index` is the call's place among all calls.
    pub(crate) fn stays(&self, id: &str, name: &str, index: usize) -> bool {
        if self.pattern.matches(id, name) {
            return true;
        }
        let Some(base) = without_number(id) else { return false };
        self.pattern.matches(base, name)
            && self.used.contains(base)
            && self.is_exhausted(name, index)
    }

    /// Whether drawing for this call would give no unused id. Random ones are as good as exhausted from half
    /// of them on: below it, 64 draws do not miss all that are free.
    fn is_exhausted(&self, name: &str, index: usize) -> bool {
        match self.pattern.room() {
            Room::One => true,
            Room::Counter => (index as u64..).take(DRAWS as usize).all(|it| {
                self.used.contains(&self.pattern.generate(name, it, &mut SeededIds::new(0)))
            }),
            Room::Few(room) => {
                let taken = self.taken.get(self.pattern.part_in_ids(name));
                taken.is_some_and(|it| it * 2 >= room)
            }
            Room::Endless => false,
        }
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
