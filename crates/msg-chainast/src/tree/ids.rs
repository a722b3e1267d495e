//! Giving the calls of a whole chain ids of one pattern (CA-51): results follow their call by link.
//!
//! ```text
//! call functions.f:0, result functions.f:0   ─▶   call call_9f86d0…, result call_9f86d0…
//! ```

use std::collections::HashSet;

use msg_core::{IdSource, Part, ToolResult};

use super::{BodyPair, ChainAst, Links};
use crate::ids::{FreshId, FreshIds, IdChange, IdMap, IdPattern, KeptIds};

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
