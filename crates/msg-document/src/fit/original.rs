//! What a history was before it was mended: what it cost, and the first message that is another one now.
//!
//! Nothing is compared part by part. A copy is kept only where a plan is made of it: a hostile document has so
//! many messages that two of each would be most of the memory.

#![allow(
    clippy::disallowed_types,
    reason = "the hashes are compared by the process that made them"
)]

use std::hash::{DefaultHasher, Hasher};

use msg_compact::count::ToolSpec;
use msg_compact::{Plan, TokenCounter, Totals};
use msg_core::{Message, native};

/// A history as it was read.
pub(super) enum Original {
    /// A copy.
    Whole(Vec<Message>),
    /// What it cost, and the hash of each message.
    Hashed(Totals, Vec<u64>),
}

impl Original {
    /// What is kept without a copy.
    pub(super) fn hashed(messages: &[Message], totals: Totals) -> Self {
        let mut room = Vec::new();
        Self::Hashed(totals, messages.iter().map(|it| hash(it, &mut room)).collect())
    }

    pub(super) fn totals(&self, counter: &dyn TokenCounter, tools: &[ToolSpec]) -> Totals {
        match self {
            Self::Whole(messages) => totals(messages, counter, tools),
            Self::Hashed(totals, _) => *totals,
        }
    }

    /// The first message that is another one now.
    pub(super) fn first_changed(&self, now: &[Message]) -> Option<usize> {
        let (before, same) = match self {
            Self::Whole(it) => (it.len(), it.iter().zip(now).take_while(|(a, b)| a == b).count()),
            Self::Hashed(_, hashes) => {
                let mut room = Vec::new();
                let mut pairs = hashes.iter().zip(now);
                let changed = pairs.position(|(was, now)| *was != hash(now, &mut room));
                (hashes.len(), changed.unwrap_or(hashes.len().min(now.len())))
            }
        };
        (same < before || same < now.len()).then_some(same)
    }

    /// The plan that makes these messages of it; none where no copy was kept.
    pub(super) fn plan(&self, now: &[Message]) -> Option<Plan> {
        match self {
            Self::Whole(messages) => Some(Plan::between(messages, now)),
            Self::Hashed(..) => None,
        }
    }
}

/// The hash of a message's JSON, which tells any two messages apart.
fn hash(message: &Message, room: &mut Vec<u8>) -> u64 {
    room.clear();
    native::write_message(message, room);
    let mut hasher = DefaultHasher::new();
    hasher.write(room);
    hasher.finish()
}

/// What messages cost.
pub(super) fn totals(
    messages: &[Message],
    counter: &dyn TokenCounter,
    tools: &[ToolSpec],
) -> Totals {
    let base = if messages.is_empty() && tools.is_empty() { 0 } else { counter.request(tools) };
    Totals {
        messages: messages.len(),
        bytes: messages.iter().map(|it| it.size() as u64).sum(),
        tokens: base + messages.iter().map(|it| counter.message(it)).sum::<u64>(),
    }
}
