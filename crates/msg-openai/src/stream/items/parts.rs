//! An output item at its end: the parts of the message that it is.

use msg_codec::stream::{BySlot, Channel, Parts};
use msg_core::{Part, Place, RawJson, Reasoning};

use super::pieces::{Content, Pieces, other};
use super::{Item, ItemKind, ORIGIN, Thought};

impl Item {
    /// The parts that the item is; its own members go to the first of them.
    pub(crate) fn into_parts(self, calls: &mut BySlot, parts: &mut Parts) {
        let from = parts.list.len();
        // An item of reasoning is that even without a word: its id is what the API asks back.
        let is_reasoning = matches!(self.kind, ItemKind::Reasoning(_));
        if self.is_empty() && (self.whole.is_empty() || !is_reasoning) {
            parts.list.extend(other(&self.whole, Place::Item));
            return;
        }
        match self.kind {
            ItemKind::Pending | ItemKind::Other => {}
            ItemKind::Message(contents) => {
                parts.list.extend(contents.sorted().filter_map(Content::into_part));
            }
            ItemKind::Call(slot) => {
                calls.take(slot).into_iter().for_each(|it| parts.push_call(it));
            }
            ItemKind::Reasoning(thought) => parts.list.push(thought.into_part()),
        }
        let rest = if self.rest.is_empty() && !self.id.is_empty() {
            format!("{{\"id\":{}}}", self.id)
        } else {
            self.rest
        };
        if let (Some(first), Ok(rest)) = (parts.list.get_mut(from), RawJson::new(rest)) {
            first.extra_mut().insert(ORIGIN, "item", rest);
        }
    }
}

impl Thought {
    fn into_part(self) -> Part {
        let (summary, text) = (filled(self.summary), filled(self.text));
        Part::Reasoning(Reasoning {
            text: (!text.is_empty()).then(|| text.join("\n\n")),
            summary: (!summary.is_empty()).then_some(summary),
            encrypted: self.encrypted,
            ..Reasoning::default()
        })
    }
}

fn filled(pieces: Pieces<Channel>) -> Vec<String> {
    pieces.sorted().filter(|it| !it.is_empty()).map(Channel::into_text).collect()
}
