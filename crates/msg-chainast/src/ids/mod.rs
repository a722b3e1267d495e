//! Tool call ids: patterns, fresh ids, and giving a whole chain ids of one pattern (CA-50 to CA-52).
//!
//! All random numbers come from the caller's id source.
//!
//! ```text
//! pattern  call_{r:24:x}      r: so many random characters, x: of the hexadecimal digits
//! fresh    call_9f86d081884c7d659a2feaa0
//! normalize  functions.f:0 ─▶ call_…, in the call and in each of its results
//! ```

mod pattern;

use std::collections::{HashMap, HashSet};

use msg_core::{IdSource, Message, Part, ToolResult, UsedIds};

use crate::tree::{BodyPair, ChainAst, Links};

pub use pattern::IdPattern;

pub(crate) use pattern::MAX_FIELD;

// Fresh tool call ids: of the pattern, and unused in the whole chain (CA-26, CA-52).

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

// Which ids of a chain may stay: those of the pattern, and those numbered because the pattern had no other (CA-52).

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

/// What comes before a number that was appended to an id.
fn without_number(id: &str) -> Option<&str> {
    let (base, number) = id.rsplit_once('_')?;
    let counts = number.bytes().all(|it| it.is_ascii_digit())
        && !number.starts_with('0')
        && !matches!(number, "" | "1");
    counts.then_some(base)
}

// Giving the calls of a whole chain ids of one pattern (CA-51). Ids that are of the pattern already are
// left alone.

/// Which id each call had and has now, in chain order.
///
/// It lets an answer that has a new id find the old one, and the other way round.
#[derive(Debug, Clone, Default)]
pub struct IdMap {
    changes: Vec<IdChange>,
    by_old: HashMap<String, usize>,
    by_new: HashMap<String, usize>,
}

/// The ids of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IdChange {
    /// The index of its message in the chain.
    pub message: usize,
    /// Its index among the parts of the message.
    pub part: usize,
    /// The id that it had.
    pub old: String,
    /// The id that it has now; the same if it was of the pattern.
    pub new: String,
    /// Whether a number was appended to it because the pattern gave no unused one (CA-52).
    pub numbered: bool,
}

impl IdMap {
    /// All calls, in chain order.
    pub fn iter(&self) -> std::slice::Iter<'_, IdChange> {
        self.changes.iter()
    }

    /// The new id of the newest call that had this one.
    pub fn new_id(&self, old: &str) -> Option<&str> {
        self.by_old.get(old).map(|it| self.changes[*it].new.as_str())
    }

    /// The old id of the newest call that has this one now.
    pub fn old_id(&self, new: &str) -> Option<&str> {
        self.by_new.get(new).map(|it| self.changes[*it].old.as_str())
    }

    fn push(&mut self, change: IdChange) {
        self.by_old.insert(change.old.clone(), self.changes.len());
        self.by_new.insert(change.new.clone(), self.changes.len());
        self.changes.push(change);
    }
}

impl<'a> IntoIterator for &'a IdMap {
    type Item = &'a IdChange;
    type IntoIter = std::slice::Iter<'a, IdChange>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl ChainAst {
    /// Gives every call whose id is not of the pattern a fresh one that is (CA-51); results follow their
    /// call by link, not by text. Linear.
    ///
    /// The same source and the same beginning of a chain give the same ids, so that a growing chain keeps
    /// those of its beginning.
    ///
    /// ```
    /// use msg_chainast::{ChainAst, Message, Part, SeededIds, ToolCall};
    ///
    /// let call = Part::ToolCall(ToolCall::new("a", "read", "{}"));
    /// let mut chain = ChainAst::parse(vec![
    ///     Message::user("q"),
    ///     Message::assistant("").with_part(call),
    ///     Message::tool_result("a", "42"),
    /// ])?;
    /// let map = chain.normalize_tool_call_ids(&"functions.{f}:{n}".parse()?, &mut SeededIds::new(1));
    /// assert_eq!(map.new_id("a"), Some("functions.read:0"));
    /// assert_eq!(map.old_id("functions.read:0"), Some("a"));
    /// assert!(chain.find_tool_results("functions.read:0").next().is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn normalize_tool_call_ids(
        &mut self,
        pattern: &IdPattern,
        ids: &mut dyn IdSource,
    ) -> IdMap {
        let kept = KeptIds::new(pattern, self.messages());
        let mut fresh = FreshIds::new(pattern, ids, self.messages());
        let mut map = IdMap::default();
        let mut n_calls = 0;
        let mut message = 0;
        for section in &mut self.sections {
            message += section.header.sizes.messages;
            for pair in &mut section.body {
                let new = new_ids(pair, &kept, &mut fresh, &mut n_calls);
                rename(pair, new, message, &mut map);
                message += pair.sizes.messages;
            }
        }
        self.index.reset();
        self.recount();
        self.assert_sizes();
        map
    }
}

/// The ids that the calls of a pair get, in call order.
fn new_ids(
    pair: &BodyPair,
    kept: &KeptIds<'_>,
    fresh: &mut FreshIds<'_>,
    n_calls: &mut usize,
) -> Vec<FreshId> {
    let mut seen = HashSet::new();
    let mut ids = Vec::new();
    for call in pair.assistant.tool_calls() {
        let stays = kept.stays(&call.id, &call.name);
        ids.push(match stays && seen.insert(call.id.as_str()) {
            true => FreshId { id: call.id.clone(), exhausted: false },
            false => fresh.next(&call.name, *n_calls),
        });
        *n_calls += 1;
    }
    ids
}

/// The results of a pair that answer a call, by place, each with the index of its call.
fn links(pair: &BodyPair) -> Vec<((u32, u32), usize)> {
    let calls: Vec<_> = pair.calls().collect();
    let mut links = Links::new(&calls);
    let linked = |(place, it): (_, &ToolResult)| Some((place, links.take(&calls, &it.call_id)?));
    pair.results().filter_map(linked).collect()
}

/// Gives the calls of a pair their new ids, and the results those of their calls.
fn rename(pair: &mut BodyPair, new: Vec<FreshId>, message: usize, map: &mut IdMap) {
    for ((tool, part), call) in links(pair) {
        let part = &mut pair.tools[tool as usize].parts[part as usize];
        if let Part::ToolResult(it) = part
            && it.call_id != new[call].id
        {
            it.call_id.clone_from(&new[call].id);
        }
    }
    let mut new = new.into_iter();
    for (part, it) in pair.assistant.parts.iter_mut().enumerate() {
        if let Part::ToolCall(it) = it
            && let Some(FreshId { id: new, exhausted: numbered }) = new.next()
        {
            let old = std::mem::replace(&mut it.id, new.clone());
            map.push(IdChange { message, part, old, new, numbered });
        }
    }
}
