//! Ids that a document did not have: a format that matches results by name gets ids for its calls while
//! they are judged and mended (GE-6), and loses them again on the way back.

use std::collections::{HashMap, HashSet};

use msg_core::{Message, Part};

/// The ids that were given to the calls of a document.
#[derive(Default)]
pub(crate) struct GivenIds(HashSet<String>);

impl GivenIds {
    /// Gives each call and result without an id one.
    pub(crate) fn give(messages: &mut [Message]) -> Self {
        let before: HashSet<_> = ids(messages).map(str::to_owned).collect();
        msg_codec::link_ids(messages);
        let given = ids(messages).filter(|it| !before.contains(*it));
        Self(given.map(str::to_owned).collect())
    }

    /// Takes the ids away. A result gets the name of its call, by which alone it is the call's then: it may have
    /// been made up meanwhile, or have been another tool's.
    pub(crate) fn take_back(&self, messages: &mut [Message]) {
        if self.0.is_empty() {
            return;
        }
        let mut names = HashMap::new();
        for part in messages.iter_mut().flat_map(|it| &mut it.parts) {
            match part {
                Part::ToolCall(it) if self.0.contains(&it.id) => {
                    names.insert(std::mem::take(&mut it.id), it.name.clone());
                }
                Part::ToolResult(it) if self.0.contains(&it.call_id) => {
                    let id = std::mem::take(&mut it.call_id);
                    it.name = names.get(&id).cloned().or(it.name.take());
                }
                _ => {}
            }
        }
    }
}

fn ids(messages: &[Message]) -> impl Iterator<Item = &str> {
    let parts = messages.iter().flat_map(|it| &it.parts);
    let ids = parts.filter_map(|it| match it {
        Part::ToolCall(it) => Some(it.id.as_str()),
        Part::ToolResult(it) => Some(it.call_id.as_str()),
        _ => None,
    });
    ids.filter(|it| !it.is_empty())
}
